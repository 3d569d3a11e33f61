import type { RevisionStatus } from '../../../contract/control/revision-status.ts';
import type { DeletionState } from '../deployments/status.ts';
import { runningStatuses } from '../revisions/states.ts';

/** The kinds of work: carry out a revision, restore the live one after an abandoned claim, remove a deployment. */
export type ListenerWork = 'roll-out' | 'put-back' | 'remove';

/** The next work on a deployment with a listener. */
export type NextListenerWork<Revision> =
  | { kind: 'nothing' }
  | { kind: 'remove' }
  | { kind: 'put-back' }
  | {
      kind: 'roll-out';
      revision: Revision;
      /** The statuses that the revision passes when it is claimed: an image needs no build. */
      steps: readonly RevisionStatus[];
      /** Waiting revisions that are older than this one. */
      skipped: readonly Revision[];
      /** Revisions that have to wait until this one has ended. */
      queued: readonly Revision[];
    };

/**
 * Decides the next work on a deployment: first its removal, then the revision that was interrupted, then the newest that
 * waits, and last the restoration of the live revision after an abandoned claim.
 *
 * @param unfinished the revisions that wait or are in progress, newest first.
 * @param isAbandoned whether the last holder may have left another revision in the cluster than the live one.
 */
export function nextListenerWork<Revision extends { id: string; status: RevisionStatus }>(
  deletion: DeletionState,
  unfinished: readonly Revision[],
  isAbandoned: boolean,
): NextListenerWork<Revision> {
  if (deletion !== 'none') return deletion === 'asked' ? { kind: 'remove' } : { kind: 'nothing' };
  const started = unfinished.find(({ status }) => runningStatuses.includes(status));
  if (started) {
    const queued = unfinished.filter(({ status }) => status === 'CREATING');
    return { kind: 'roll-out', revision: started, steps: restartSteps[started.status] ?? [], skipped: [], queued };
  }
  const [newest, ...skipped] = unfinished;
  if (newest) return { kind: 'roll-out', revision: newest, steps: ['AWAITING_DEPLOY'], skipped, queued: [] };
  return { kind: isAbandoned ? 'put-back' : 'nothing' };
}

const minRestoreDelayMs = 10_000;
export const maxRestoreDelayMs = 600_000;

/** The delay after a failed restoration (ms), which grows with the time since the cluster diverged. */
export const restoreRetryDelayMs = (divergedForMs: number): number =>
  Math.min(maxRestoreDelayMs, Math.max(minRestoreDelayMs, divergedForMs));

/** The status from which an interrupted revision starts again. */
const restartSteps: Partial<Record<RevisionStatus, readonly RevisionStatus[]>> = {
  AWAITING_BUILD: ['BUILDING', 'AWAITING_DEPLOY'],
  BUILDING: ['AWAITING_DEPLOY'],
  DEPLOYING: ['AWAITING_DEPLOY'],
};
