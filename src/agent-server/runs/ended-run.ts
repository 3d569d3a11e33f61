import { errorKey } from '../../contract/agent/run.ts';
import type { StoredThread } from '../threads/store.ts';
import { toWire } from '../wire.ts';
import type { StoredEnding } from './run-events.ts';
import type { StoredRun } from './run-row.ts';

/** The state after a run. */
export interface EndedRunState {
  values: unknown;
  /** The interrupts at which the graph stopped, possibly without any value. */
  waitsFor: unknown[] | undefined;
}

/** What remains of an ended run. */
export interface EndedRun {
  run: Pick<StoredRun, 'status' | 'error'> | undefined;
  ending: StoredEnding | undefined;
  state: EndedRunState | undefined;
}

/** The error for a run that was deleted with all its results. */
const nothingKept = {
  error: 'ResultNotKept',
  message:
    'The run has ended, and nothing of it is there any more: it was deleted, or it was one without a thread, which answers only those who waited before its end. With "on_completion": "keep" it is kept.',
};

/** The error for a run whose state is no longer available. */
const stateNotKept = {
  error: 'ResultNotKept',
  message:
    'The run succeeded, but its result is no longer available: its thread has changed since, and its own states were removed, or this revision does not have their graph.',
};

/** The error of a run, as JSON; undefined if it did not fail. */
export function endedRunError({ run, ending }: Pick<EndedRun, 'run' | 'ending'>): string | undefined {
  if (run) return run.error ? JSON.stringify(run.error) : undefined;
  if (ending === undefined) return JSON.stringify(nothingKept);
  return ending.kind === 'error' ? ending.json : undefined;
}

/** Whether the response needs the run's state: it did not fail, and its response was not stored. */
export const needsState = (left: Pick<EndedRun, 'run' | 'ending'>): boolean =>
  endedRunError(left) === undefined && left.ending?.kind !== 'values';

/**
 * The response for a caller that waits for a run of another process: its error, its stored response, else its state with
 * the interrupts.
 */
export function endedRunResponse(left: EndedRun): string {
  const failed = (error: string) => `{${JSON.stringify(errorKey)}:${error}}`;
  const error = endedRunError(left);
  if (error !== undefined) return failed(error);
  if (left.ending?.kind === 'values') return left.ending.json;
  if (left.state === undefined) return failed(JSON.stringify(stateNotKept));
  const { values, waitsFor } = left.state;
  if (waitsFor === undefined) return toWire(values);
  return toWire({ ...(typeof values === 'object' ? values : {}), __interrupt__: waitsFor });
}

/** How a thread's row relates to the end of one of its runs. */
export type RowStatus = 'as-it-left-it' | 'not-changed-since' | 'changed';

/**
 * Whether a thread's row holds the result of a run: the end of a run with a state writes the same time to both. If the
 * run reached no state, the thread may hold the one before it.
 */
export function rowStatusOf(
  run: Pick<StoredRun, 'ended_at'>,
  thread: Pick<StoredThread, 'state_updated_at' | 'status'>,
): RowStatus {
  const [endedAt, changedAt] = [run.ended_at?.getTime(), thread.state_updated_at?.getTime()];
  // The row of a busy thread has no interrupts.
  if (endedAt === changedAt && thread.status !== 'busy') return 'as-it-left-it';
  return changedAt === undefined || (endedAt !== undefined && changedAt <= endedAt) ? 'not-changed-since' : 'changed';
}
