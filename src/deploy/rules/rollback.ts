import type { OnFailure } from '../file/desired.ts';
import type { Revision } from '../../contract/control/revision.ts';
import { classOfRevisionStatus } from '../../contract/control/revision-status.ts';
import type { RollbackObstacle } from './trigger-types.ts';

/** The revision to restore in place of this one: what was live before it, unless that is itself. */
export const revisionToRestore = (revisionId: string, formerLive: string | null | undefined): string | undefined =>
  formerLive && formerLive !== revisionId ? formerLive : undefined;

/** What follows from a live revision that failed its smoke tests. */
export type RollbackDecision =
  | { kind: 'restore'; revisionId: string }
  | { kind: 'impossible'; because: 'none-made' | 'none-before' }
  | { kind: 'not-requested' };

/**
 * Decides whether a revision that failed its smoke tests is rolled back, and to which revision.
 *
 * @param failed.revisionId the revision that this run or push created; undefined if it created none.
 */
export function decideRollback(failed: {
  onFailure: OnFailure;
  revisionId: string | undefined;
  formerLive: string | null | undefined;
}): RollbackDecision {
  if (failed.onFailure !== 'rollback') return { kind: 'not-requested' };
  if (failed.revisionId === undefined) return { kind: 'impossible', because: 'none-made' };
  const former = revisionToRestore(failed.revisionId, failed.formerLive);
  return former === undefined
    ? { kind: 'impossible', because: 'none-before' }
    : { kind: 'restore', revisionId: former };
}

/** Why a revision that failed its smoke tests is not rolled back; undefined where nothing is in the way. */
export function rollbackObstacle(
  broken: string | undefined,
  { active, onItsWay }: { active: string | null; onItsWay?: string | undefined },
): RollbackObstacle | undefined {
  if (active !== broken) return { code: 'other-serves', active, broken };
  return onItsWay === undefined ? undefined : { code: 'other-on-its-way', revisionId: onItsWay };
}

/**
 * Whether a revision is the newest that was live before this one. The returned function is given the revisions one by
 * one, newest first; one that was live keeps its status when another takes its place.
 */
export function isLiveBefore(active: string): (revision: Pick<Revision, 'id' | 'status'>) => boolean {
  let isPast = false;
  return ({ id, status }) => {
    if (isPast && classOfRevisionStatus(status) === 'live') return true;
    isPast ||= id === active;
    return false;
  };
}
