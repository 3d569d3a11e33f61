import type { HistoryEntry } from '../../../contract/control/revision-history.ts';
import { isInProgress, revisionStatusLabel } from '../../parts/words.ts';

/** The state of a hold: `coming` before it begins, `held`, or decided. */
export type HoldState =
  { kind: 'held'; address: string; endsAt: string } | { kind: 'coming' | 'promoted' | 'discarded' };

/** The hold of a revision; undefined if none was requested, or the rollout ended without one. */
export function holdOf({ revision }: Pick<HistoryEntry, 'revision'>): HoldState | undefined {
  const { hold, status } = revision;
  if (!hold) return undefined;
  if (hold.decision !== null) return { kind: hold.decision };
  if (!isInProgress(status)) return undefined;
  return hold.ends_at === null ? { kind: 'coming' } : { kind: 'held', address: hold.address, endsAt: hold.ends_at };
}

/** The label of a revision's status, considering its hold: `Held before traffic`. */
export function statusLabel(entry: Pick<HistoryEntry, 'revision'>): string {
  const kind = holdOf(entry)?.kind;
  if (kind === 'held') return 'Held before traffic';
  if (kind === 'discarded') return 'Discarded before traffic';
  return revisionStatusLabel(entry.revision.status);
}

/** A status that a revision has had, and how long. */
export interface StatusTime {
  status: string;
  at: string;
  message: string | null;
  /** The duration until the next status, or until now if in progress. Undefined for a final status. */
  ms: number | undefined;
}

/** The statuses of a revision in order, with their durations. Repeated ones are merged. */
export function statusTimes(statuses: HistoryEntry['statuses'], now: number): StatusTime[] {
  const distinct = statuses.filter(({ status }, index) => status !== statuses[index - 1]?.status);
  return distinct.map(({ status, at, message }, index) => {
    const next = distinct[index + 1];
    const until = next ? Date.parse(next.at) : isInProgress(status) ? now : undefined;
    return { status, at, message, ms: until === undefined ? undefined : Math.max(0, until - Date.parse(at)) };
  });
}

/** The time from the first status to the last, or until now while in progress. */
export function totalMs(statuses: HistoryEntry['statuses'], now: number): number | undefined {
  const [first, last] = [statuses[0], statuses.at(-1)];
  if (!first || !last) return undefined;
  return Math.max(0, (isInProgress(last.status) ? now : Date.parse(last.at)) - Date.parse(first.at));
}
