import type { RevisionStatus } from '../../../contract/control/revision-status.ts';
import type { DeletionState } from '../deployments/status.ts';
import { runningStatuses } from '../revisions/states.ts';

/** The kinds of work: carry a revision out, restore the live one after an abandoned one, remove a deployment. */
export type ListenerWork = 'roll-out' | 'put-back' | 'remove';

/** The next work on a deployment with a listener. */
export type ListenerTurn<Revision> =
  | { kind: 'nothing' }
  | { kind: 'remove' }
  | { kind: 'put-back' }
  | {
      kind: 'roll-out';
      revision: Revision;
      /** The statuses on the way to the holder's start: an image needs no build. */
      steps: readonly RevisionStatus[];
      /** Waiting revisions that a newer one replaced. */
      skipped: readonly Revision[];
      /** Revisions that have to wait until this one has ended. */
      queued: readonly Revision[];
    };

/**
 * Decides what the next holder of a deployment gets: its removal before everything else, then the interrupted revision,
 * then the newest that waits, and where there is none, the restoration after an abandoned one.
 *
 * @param unfinished the revisions that wait or are in progress, newest first.
 * @param isAbandoned whether the last holder may have left another revision in the cluster than the live one.
 */
export function nextListenerWork<Revision extends { id: string; status: RevisionStatus }>(
  deletion: DeletionState,
  unfinished: readonly Revision[],
  isAbandoned: boolean,
): ListenerTurn<Revision> {
  if (deletion !== 'none') return deletion === 'asked' ? { kind: 'remove' } : { kind: 'nothing' };
  const started = unfinished.find(({ status }) => runningStatuses.includes(status));
  if (started) {
    const queued = unfinished.filter(({ status }) => status === 'CREATING');
    return { kind: 'roll-out', revision: started, steps: againFrom[started.status] ?? [], skipped: [], queued };
  }
  const [newest, ...skipped] = unfinished;
  if (newest) return { kind: 'roll-out', revision: newest, steps: ['AWAITING_DEPLOY'], skipped, queued: [] };
  return { kind: isAbandoned ? 'put-back' : 'nothing' };
}

const minPutBackMs = 10_000;
export const maxPutBackMs = 600_000;

/** The delay after a failed restoration (ms), which grows with the time since the cluster diverged. */
export const restoreRetryDelayMs = (awryForMs: number): number =>
  Math.min(maxPutBackMs, Math.max(minPutBackMs, awryForMs));

/** The status from which an interrupted revision starts again. */
const againFrom: Partial<Record<RevisionStatus, readonly RevisionStatus[]>> = {
  AWAITING_BUILD: ['BUILDING', 'AWAITING_DEPLOY'],
  BUILDING: ['AWAITING_DEPLOY'],
  DEPLOYING: ['AWAITING_DEPLOY'],
};
