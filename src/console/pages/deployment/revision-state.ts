import type { HistoryEntry } from '../../../contract/control/revision-history.ts';
import { isInProgress, revisionStatusLabel } from '../../parts/revision-status.ts';

/** What became of a hold: it comes, is there, or was decided. */
export type HoldState =
  { kind: 'held'; address: string; endsAt: string } | { kind: 'coming' | 'promoted' | 'discarded' };

/** The hold of a revision before traffic; undefined where none was requested, or the rollout ended without one. */
export function holdOf({ revision }: Pick<HistoryEntry, 'revision'>): HoldState | undefined {
  const { hold, status } = revision;
  if (!hold) return undefined;
  if (hold.decision !== null) return { kind: hold.decision };
  if (!isInProgress(status)) return undefined;
  return hold.ends_at === null ? { kind: 'coming' } : { kind: 'held', address: hold.address, endsAt: hold.ends_at };
}

/** The status of a revision in words, with what its hold makes of it: `Held before traffic`. */
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
