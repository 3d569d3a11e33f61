import { stackOf } from '../../../kit/errors.ts';
import { DatabaseError } from 'pg';
import type { RunError } from '../../../contract/agent/run.ts';
import { isDatabaseUnavailable } from '../../../kit/postgres/unavailable.ts';
import type { RunDependencies } from './dependencies.ts';
import type { CheckpointBatch } from '../graphs/checkpoint-batch.ts';
import { DatabaseUnavailable } from '../storage/retry-policy.ts';
import type { Unstored } from '../graphs/write-behind.ts';
import { describeError, RunStopped } from './run-error.ts';
import type { RunPlan } from './run-plan.ts';
import type { RunEnd } from './run-row.ts';

/** The retry interval (ms) for storing the end of a run while the database is unavailable. */
const retryMs = 500;

const failedWith = (error: RunError): RunEnd => ({
  status: 'error',
  error,
  interrupts: '{}',
  values: undefined,
  unfinishedState: false,
});
const unstorable = failedWith({
  error: 'ResultNotStored',
  message: 'The run ended, but its result could not be stored.',
});

/** The end of a run whose error can't be read. */
export const unreadableError = failedWith({
  error: 'Error',
  message: 'The run failed with an error that could not be read.',
});

/** A deadlock victim, which may retry. */
const isDeadlock = (error: unknown): boolean => error instanceof DatabaseError && error.code === '40P01';

export interface EndedExecution {
  plan: RunPlan;
  end: RunEnd;
  failure: unknown;
}

/**
 * Stores the end of a run, for as long as it takes, before it is reported. One that can't be stored becomes a failure, and
 * so does one whose last checkpoints (`unstored`) can't be.
 * @returns the stored end, or `taken` if another process has the run and will end it.
 */
export async function recordEnd(
  ended: EndedExecution,
  around: RunDependencies,
  unstored: Unstored = { batch: undefined },
): Promise<RunEnd | 'taken'> {
  const { clock, log } = around;
  const { runId } = ended.plan;
  let last = 'failure' in unstored ? failedWith(describeError(unstored.failure)) : ended.end;
  let batch = 'batch' in unstored ? unstored.batch : undefined;
  for (;;) {
    try {
      return (await write({ ...ended, end: last }, batch, around)) ? last : 'taken';
    } catch (error) {
      if (isDatabaseUnavailable(error) || isDeadlock(error)) {
        await clock.sleep(retryMs);
        continue;
      }
      log.error({ runId }, `The end of run ${runId} could not be stored: ${stackOf(error)}`);
      if (batch !== undefined) {
        // The checkpoints alone: it is not known which of both could not be stored.
        try {
          await around.graphs.writes.behind.store(runId, batch);
        } catch (failure) {
          if (failure instanceof DatabaseUnavailable) continue;
          last = failedWith(describeError(failure));
        }
        batch = undefined;
        continue;
      }
      if (last !== ended.end) return last;
      last = unstorable;
    }
  }
}

/** @returns false if another process has the run. */
async function write(
  { plan, end, failure }: EndedExecution,
  batch: CheckpointBatch | undefined,
  { store, queue }: RunDependencies,
): Promise<boolean> {
  const { runId } = plan;
  const reason = failure instanceof RunStopped ? failure.reason : undefined;
  if (reason === 'released') {
    await queue.release(runId);
    return true;
  }
  if (reason !== 'rolled-back') return (await store.end(plan, end, batch)) || !(await isRemote());
  await store.rollBack(runId);
  return !(await isRemote());

  /** Called if nothing changed: the run is gone, its end was already stored, or another process has it. */
  async function isRemote(): Promise<boolean> {
    const [run] = await queue.progressOf([runId]);
    return run !== undefined && run.process_id !== queue.processId;
  }
}
