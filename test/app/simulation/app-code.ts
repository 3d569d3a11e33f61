import { advanceLane } from '../../../app/work/lane.ts';
import { workOnReport } from '../../../app/tell/report-job.ts';
import { recover } from '../../../app/recovery/recover.ts';
import { deliver } from './deliver.ts';
import type { Code } from './house.ts';
import { repository } from './terms.ts';
import { memoryStore } from './memory-house.ts';

/** The App's own code on a store in memory. */
export const appCode: Code = {
  makeStore: memoryStore,
  lane: advanceLane,
  report: workOnReport,
  deliver,
  recover: (world) =>
    recover(
      world,
      {
        deliveries: { page: async () => ({ deliveries: [] }), askAgain: async () => undefined },
        inbox: { notHeld: async () => [], forget: async () => 0 },
        repositories: { repositories: () => each(repository) },
        tellReports: async () => undefined,
      },
      undefined,
    ),
};

async function* each<T>(...values: T[]): AsyncIterable<T> {
  yield* values;
}
