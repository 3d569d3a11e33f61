import type { AwaitDecision, Decision } from './trigger-types.ts';

/** A check that has to pass. `appId`: only that of this GitHub App counts. */
export interface RequiredCheck {
  name: string;
  appId?: number;
}

/** A check run or a commit status. A status does not say which App made it. */
export interface SeenCheck {
  name: string;
  state: 'pending' | 'passed' | 'failed';
  appId?: number;
}

/** The checks of a commit, and what is to pass of them. */
export interface ChecksSeen {
  required: readonly RequiredCheck[];
  seen: readonly SeenCheck[];
  /** Commit statuses could not be read, so that one that is required is not seen. */
  isUnread?: true;
  /** Whether the time to wait is over. */
  isLate: boolean;
}

/** Names of checks, at most a few of them, and how many there are. */
export interface CheckNames {
  names: readonly string[];
  count: number;
}

export type ChecksDecision = { kind: 'pass' } | AwaitDecision<'checks'> | Extract<Decision, { kind: 'skip' }>;

/** The most names that a decision keeps, and the longest (characters): others choose them. */
const maxNames = 5;
const maxNameLength = 60;

/**
 * Decides whether the required checks of a commit let it be deployed. A check that fails decides at once; one that is
 * not there yet is pending. Where nothing is required, nothing is proven: that deploys nothing.
 */
export function decideAfterChecks({ required, seen, isUnread, isLate }: ChecksSeen): ChecksDecision {
  if (required.length === 0) return { kind: 'skip', code: 'no-checks' };
  const states = required.map((each) => ({ name: each.name, state: stateOf(each, seen) }));
  const failed = namesOf(states, 'failed');
  if (failed.count > 0) return { kind: 'skip', code: 'checks-failed', failed };
  const pending = namesOf(states, 'pending');
  if (pending.count === 0) return { kind: 'pass' };
  if (!isLate) return { kind: 'await', code: 'checks', pending };
  return { kind: 'skip', code: 'checks-late', pending, ...(isUnread ? { isUnread } : {}) };
}

/**
 * The state of all checks of a name: a workflow and a status may have the same one. Where one App's check is required, a
 * status may fail or hold up, and proves nothing: anybody who may write can make it.
 */
function stateOf({ name, appId }: RequiredCheck, seen: readonly SeenCheck[]): SeenCheck['state'] {
  const isOfApp = (check: SeenCheck): boolean => appId === undefined || check.appId === appId;
  const counting = seen.filter((check) => check.name === name && (isOfApp(check) || check.appId === undefined));
  const states = counting.map(({ state }) => state);
  if (states.includes('failed')) return 'failed';
  return states.includes('pending') || !counting.some(isOfApp) ? 'pending' : 'passed';
}

/** The name of a check as a decision keeps it. */
export const shownName = (name: string): string => name.slice(0, maxNameLength).toWellFormed();

function namesOf(
  states: readonly { name: string; state: SeenCheck['state'] }[],
  state: SeenCheck['state'],
): CheckNames {
  const names = [...new Set(states.filter((each) => each.state === state).map(({ name }) => name))];
  return {
    names: names.slice(0, maxNames).map(shownName),
    count: names.length,
  };
}
