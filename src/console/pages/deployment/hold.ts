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
