import { unjudged, type Judge } from '../../src/deploy/smoke/judge.ts';
import { type RequestOf, startWorker, type WorkerOptions } from './worker.ts';

/** Judges in a process of its own: its time and memory grow with the responses and the expectations. */
export function processJudge(options: WorkerOptions): Judge & { close(): Promise<void> } {
  const worker = startWorker<RequestOf<Judge>>(options);
  const ask = async <T>(work: RequestOf<Judge>, otherwise: T): Promise<T> => {
    const result = await worker.request(work);
    return result.kind === 'done' ? JSON.parse(result.json) : otherwise;
  };
  return {
    nextAttempt: (tried) => ask({ name: 'nextAttempt', argument: tried }, { kind: 'unjudged' }),
    conclude: (tried) => ask({ name: 'conclude', argument: tried }, { verdict: unjudged, compared: [] }),
    compareStates: (sides) => ask({ name: 'compareStates', argument: sides }, undefined),
    close: worker.close,
  };
}
