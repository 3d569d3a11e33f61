import { stackOf } from '../../../kit/errors.ts';
import { DatabaseError } from 'pg';
import { isDatabaseUnavailable } from '../../../kit/postgres/unavailable.ts';
import type { RunDependencies } from './dependencies.ts';
import { RunStopped } from './run-error.ts';
import type { RunPlan } from './run-plan.ts';
import type { RunEnd } from './run-row.ts';

/** The retry interval (ms) for storing the end of a run while the database is unavailable. */
const retryMs = 500;

const failedWith = (error: string, message: string): RunEnd => ({
  status: 'error',
  error: { error, message },
  interrupts: '{}',
  values: undefined,
  unfinishedState: false,
});
const unstorable = failedWith('ResultNotStored', 'The run ended, but its result could not be stored.');

/** The end of a run whose error can't be read. */
export const unreadableError = failedWith('Error', 'The run failed with an error that could not be read.');

/** A deadlock victim, which may retry. */
const isDeadlock = (error: unknown): boolean => error instanceof DatabaseError && error.code === '40P01';

export interface EndedExecution {
  plan: RunPlan;
  end: RunEnd;
  failure: unknown;
}

/**
 * Stores the end of a run, for as long as it takes, before it is reported. One that can't be stored becomes a failure.
 * @returns the stored end, or `taken` if another process has the run and will end it.
 */
export async function recordEnd(ended: EndedExecution, around: RunDependencies): Promise<RunEnd | 'taken'> {
  const { clock, log } = around;
  let last = ended.end;
  for (;;) {
    try {
      return (await write({ ...ended, end: last }, around)) ? last : 'taken';
    } catch (error) {
      if (isDatabaseUnavailable(error) || isDeadlock(error)) {
        await clock.sleep(retryMs);
        continue;
      }
      log.error(
        { runId: ended.plan.runId },
        `The end of run ${ended.plan.runId} could not be stored: ${stackOf(error)}`,
      );
      if (last !== ended.end) return last;
      last = unstorable;
    }
  }
}

/** @returns false if another process has the run. */
async function write({ plan, end, failure }: EndedExecution, { store, queue }: RunDependencies): Promise<boolean> {
  const { runId } = plan;
  const reason = failure instanceof RunStopped ? failure.reason : undefined;
  if (reason === 'released') {
    await queue.release(runId);
    return true;
  }
  if (reason !== 'rolled-back') return (await store.end(plan, end)) || !(await isRemote());
  await store.rollBack(runId);
  return !(await isRemote());

  /** Called if nothing changed: the run is gone, its end was already stored, or another process has it. */
  async function isRemote(): Promise<boolean> {
    const [run] = await queue.progressOf([runId]);
    return run !== undefined && run.process_id !== queue.processId;
  }
}
