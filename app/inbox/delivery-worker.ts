import type { Logger } from '../../src/kit/logger.ts';
import { messageOf } from '../../src/kit/errors.ts';
import { fromJson } from '../../src/kit/json-text.ts';
import type { Clock } from '../../src/kit/clock.ts';
import type { Job, Queue } from '../../src/kit/postgres/queue.ts';
import { InstallationPaused, RepositoryLost } from '../github/github-api.ts';
import type { Deliveries, DeliveryDecision } from './deliveries.ts';
import { deliveryJob, type DeliveryJob, jobOf, strangersJob } from './delivery.ts';

/** Where files come from. Strangers write those of pull requests, so slow ones must not delay pushes. */
export type FileSource = 'pushes' | 'pullRequests';

export interface DeliveryWorkerOptions {
  queue: Pick<Queue, 'work' | 'send' | 'define'>;
  deliveries: Pick<Deliveries, 'get' | 'markHandled' | 'markFailed'>;
  /** Carries out what the event requires. Its result is stored with the delivery. */
  handle: (event: { id: string; name: string; payload: unknown }) => Promise<DeliveryDecision>;
  log: Logger;
  clock: Pick<Clock, 'now'>;
  /** Whether reading these files of an installation has taken long in the last hour. */
  hasSlowFiles?: (installationId: number, which: FileSource) => boolean;
  /** Called with the result of each attempt. */
  count?: (event: string, result: 'handled' | 'failed' | 'postponed') => void;
}

/** Jobs with their concurrency in this process. `slowConcurrency` is that of an installation whose files are slow. */
const deliveryJobs = [
  { name: deliveryJob, files: 'pushes', concurrency: 8, slowConcurrency: 2 },
  { name: strangersJob, files: 'pullRequests', concurrency: 4, slowConcurrency: 1 },
] as const;

/** How long a delivery waits for a slot of its installation (s). */
const retryDelaySeconds = 1;

/** Starts the workers that handle deliveries until the queue stops. */
export async function startDeliveryWorker(options: DeliveryWorkerOptions): Promise<void> {
  const { queue, hasSlowFiles = () => false } = options;
  for (const { name, files, concurrency, slowConcurrency } of deliveryJobs) {
    // Operators can see failed jobs for a month.
    await queue.define(name, { deleteAfterSeconds: 30 * 24 * 60 * 60, expireInSeconds: 10 * 60 });
    const slots = createSlots((installationId) =>
      hasSlowFiles(installationId, files) ? slowConcurrency : concurrency,
    );
    await queue.work<DeliveryJob>(name, { concurrency, oneOfGroup: true }, async (job) => {
      const { data } = job;
      const isDone = await slots.run(data.installationId, () => handleDelivery(job, options));
      const { group } = data;
      if (!isDone)
        await queue.send(name, data, { startAfter: retryDelaySeconds, ...(group === undefined ? {} : { group }) });
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
  const fields = { delivery: id, event, action };
  let decision: DeliveryDecision;
  try {
    decision = await handle({ id, name: event, payload: fromJson(payload) });
  } catch (error) {
    if (error instanceof InstallationPaused) {
      log.warn(fields, `A delivery waits: ${error.message}`);
      count?.(event, 'postponed');
      // A relative delay, because the database's clock may differ from ours.
      const startAfter = Math.max(0, error.until - clock.now()) / 1_000;
      const { name, data, ...job } = jobOf(delivery);
      await queue.send(name, data, { ...job, startAfter });
      return;
    }
    const why = messageOf(error);
    if (error instanceof RepositoryLost) {
      log.warn(fields, `A delivery ends: ${why}`);
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
 * Limits how much work of each installation runs at the same time.
 *
 * @param limitOf returns how many slots an installation has now; work without an installation always runs.
 */
export function createSlots(limitOf: (installationId: number) => number) {
  const used = new Map<number, number>();
  return {
    /** Runs work in a slot of the installation. @returns false, without running it, if no slot is free. */
    async run(installationId: number | undefined, work: () => Promise<void>): Promise<boolean> {
      if (installationId === undefined) {
        await work();
        return true;
      }
      const usedSlots = used.get(installationId) ?? 0;
      if (usedSlots >= limitOf(installationId)) return false;
      used.set(installationId, usedSlots + 1);
      try {
        await work();
        return true;
      } finally {
        const remaining = (used.get(installationId) ?? 1) - 1;
        if (remaining > 0) used.set(installationId, remaining);
        else used.delete(installationId);
      }
    },
  };
}
