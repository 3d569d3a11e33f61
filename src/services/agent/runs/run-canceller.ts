import { stackOf } from '../../../kit/errors.ts';
import { steadyNow } from '../../../kit/clock.ts';
import type { CancelAction } from '../../../contract/agent/run.ts';
import type { RunDependencies } from './dependencies.ts';
import type { RunExecutor } from './run-executor.ts';
import type { RunPlan } from './run-plan.ts';
import type { CancelFilter } from './store.ts';

/** How long (ms) another process may take to end a run before its thread is deleted anyway. */
const foreignCancelMs = 5000;
const foreignPollMs = 200;

type CancellingDependencies = Pick<RunDependencies, 'store' | 'clock' | 'log'>;

/** Ends runs from outside: in this process at once, in another one when it polls. */
export function runCanceller(executor: RunExecutor, { store, clock, log }: CancellingDependencies) {
  async function one(runId: string, action: CancelAction): Promise<void> {
    if (!stopHere(runId, action)) await store.requestCancel({ runIds: [runId] }, action);
  }

  async function many(which: CancelFilter, action: CancelAction): Promise<void> {
    for (const runId of await store.requestCancel(which, action)) stopHere(runId, action);
  }

  /** Ends a run because a caller that joined it with `cancel_on_disconnect` disconnected. */
  function leave(runId: string): void {
    const execution = executor.find(runId);
    if (execution && !execution.isRemote) return execution.stop('caller-gone');
    store.requestCancel({ runIds: [runId] }, 'interrupt').catch((error: unknown) => {
      log.error({ runId }, `Run ${runId} could not be ended after its caller disconnected: ${stackOf(error)}`);
    });
  }

  /** Ends every unfinished run of a thread, and waits for them; for those of other processes only for a limited time. */
  async function ofThread(threadId: string): Promise<void> {
    const until = steadyNow(clock) + foreignCancelMs;
    for (;;) {
      const unfinished = await store.unfinished(threadId);
      for (const { run_id } of unfinished) await one(run_id, 'interrupt');
      const known = unfinished.flatMap(({ run_id }) => executor.find(run_id) ?? []);
      const own = known.filter(({ isRemote }) => !isRemote);
      await Promise.all(own.map(({ ended }) => ended));
      const foreign = own.length < unfinished.length;
      if (unfinished.length === 0 || (foreign && steadyNow(clock) >= until)) return;
      if (foreign) await clock.sleep(foreignPollMs);
    }
  }

  /** Ends the earlier runs on the thread, if the run's strategy says so. */
  async function cancelEarlierRuns({ threadId, runId, multitaskStrategy }: RunPlan): Promise<void> {
    if (multitaskStrategy !== 'interrupt' && multitaskStrategy !== 'rollback') return;
    for (const { run_id } of await store.unfinishedBefore(threadId, runId)) await one(run_id, multitaskStrategy);
  }

  /** Ends a run of this process; false if another process has it. */
  function stopHere(runId: string, action: CancelAction): boolean {
    const execution = executor.find(runId);
    if (!execution || execution.isRemote) return false;
    execution.stop(action === 'rollback' ? 'rolled-back' : 'cancelled');
    return true;
  }

  return { one, many, leave, ofThread, cancelEarlierRuns };
}
export type RunCanceller = ReturnType<typeof runCanceller>;
