import { reconcileDeployment } from '../../../app/reconcile/reconcile-deployment.ts';
import { sweepPreviews } from '../../../app/previews/sweep.ts';
import { workOnReport } from '../../../app/reporting/report-job.ts';
import { recover } from '../../../app/recovery/recover.ts';
import { deliver } from './deliver.ts';
import type { Code } from './simulation.ts';
import { repository } from './terms.ts';
import { memoryStore } from './memory-simulation.ts';

/** The App's own code on a store in memory. */
export const appCode: Code = {
  makeStore: memoryStore,
  deploymentQueue: reconcileDeployment,
  report: workOnReport,
  previewContext: (context) => context,
  sweep: sweepPreviews,
  deliver,
  recover: (context) =>
    recover(
      context,
      {
        deliveries: { page: async () => ({ deliveries: [] }), requestRedelivery: async () => undefined },
        inbox: { neverReceived: async () => [], prune: async () => 0 },
        repositories: { repositories: () => each(repository) },
        enqueueReports: async () => undefined,
      },
      undefined,
    ),
};

async function* each<T>(...values: T[]): AsyncIterable<T> {
  yield* values;
}
