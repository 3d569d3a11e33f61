import { unjudged, type Judge } from '../../src/deploy/smoke/judge.ts';
import { type RequestOf, startWorker, type WorkerOptions } from './worker.ts';

/** Judges in a separate process, because time and memory grow with the responses and the expectations. */
export function createProcessJudge(options: WorkerOptions): Judge & { close(): Promise<void> } {
  const worker = startWorker<RequestOf<Judge>>(options);
  const request = async <T>(work: RequestOf<Judge>, fallback: T): Promise<T> => {
    const result = await worker.request(work);
    return result.kind === 'done' ? JSON.parse(result.json) : fallback;
  };
  return {
    nextAttempt: (tried) => request({ name: 'nextAttempt', argument: tried }, { kind: 'unjudged' }),
    conclude: (tried) => request({ name: 'conclude', argument: tried }, { verdict: unjudged, compared: [] }),
    compareStates: (sides) => request({ name: 'compareStates', argument: sides }, undefined),
    close: worker.close,
  };
}
