import type { Logger } from '../../src/kit/logger.ts';
import { messageOf } from '../../src/kit/errors.ts';
import { fromJson } from '../../src/kit/json-text.ts';
import type { Clock } from '../../src/kit/clock.ts';
import type { Job, Queue } from '../../src/kit/postgres/queue.ts';
import { InstallationPaused, RepositoryLost } from '../github/github-api.ts';
import type { Deliveries, DeliveryDecision } from './deliveries.ts';
import { deliveryJob, type DeliveryJob, jobOf, strangersJob } from './delivery.ts';

/** Where files come from. Strangers write those of pull requests: how long these take is no reason to hold up a push. */
export type FileSource = 'pushes' | 'pullRequests';

export interface DeliveryWorkerOptions {
  queue: Pick<Queue, 'work' | 'send' | 'define'>;
  deliveries: Pick<Deliveries, 'get' | 'markHandled' | 'markFailed'>;
  /** Does what the event requires; what it returns is stored with the delivery. */
  handle: (event: { id: string; name: string; payload: unknown }) => Promise<DeliveryDecision>;
  log: Logger;
  clock: Pick<Clock, 'now'>;
  /** Whether reading these files of an installation has taken long within this hour. */
  hasSlowFiles?: (installationId: number, which: FileSource) => boolean;
  /** Called with the result of each attempt. */
  count?: (event: string, result: 'handled' | 'failed' | 'postponed') => void;
}

/** Deliveries at the same time in this process, by their jobs; the last figure: of an installation whose files are slow. */
const lanes = [
  { name: deliveryJob, files: 'pushes', concurrency: 8, ofSlow: 2 },
  { name: strangersJob, files: 'pullRequests', concurrency: 4, ofSlow: 1 },
] as const;

/** How long a delivery waits for a place of its installation (s). */
const againSeconds = 1;

/** Works on the job of each delivery until the queue stops. */
export async function startDeliveryWorker(options: DeliveryWorkerOptions): Promise<void> {
  const { queue, hasSlowFiles = () => false } = options;
  for (const { name, files, concurrency, ofSlow } of lanes) {
    // What never succeeds stays to be seen for a month.
    await queue.define(name, { deleteAfterSeconds: 30 * 24 * 60 * 60, expireInSeconds: 10 * 60 });
    const places = createPlaces((installationId) => (hasSlowFiles(installationId, files) ? ofSlow : concurrency));
    await queue.work<DeliveryJob>(name, { concurrency, oneOfGroup: true }, async (job) => {
      const { data } = job;
      const done = await places.within(data.installationId, () => handleDelivery(job, options));
      const { group } = data;
      if (!done) await queue.send(name, data, { startAfter: againSeconds, ...(group === undefined ? {} : { group }) });
    });
  }
}

/** Handles one delivery, and stores what was decided. It may repeat after a crash. */
export async function handleDelivery(
  { data: { id } }: Pick<Job<DeliveryJob>, 'data'>,
  { queue, deliveries, handle, log, clock, count }: DeliveryWorkerOptions,
): Promise<void> {
  const delivery = await deliveries.get(id);
  if (delivery === undefined) {
    log.warn({ delivery: id }, 'A delivery is no longer kept; its job ends');
    return;
  }
  if (delivery.handledAt !== undefined) return;
  const { event, action, payload } = delivery;
  const about = { delivery: id, event, action };
  let decision: DeliveryDecision;
  try {
    decision = await handle({ id, name: event, payload: fromJson(payload) });
  } catch (error) {
    if (error instanceof InstallationPaused) {
      log.warn(about, `A delivery waits: ${error.message}`);
      count?.(event, 'postponed');
      // From now on, and not at a time: the clock that hands out jobs may be another than ours.
      const startAfter = Math.max(0, error.until - clock.now()) / 1_000;
      const { name, data, ...job } = jobOf(delivery);
      await queue.send(name, data, { ...job, startAfter });
      return;
    }
    const why = messageOf(error);
    if (error instanceof RepositoryLost) {
      log.warn(about, `A delivery ends: ${why}`);
      // If the repository comes back, recovery compares its heads.
      await deliveries.markHandled(id, { kind: 'ignore', why });
      count?.(event, 'handled');
      return;
    }
    count?.(event, 'failed');
    await deliveries.markFailed(id, why);
    throw new Error(`${event} ${id}: ${why}`, { cause: error });
  }
  await deliveries.markHandled(id, decision);
  count?.(event, 'handled');
}

/**
 * Counts the work of each installation, and admits no more of it than there are places for it.
 *
 * @param most how many places an installation has now; work without one is always admitted.
 */
export function createPlaces(most: (installationId: number) => number) {
  const taken = new Map<number, number>();
  return {
    /** Works in a place of the installation. @returns false, without working, where all of its places are taken. */
    async within(installationId: number | undefined, work: () => Promise<void>): Promise<boolean> {
      if (installationId === undefined) {
        await work();
        return true;
      }
      const before = taken.get(installationId) ?? 0;
      if (before >= most(installationId)) return false;
      taken.set(installationId, before + 1);
      try {
        await work();
        return true;
      } finally {
        const left = (taken.get(installationId) ?? 1) - 1;
        if (left > 0) taken.set(installationId, left);
        else taken.delete(installationId);
      }
    },
  };
}
