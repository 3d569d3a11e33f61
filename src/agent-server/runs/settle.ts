import { DatabaseError } from 'pg';
import { isDatabaseUnavailable } from '../../postgres/unavailable.ts';
import type { RunDependencies } from './dependencies.ts';
import { RunStopped } from './run-error.ts';
import type { RunPlan } from './run-plan.ts';
import type { RunEnd } from './run-row.ts';

/** How long (ms) until the end of a run is written down again, while the database is away. */
const RETRY_MS = 500;

const failedWith = (error: string, message: string): RunEnd => ({
  status: 'error',
  error: { error, message },
  interrupts: '{}',
  values: undefined,
  unfinishedState: false,
});
const UNSTORABLE = failedWith('ResultNotStored', 'The run ended, but its result could not be stored.');

/** The end of a run whose error can't be looked at. */
export const UNREADABLE_ERROR = failedWith('Error', 'The run failed with an error that can not be shown.');

/** The database has taken one of two back that wait for each other: it may be asked again. */
const isDeadlock = (error: unknown): boolean => error instanceof DatabaseError && error.code === '40P01';

/** How a run ended. */
export interface Ended {
  plan: RunPlan;
  end: RunEnd;
  /** What it failed with, or was stopped with. */
  failure: unknown;
}

/**
 * Writes the end of a run down, however long the database is away: nobody hears of an end that is not stored. An end
 * that can't be stored as it is becomes a failure that says so.
 *
 * @returns the end that is stored, or `taken` where another process has the run, and will end it.
 */
export async function settle(ended: Ended, around: RunDependencies): Promise<RunEnd | 'taken'> {
  const { clock, log } = around;
  let last = ended.end;
  for (;;) {
    try {
      return (await write({ ...ended, end: last }, around)) ? last : 'taken';
    } catch (error) {
      if (isDatabaseUnavailable(error) || isDeadlock(error)) {
        await clock.sleep(RETRY_MS);
        continue;
      }
      log(`The end of run ${ended.plan.runId} could not be stored: ${String(error)}`);
      if (last !== ended.end) return last;
      last = UNSTORABLE;
    }
  }
}

/** @returns false where another process has the run. */
async function write({ plan, end, failure }: Ended, { store, queue }: RunDependencies): Promise<boolean> {
  const { runId } = plan;
  const reason = failure instanceof RunStopped ? failure.reason : undefined;
  if (reason === 'handover') {
    await queue.release(runId);
    return true;
  }
  if (reason !== 'rolled-back') return (await store.end(plan, end)) || !(await isRemote());
  await store.rollBack(runId);
  return !(await isRemote());

  /** Nothing was changed: the run is gone, its end was stored before without our hearing of it, or it is another's. */
  async function isRemote(): Promise<boolean> {
    const [standing] = await queue.standings([runId]);
    return standing !== undefined && standing.process_id !== queue.processId;
  }
}
