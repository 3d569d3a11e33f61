import type { Logger } from '../../src/kit/logger.ts';
import type { Probot } from 'probot';
import { messageOf } from '../../src/kit/errors.ts';
import type { Clock } from '../../src/kit/clock.ts';
import type { Job, Queue } from '../../src/kit/postgres/queue.ts';
import { InstallationPaused, RepositoryLost } from '../github/github-api.ts';
import type { Deliveries, DeliveryDecision } from './deliveries.ts';
import { deliveryJob, type DeliveryJob, jobOf, strangersJob } from './delivery.ts';
import { createPlaces } from './places.ts';

type WebhookEvent = Parameters<Probot['receive']>[0];

/** Where files come from. Strangers write those of pull requests: how long these take is no reason to hold up a push. */
export type FileSource = 'pushes' | 'pullRequests';

export interface DeliveryWorkerOptions {
  queue: Pick<Queue, 'work' | 'send' | 'define'>;
  deliveries: Pick<Deliveries, 'get' | 'markHandled' | 'markFailed'>;
  notes: Pick<ReturnType<typeof decisionNotes>, 'take'>;
  /** `probot.receive`. */
  receive: (event: WebhookEvent) => Promise<void>;
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

/** Passes one delivery to its handlers, and stores their decisions. It may repeat after a crash. */
export async function handleDelivery(
  { data: { id } }: Pick<Job<DeliveryJob>, 'data'>,
  { queue, deliveries, notes, receive, log, clock, count }: DeliveryWorkerOptions,
): Promise<void> {
  const delivery = await deliveries.get(id);
  if (delivery === undefined) {
    log.warn({ delivery: id }, 'A delivery is no longer kept; its job ends');
    return;
  }
  if (delivery.handledAt !== undefined) return;
  const { event, action, payload } = delivery;
  const about = { delivery: id, event, action };
  try {
    await receive(eventOf(id, event, payload));
  } catch (error) {
    notes.take(id);
    const paused = pauseIn(error);
    if (paused !== undefined) {
      log.warn(about, `A delivery waits: ${paused.message}`);
      count?.(event, 'postponed');
      // From now on, and not at a time: the clock that hands out jobs may be another than ours.
      const startAfter = Math.max(0, paused.until - clock.now()) / 1_000;
      const { name, data, ...job } = jobOf(delivery);
      await queue.send(name, data, { ...job, startAfter });
      return;
    }
    const why = reasonOf(error);
    if (errorsIn(error).every((each) => each instanceof RepositoryLost)) {
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
  // Handlers log what they decide.
  await deliveries.markHandled(id, notes.take(id));
  count?.(event, 'handled');
}

/** The payload has GitHub's signature, so its shape is that of this event. */
function eventOf(id: string, name: string, payload: string): WebhookEvent {
  const event: WebhookEvent = JSON.parse(
    `{"id":${JSON.stringify(id)},"name":${JSON.stringify(name)},"payload":${payload}}`,
  );
  return event;
}

/** Handlers run concurrently: their failures arrive as one AggregateError. */
const errorsIn = (error: unknown): unknown[] =>
  error instanceof AggregateError ? error.errors.flatMap(errorsIn) : [error];

const pauseIn = (error: unknown): InstallationPaused | undefined => {
  const errors = errorsIn(error);
  const pauses = errors.filter((each) => each instanceof InstallationPaused);
  return pauses.length === errors.length ? pauses.sort((one, other) => other.until - one.until)[0] : undefined;
};

const reasonOf = (error: unknown): string => errorsIn(error).map(messageOf).join('; ');

/** What handlers decide, on its way from them to the delivery's row. */
export function decisionNotes() {
  const notes = new Map<string, DeliveryDecision>();
  return {
    /** The last decision about a delivery counts. */
    note: (deliveryId: string, decision: DeliveryDecision): void => void notes.set(deliveryId, decision),
    /** Takes the note away. */
    take: (deliveryId: string): DeliveryDecision | undefined => {
      const noted = notes.get(deliveryId);
      notes.delete(deliveryId);
      return noted;
    },
  };
}
