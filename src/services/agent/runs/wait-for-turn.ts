import { unlessAborted } from '../../../kit/clock.ts';
import type { RunStart, RunDependencies } from './dependencies.ts';
import { RunStopped } from './run-error.ts';
import type { RunPlan } from './run-plan.ts';
import { retryWhileDatabaseDown } from '../storage/retry-policy.ts';

/** The polling interval (ms) for a run's turn while another process has the thread. */
const turnPollMs = 200;

/** Waits until a run is due and its thread free, and takes a slot. @throws RunStopped `taken`, the signal's reason. */
export async function waitForTurn(
  { runId, delayMs }: RunPlan,
  { started, after, enqueue }: RunStart,
  { clock, slots, store, queue }: RunDependencies,
  signal: AbortSignal,
): Promise<void> {
  if (started) return;
  let before = after;
  if (delayMs > 0) {
    await clock.sleep(delayMs, signal);
    const place = await retryWhileDatabaseDown(() => queue.comeDue(runId), clock, signal);
    if (place === undefined) throw new RunStopped('taken');
    before = enqueue(place);
  }
  if (before) await unlessAborted(Promise.allSettled([before]), signal);
  for (;;) {
    await slots.take(signal);
    const mine = await retryWhileDatabaseDown(mayStart, clock, signal).catch((error: unknown) => {
      slots.release();
      throw error;
    });
    if (mine) return;
    slots.release();
    await clock.sleep(turnPollMs, signal);
  }

  async function mayStart(): Promise<boolean> {
    if (await store.claim(runId)) return true;
    const [run] = await queue.progressOf([runId]);
    if (run?.process_id !== queue.processId) throw new RunStopped('taken');
    // Only this process can have started it: the database's response was lost.
    return run.status === 'running';
  }
}
