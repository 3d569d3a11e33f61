import { jobIdOf } from '../../src/kit/postgres/queue-jobs.ts';
import type { Queue } from '../../src/kit/postgres/queue.ts';
import type { Installed } from './installed.ts';
import type { PreviewContext } from './preview-context.ts';
import { sweepPreviews } from './sweep.ts';

const sweepJob = 'preview-sweep';

/** The interval between two sweeps (ms). */
const sweepMs = 5 * 60_000;

/**
 * Sweeps at the start and every 5 minutes. If several processes share the database, one of them does each sweep: all
 * send the same job, and the queue ignores a job whose id it knows.
 */
export async function startSweeping(
  queue: Pick<Queue, 'define' | 'send' | 'work'>,
  context: PreviewContext,
  installed: Installed,
): Promise<void> {
  const { clock, log } = context;
  const send = async (slot: number): Promise<void> => {
    const startAfter = Math.max(0, slot * sweepMs - clock.now()) / 1_000;
    await queue.send(sweepJob, { slot }, { id: jobIdOf(`${sweepJob} ${slot}`), startAfter });
  };
  await queue.define(sweepJob, { retryLimit: 10, retryDelay: 30, retryDelayMax: 300 });
  await queue.work<{ slot: number }>(sweepJob, { pollSeconds: 2 }, async ({ data: { slot } }) => {
    try {
      log.info({ ...(await sweepPreviews(context, installed)) }, 'Previews were swept');
    } finally {
      await send(Math.max(Math.floor(clock.now() / sweepMs), slot) + 1);
    }
  });
  await send(Math.floor(clock.now() / sweepMs));
}
