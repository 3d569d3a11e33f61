import { ERROR_KEY } from '../../contract/agent/run.ts';
import type { StoredThread } from '../threads/store.ts';
import { toWire } from '../wire.ts';
import type { StoredEnding } from './run-events.ts';
import type { StoredRun } from './run-row.ts';

/** What a run that has ended left behind, as far as it is there. */
export interface Left {
  run: Pick<StoredRun, 'status' | 'error'> | undefined;
  ending: StoredEnding | undefined;
  thread: Pick<StoredThread, 'status' | 'values' | 'interrupts'> | undefined;
}

/** What is told of a run that is gone with all that it left. */
const NOTHING_KEPT = {
  error: 'ResultNotKept',
  message: 'The run has ended in another process, and nothing of it was kept.',
};

/** The error with which a run ended, as JSON; undefined where it did not fail. */
export function leftError({ run, ending }: Pick<Left, 'run' | 'ending'>): string | undefined {
  if (run) return run.error ? JSON.stringify(run.error) : undefined;
  if (ending === undefined) return JSON.stringify(NOTHING_KEPT);
  return ending.kind === 'error' ? ending.json : undefined;
}

/**
 * What a caller is answered who waits for a run that another process carried out: its error, its own answer where that
 * was stored, else the values of its thread with what that waits for.
 */
export function leftAnswer(left: Left): string {
  const error = leftError(left);
  if (error !== undefined) return `{${JSON.stringify(ERROR_KEY)}:${error}}`;
  if (left.ending?.kind === 'values') return left.ending.json;
  const { thread } = left;
  const values = thread?.values ?? null;
  if (thread?.status !== 'interrupted') return toWire(values);
  const state = typeof values === 'object' ? values : {};
  return toWire({ ...state, __interrupt__: Object.values(thread.interrupts).flat() });
}
