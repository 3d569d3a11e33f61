import type { CallOptions } from '../contract/call-options.ts';
import { attempt, type Attempted } from './attempt.ts';
import { lingering } from './bounded.ts';
import type { DeployRun } from './deploy-run.ts';

/** How long a write may take (ms), and how long it may go on after cancellation. */
const writeMs = 60_000;
const graceMs = 1_000;

/** How long to poll for the effect of a write without a response, or for a revision missing in the response (ms). */
export const settleMs = 60_000;
export const lagMs = 15_000;

/**
 * Sends one write request, once. Until its response arrives, `writing` marks its effect as unknown. Cancellation lets
 * it go on for a moment, because an interrupted write may have taken effect.
 */
export async function write<T>(run: DeployRun, send: (options: CallOptions) => Promise<T>): Promise<Attempted<T>> {
  const { clock, signal } = run.request;
  signal?.throwIfAborted();
  run.known.writing = true;
  const deadline = clock.now() + writeMs;
  const answered = await lingering(clock, graceMs, signal, (late) => attempt(send({ deadline, signal: late })));
  run.known.writing = !answered.ok && answered.error.effect === 'unknown';
  return answered;
}
