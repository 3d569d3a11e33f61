import { stackOf } from '../../src/kit/errors.ts';
import type { Queue } from '../../src/kit/postgres/queue.ts';
import { type Clock, pause } from '../../src/kit/clock.ts';
import type { AppContext } from '../context.ts';
import { jobIdOf } from '../../src/kit/postgres/queue-jobs.ts';
import { recover, type RecoveryClients } from './recover.ts';
import { StorageError, toStorageError } from '../inbox/store-deliveries.ts';

/** The job that recovers missed events. */
export const recoveryJob = 'recovery';

export interface RecoveryJob {
  /** The start of the last run that left no delivery over (ms since the epoch). */
  since?: number;
  /** The number of its time slot, in units of `intervalMs` since the epoch; absent in the run after a start. */
  slot?: number;
}

/** The interval between two runs (ms). */
export const intervalMs = 10 * 60_000;
/**
 * Processes that start, or see the end of an outage, within the same slot of this length (ms) share a run, which begins
 * after the slot.
 */
export const startSlotMs = 5_000;

/**
 * Recovers missed events now and every 10 minutes. If several processes share the database, one of them does each run:
 * all send the same job, and the queue ignores a job whose id it knows.
 *
 * @returns a function to call when the database is unavailable: a run follows as soon as it is available again.
 */
export async function startRecovery(
  queue: Pick<Queue, 'define' | 'send' | 'work'>,
  context: AppContext,
  clients: RecoveryClients,
  signal: AbortSignal,
): Promise<() => void> {
  const { clock } = context;
  await queue.define(recoveryJob, { retryLimit: 10, retryDelay: 30, retryDelayMax: 600 });
  await queue.work<RecoveryJob>(recoveryJob, { pollSeconds: 2 }, async ({ data: { since, slot }, signal: ended }) => {
    let recoveredUntil = since;
    try {
      recoveredUntil = (await recover(context, clients, since, ended)).since ?? since;
    } finally {
      await sendNext(queue, clock.now(), recoveredUntil, slot);
    }
  });
  await sendSoon(queue, clock.now(), 'start', {});
  return afterOutage((since) => sendSoon(queue, clock.now(), 'outage', { since }), context, signal);
}

/** Starts a run within seconds, because an installation was resumed. */
export const recoverSoon = (queue: Pick<Queue, 'send'>, clock: Pick<Clock, 'now'>): Promise<void> =>
  sendSoon(queue, clock.now(), 'resumed', {});

/** Sends a run that begins at the end of the current slot. */
async function sendSoon(
  queue: Pick<Queue, 'send'>,
  now: number,
  kind: 'start' | 'outage' | 'resumed',
  job: RecoveryJob,
): Promise<void> {
  const slot = Math.floor(now / startSlotMs);
  const startAfter = Math.ceil(((slot + 1) * startSlotMs - now) / 1000);
  await queue.send(recoveryJob, job, { id: slotId(kind, slot), startAfter });
}

/**
 * Sends the run of the slot after `done`, even if this process's clock is behind the queue's: it must not send the same
 * slot again, or no run would follow. The delay is relative for the same reason.
 */
async function sendNext(
  queue: Pick<Queue, 'send'>,
  now: number,
  since: number | undefined,
  done = -Infinity,
): Promise<void> {
  const slot = Math.max(Math.floor(now / intervalMs), done) + 1;
  const job: RecoveryJob = since === undefined ? { slot } : { slot, since };
  const startAfter = Math.max(0, slot * intervalMs - now) / 1_000;
  await queue.send(recoveryJob, job, { id: slotId('every', slot), startAfter });
}

/** The same id for the same slot in every process. */
const slotId = (kind: 'start' | 'every' | 'outage' | 'resumed', slot: number): string =>
  jobIdOf(`${recoveryJob} ${kind} ${slot}`);

/** How long after an attempt in vain the next one follows (ms). */
const againMs = 1_000;

/**
 * Returns what is to be called whenever the database was found to be unavailable. It tries `act`, with the time of the
 * first call (ms since the epoch), until it succeeds.
 */
function afterOutage(
  act: (since: number) => Promise<unknown>,
  { clock, log }: Pick<AppContext, 'clock' | 'log'>,
  signal: AbortSignal,
): () => void {
  let isAway = false;
  const tryUntilDone = async (since: number): Promise<void> => {
    while (!signal.aborted) {
      try {
        await act(since);
        return;
      } catch (error) {
        if (!(toStorageError(error) instanceof StorageError)) throw error;
        await pause(clock, againMs, signal);
      }
    }
  };
  return () => {
    if (isAway || signal.aborted) return;
    isAway = true;
    tryUntilDone(clock.now())
      .catch((error: unknown) => log.error(`The search for missed work failed and is retried later: ${stackOf(error)}`))
      .finally(() => {
        isAway = false;
      });
  };
}
