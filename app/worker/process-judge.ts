import { unjudged, type Judge } from '../../src/deploy/smoke/judge.ts';
import { type RequestOf, startWorker, type WorkerOptions } from './worker.ts';

/** Judges in a process of its own: its time and memory grow with the responses and the expectations. */
export function processJudge(options: WorkerOptions): Judge & { close(): Promise<void> } {
  const worker = startWorker<RequestOf<Judge>>(options);
  const request = async (work: RequestOf<Judge>): Promise<string | undefined> => {
    const result = await worker.request(work);
    return result.kind === 'done' ? result.json : undefined;
  };
  return {
    async nextAttempt(tried) {
      const json = await request({ name: 'nextAttempt', argument: tried });
      return json === undefined ? { kind: 'unjudged' } : JSON.parse(json);
    },
    async conclude(tried) {
      const json = await request({ name: 'conclude', argument: tried });
      return json === undefined ? { verdict: unjudged, compared: [] } : JSON.parse(json);
    },
    async measure(tried) {
      const json = await request({ name: 'measure', argument: tried });
      return json === undefined ? { kind: 'unjudged' } : JSON.parse(json);
    },
    async compareStates(sides) {
      const json = await request({ name: 'compareStates', argument: sides });
      return json === undefined ? undefined : JSON.parse(json);
    },
    close: worker.close,
  };
}
