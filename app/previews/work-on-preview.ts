import type { Queue } from '../../src/kit/postgres/queue.ts';
import { lookAtPull } from './look-at-pull.ts';
import type { PreviewKey, PullKey } from './preview.ts';
import { pause } from '../../src/kit/clock.ts';
import { ServiceError } from '../../src/contract/service-error.ts';
import { deployPreview } from './deploy-preview.ts';
import { previewJobs, pullJob, RunSuperseded, type PreviewRun } from './preview-store.ts';
import { removePreview } from './remove-preview.ts';
import { retryAfterMs, type PreviewContext } from './preview-context.ts';

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

/** How often a run looks whether a newer version is wanted, and how soon a job comes again that found one (ms). */
const watchMs = 2_000;
const busyMs = 3_000;

/**
 * Carries out what is wanted of a preview. One process at a time works on it; a newer version ends the run in progress.
 * It may be killed at any moment and run again.
 */
export async function workOnPreview(key: PreviewKey, context: PreviewContext, jobSignal: AbortSignal): Promise<void> {
  const { locks, previews, clock } = context;
  const name = `preview ${key.repositoryId}/${key.number}/${key.entry}`;
  const worked = await locks.exclusively(name, () => workOnce(key, context, jobSignal));
  if (!worked) await previews.again(key, clock.now() + busyMs);
}

async function workOnce(key: PreviewKey, context: PreviewContext, jobSignal: AbortSignal): Promise<void> {
  const { previews, clock, leaving, log } = context;
  const started = await previews.startRun(key);
  if (!started) return;
  const { preview, run } = started;
  const superseded = new AbortController();
  const ended = new AbortController();
  const signal = AbortSignal.any([superseded.signal, leaving, jobSignal]);
  void watch(run, context, ended.signal, () => superseded.abort(new RunSuperseded(key)));
  try {
    const running = { ...context, run, signal };
    await (preview.wanted.kind === 'deploy' ? deployPreview(preview, running) : removePreview(preview, running));
  } catch (error) {
    // The newer version has a job of its own.
    if (error instanceof RunSuperseded || superseded.signal.aborted) return;
    if (leaving.aborted || jobSignal.aborted) return await previews.again(key, clock.now());
    if (!(error instanceof ServiceError)) throw error;
    const failures = (preview.known.failures ?? 0) + 1;
    log.warn({ pull: key.number, entry: key.entry }, `A preview waits for the service: ${error.message}`);
    await previews.save(run, { known: { failures } }).catch(unlessSuperseded);
    await previews.again(key, clock.now() + retryAfterMs(failures));
  } finally {
    ended.abort();
  }
}

/** A newer version has a job of its own, and one more of it finds nothing left to do. */
function unlessSuperseded(error: unknown): void {
  if (!(error instanceof RunSuperseded)) throw error;
}

/** Calls `superseded` once a newer version is wanted. */
async function watch(
  run: PreviewRun,
  { previews, clock, log }: PreviewContext,
  signal: AbortSignal,
  superseded: () => void,
): Promise<void> {
  while (!signal.aborted) {
    await pause(clock, watchMs, signal);
    if (signal.aborted) return;
    try {
      const now = await previews.preview(run);
      if (!now || now.version !== run.version) return superseded();
    } catch (error) {
      log.warn(`A preview was not read again: ${error instanceof Error ? error.message : 'unknown'}`);
    }
  }
}
