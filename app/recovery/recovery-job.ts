import { stackOf } from '../../src/kit/errors.ts';
import type { Queue } from '../../src/kit/postgres/queue.ts';
import { type Clock, pause } from '../../src/kit/clock.ts';
import type { AppContext } from '../context.ts';
import { jobIdOf } from '../../src/kit/postgres/queue-jobs.ts';
import { recover, type RecoveryClients } from './recover.ts';
import { StorageError, toStorageError } from '../inbox/store-deliveries.ts';

/** The job that looks for what was missed. */
export const recoveryJob = 'recovery';

export interface RecoveryJob {
  /** When the last run began that left no delivery over (ms since the epoch). */
  since?: number;
  /** The number of its slot, counted in `everyMs` since the epoch; absent in the run of a start. */
  slot?: number;
}

/** How long from one run to the next (ms). */
export const everyMs = 10 * 60_000;
/**
 * Copies that start within this time (ms), or see the end of an outage, share a run, which starts after it: so no run
 * that started earlier counts for a later start.
 */
export const startMs = 5_000;

/**
 * Looks for what was missed now, and every 10 minutes, for as long as the queue works. Of any number of copies on one
 * database one does each run: all of them send the same job, and a job whose id is known is not sent again.
 *
 * @returns to be called whenever the database was found to be unavailable: a run follows as soon as it is there again.
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
    let reached = since;
    try {
      reached = (await recover(context, clients, since, ended)).since ?? since;
    } finally {
      await sendNext(queue, clock.now(), reached, slot);
    }
  });
  await sendSoon(queue, clock.now(), 'start', {});
  return afterOutage((since) => sendSoon(queue, clock.now(), 'outage', { since }), context, signal);
}

/** Has a run begin within seconds: an installation is back. */
export const recoverSoon = (queue: Pick<Queue, 'send'>, clock: Pick<Clock, 'now'>): Promise<void> =>
  sendSoon(queue, clock.now(), 'resumed', {});

/** Sends a run that begins when the slot of now is over. */
async function sendSoon(
  queue: Pick<Queue, 'send'>,
  now: number,
  kind: 'start' | 'outage' | 'resumed',
  job: RecoveryJob,
): Promise<void> {
  const slot = Math.floor(now / startMs);
  const startAfter = Math.ceil(((slot + 1) * startMs - now) / 1000);
  await queue.send(recoveryJob, job, { id: slotId(kind, slot), startAfter });
}

/**
 * Sends the run of the next slot, never the one that is `done`: a process whose clock is behind the queue's would send
 * that slot again, and no run would follow. The delay is relative for the same reason.
 */
async function sendNext(
  queue: Pick<Queue, 'send'>,
  now: number,
  since: number | undefined,
  done = -Infinity,
): Promise<void> {
  const slot = Math.max(Math.floor(now / everyMs), done) + 1;
  const job: RecoveryJob = since === undefined ? { slot } : { slot, since };
  const startAfter = Math.max(0, slot * everyMs - now) / 1_000;
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
