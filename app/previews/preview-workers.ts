import type { Queue } from '../../src/kit/postgres/queue.ts';
import { lookAtPull } from './look-at-pull.ts';
import type { PullKey, PreviewKey } from './preview.ts';
import type { PreviewContext } from './preview-context.ts';
import { previewJobs, pullJob } from './preview-store.ts';
import { workOnPreview } from './work-on-preview.ts';

/** Pull requests that are looked at, and previews that are deployed or removed, at the same time in this process. */
const concurrency = { pulls: 2, deploys: 2, removals: 2 };

/** Everything that holds a lock at the same time. */
export const previewsAtOnce = concurrency.pulls + concurrency.deploys + concurrency.removals;

/** Starts the work on previews until the queue stops. A removal never waits for a deploy's place. */
export async function startPreviewWorkers(
  queue: Pick<Queue, 'define' | 'work'>,
  context: PreviewContext,
): Promise<void> {
  const policy = { heartbeatSeconds: 20, expireInSeconds: 4 * 60 * 60 };
  for (const name of [pullJob, ...Object.values(previewJobs)]) await queue.define(name, policy);
  await queue.work<PullKey>(pullJob, { concurrency: concurrency.pulls, pollSeconds: 1 }, ({ data }) =>
    lookAtPull(data, context),
  );
  for (const [name, places] of [
    [previewJobs.deploy, concurrency.deploys],
    [previewJobs.gone, concurrency.removals],
  ] as const) {
    await queue.work<PreviewKey>(name, { concurrency: places, pollSeconds: 1 }, ({ data, signal }) =>
      workOnPreview(data, context, signal),
    );
  }
}
