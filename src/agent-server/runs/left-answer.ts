import { ERROR_KEY } from '../../contract/agent/run.ts';
import type { StoredThread } from '../threads/store.ts';
import { toWire } from '../wire.ts';
import type { StoredEnding } from './run-events.ts';
import type { StoredRun } from './run-row.ts';

/** The state that a run left. */
export interface LeftState {
  values: unknown;
  /** What the graph waits for, where it stopped to wait for somebody: none may be named. */
  waitsFor: unknown[] | undefined;
}

/** What a run that has ended left behind, as far as it is there. */
export interface Left {
  run: Pick<StoredRun, 'status' | 'error'> | undefined;
  ending: StoredEnding | undefined;
  state: LeftState | undefined;
}

/** What is told of a run that is gone with all that it left. */
const NOTHING_KEPT = {
  error: 'ResultNotKept',
  message:
    'The run has ended, and nothing of it is there any more: it was deleted, or it was one without a thread, which answers only those who waited before its end. With "on_completion": "keep" it is kept.',
};

/** What is told of a run that is there, and whose state is not any more. */
const STATE_NOT_KEPT = {
  error: 'ResultNotKept',
  message:
    'The run ended well, but what it left can not be told any more: its thread has changed since, and its own states were removed, or this revision does not have their graph.',
};

/** The error with which a run ended, as JSON; undefined where it did not fail. */
export function leftError({ run, ending }: Pick<Left, 'run' | 'ending'>): string | undefined {
  if (run) return run.error ? JSON.stringify(run.error) : undefined;
  if (ending === undefined) return JSON.stringify(NOTHING_KEPT);
  return ending.kind === 'error' ? ending.json : undefined;
}

/** Whether the answer of a run needs the state that it left: it did not fail, and its answer was not stored. */
export const needsState = (left: Pick<Left, 'run' | 'ending'>): boolean =>
  leftError(left) === undefined && left.ending?.kind !== 'values';

/**
 * What a caller is answered who waits for a run that this process does not have in hand: its error, its own answer where
 * that was stored, else the state that it left, with what that waits for.
 */
export function leftAnswer(left: Left): string {
  const failed = (error: string) => `{${JSON.stringify(ERROR_KEY)}:${error}}`;
  const error = leftError(left);
  if (error !== undefined) return failed(error);
  if (left.ending?.kind === 'values') return left.ending.json;
  if (left.state === undefined) return failed(JSON.stringify(STATE_NOT_KEPT));
  const { values, waitsFor } = left.state;
  if (waitsFor === undefined) return toWire(values);
  return toWire({ ...(typeof values === 'object' ? values : {}), __interrupt__: waitsFor });
}

/** How a thread's row stands to the end of one of its runs. */
export type Standing = 'as-it-left-it' | 'not-changed-since' | 'changed';

/**
 * Whether a thread's row holds what a run left: each end of a run that reached a state gives both the same time. Where
 * the run reached none, the thread may hold the state from before it.
 */
export function standingOf(
  run: Pick<StoredRun, 'ended_at'>,
  thread: Pick<StoredThread, 'state_updated_at' | 'status'>,
): Standing {
  const [endedAt, changedAt] = [run.ended_at?.getTime(), thread.state_updated_at?.getTime()];
  // What a busy thread waits for is not in its row.
  if (endedAt === changedAt && thread.status !== 'busy') return 'as-it-left-it';
  return changedAt === undefined || (endedAt !== undefined && changedAt <= endedAt) ? 'not-changed-since' : 'changed';
}
