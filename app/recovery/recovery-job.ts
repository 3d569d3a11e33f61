import { createHash } from 'node:crypto';
import type { Queue } from '../../src/database/queue.ts';
import type { World } from '../world.ts';
import { recover, type RecoveryDesks } from './recover.ts';

/** The job that looks for what was missed. */
export const recoveryJob = 'recovery';

/** What that job is given. */
export interface RecoveryJob {
  /** When the last run began that left no delivery over (ms since the epoch). */
  since?: number;
}

/** How long from one run to the next (ms). */
export const everyMs = 10 * 60_000;
/**
 * Copies that start within one such time (ms) share a run, which begins when it is over: so no start is taken for done
 * by a run that began before it.
 */
export const startMs = 5_000;

/**
 * Looks for what was missed now, and every 10 minutes, for as long as the queue works. Of any number of copies on one
 * database one does each run: all of them send the same job, and a job whose id is known is not sent again.
 */
export async function startRecovery(
  queue: Pick<Queue, 'define' | 'send' | 'work'>,
  world: World,
  desks: RecoveryDesks,
): Promise<void> {
  const { clock } = world;
  await queue.define(recoveryJob, { retryLimit: 10, retryDelay: 30, retryDelayMax: 600 });
  await queue.work<RecoveryJob>(recoveryJob, { pollSeconds: 2 }, async ({ data: { since }, signal }) => {
    let reached = since;
    try {
      reached = (await recover(world, desks, since, signal)).since ?? since;
    } finally {
      await sendNext(queue, clock.now(), reached);
    }
  });
  const now = clock.now();
  const slot = Math.floor(now / startMs);
  const startAfter = Math.ceil(((slot + 1) * startMs - now) / 1000);
  await queue.send(recoveryJob, {}, { id: slotId('start', slot), startAfter });
}

async function sendNext(queue: Pick<Queue, 'send'>, now: number, since: number | undefined): Promise<void> {
  const slot = Math.floor(now / everyMs) + 1;
  const job: RecoveryJob = since === undefined ? {} : { since };
  await queue.send(recoveryJob, job, { id: slotId('every', slot), startAfter: new Date(slot * everyMs) });
}

/** The same uuid for the same slot, whoever asks. */
function slotId(kind: 'start' | 'every', slot: number): string {
  const hex = createHash('sha256').update(`${recoveryJob} ${kind} ${slot}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
