import type { RevisionStatus } from '../../contract/control/revision.ts';
import type { DeletionState } from './deployment-status.ts';
import { runningStatuses } from './revision-states.ts';

/**
 * What a listener is to do: carry a revision out, put the cluster back to what is live after a revision that nobody wants
 * any more, or remove a deployment.
 */
export type ListenerWork = 'roll-out' | 'put-back' | 'remove';

/** What of a deployment with a listener is to be done next. */
export type ListenerTurn<Revision> =
  | { kind: 'nothing' }
  | { kind: 'remove' }
  | { kind: 'put-back' }
  | {
      kind: 'roll-out';
      revision: Revision;
      /** The statuses that it goes through to where its holder begins: an image is a build that is there already. */
      steps: readonly RevisionStatus[];
      /** Revisions that waited and that a newer one made superfluous. */
      skipped: readonly Revision[];
      /** Revisions that have to wait until this one has ended. */
      queued: readonly Revision[];
    };

/**
 * Decides what the next holder of a deployment gets: its removal before everything else, then the revision that was begun
 * and broken off, then the newest that waits, and where there is none, the way back from what was abandoned.
 *
 * @param unfinished the revisions that wait or are at work, newest first.
 * @param isAbandoned whether the last one who worked on it may have left something else in the cluster than what is live.
 */
export function whatNext<Revision extends { id: string; status: RevisionStatus }>(
  deletion: DeletionState,
  unfinished: readonly Revision[],
  isAbandoned: boolean,
): ListenerTurn<Revision> {
  if (deletion !== 'none') return deletion === 'asked' ? { kind: 'remove' } : { kind: 'nothing' };
  const started = unfinished.find(({ status }) => runningStatuses.some((word) => word === status));
  if (started) {
    const queued = unfinished.filter(({ status }) => status === 'CREATING');
    return { kind: 'roll-out', revision: started, steps: againFrom[started.status] ?? [], skipped: [], queued };
  }
  const [newest, ...skipped] = unfinished;
  if (newest) return { kind: 'roll-out', revision: newest, steps: ['AWAITING_DEPLOY'], skipped, queued: [] };
  return { kind: isAbandoned ? 'put-back' : 'nothing' };
}

const shortestPutBackMs = 10_000;
export const longestPutBackMs = 600_000;

/**
 * How long to wait after a way back that failed (ms): as long again as the cluster has been awry, so that the tries get
 * rarer, from ten seconds up to ten minutes.
 */
export const putBackAgainMs = (awryForMs: number): number =>
  Math.min(longestPutBackMs, Math.max(shortestPutBackMs, awryForMs));

/** From where a revision was broken off to where it begins again. */
const againFrom: Partial<Record<RevisionStatus, readonly RevisionStatus[]>> = {
  AWAITING_BUILD: ['BUILDING', 'AWAITING_DEPLOY'],
  BUILDING: ['AWAITING_DEPLOY'],
  DEPLOYING: ['AWAITING_DEPLOY'],
};
