import type { HistoryEntry } from '../../../contract/control/revision-history.ts';
import { isInProgress } from '../../parts/revision-status.ts';

/** A status that a revision has had, and how long. */
export interface StatusTime {
  status: string;
  at: string;
  message: string | null;
  /** Until the next status; for one in progress, until now. Undefined for an end. */
  ms: number | undefined;
}

/** The statuses of a revision with their durations, in their order; a repeated one counts as one. */
export function statusTimes(statuses: HistoryEntry['statuses'], now: number): StatusTime[] {
  const distinct = statuses.filter(({ status }, index) => status !== statuses[index - 1]?.status);
  return distinct.map(({ status, at, message }, index) => {
    const next = distinct[index + 1];
    const until = next ? Date.parse(next.at) : isInProgress(status) ? now : undefined;
    return { status, at, message, ms: until === undefined ? undefined : Math.max(0, until - Date.parse(at)) };
  });
}

/** From the first status to the last, or until now while it is in progress. */
export function totalMs(statuses: HistoryEntry['statuses'], now: number): number | undefined {
  const [first, last] = [statuses[0], statuses.at(-1)];
  if (!first || !last) return undefined;
  return Math.max(0, (isInProgress(last.status) ? now : Date.parse(last.at)) - Date.parse(first.at));
}
