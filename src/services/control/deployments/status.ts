import type { DeploymentStatus } from '../../../contract/control/deployment.ts';

/** The state of the database of a deployment's agents. */
export type DatabaseState = 'absent' | 'ready' | 'unreachable';

/** The state of a deployment's deletion: not requested, requested, or far enough that nothing of it runs any more. */
export type DeletionState = 'none' | 'asked' | 'stopped';

/** The causes of a deployment's status. */
export interface StatusCauses {
  database: DatabaseState;
  /** Whether one of its revisions waits or is being carried out. */
  revisionOnItsWay: boolean;
  deletion: DeletionState;
}

/**
 * The status of a deployment, from its causes (docs/design/deployments-and-revisions.md: the contract has only the
 * names): AWAITING_DELETE once its deletion is requested. Otherwise READY once its agents' database exists, UNKNOWN
 * while that database is unavailable, and before it exists AWAITING_DATABASE while a revision is in progress, else
 * UNUSED.
 */
export function deploymentStatus({ database, revisionOnItsWay, deletion }: StatusCauses): DeploymentStatus {
  if (deletion !== 'none') return 'AWAITING_DELETE';
  if (database === 'ready') return 'READY';
  if (database === 'unreachable') return 'UNKNOWN';
  return revisionOnItsWay ? 'AWAITING_DATABASE' : 'UNUSED';
}

interface MessageCauses {
  status: DeploymentStatus;
  deletion: DeletionState;
  listenerId: string | null;
  deletionProblem: string | null;
}

/** Explains a deployment's status where needed, for a person; null otherwise. */
export function statusMessage({ status, deletion, listenerId, deletionProblem }: MessageCauses): string | null {
  if (status === 'UNKNOWN') {
    return "Its agents' database does not answer, though this service's own does: it was removed, or its role may not log in. A new revision recreates it, empty.";
  }
  if (deletion === 'none') return null;
  if (deletionProblem !== null) return `It could not be deleted yet, and that is tried again: ${deletionProblem}`;
  if (deletion === 'asked' && listenerId !== null) {
    return `It waits until the listener ${listenerId} has removed what runs in its cluster. Start that listener if it does not run; where the cluster is gone for good, delete this deployment again with without_listener=true.`;
  }
  return 'It is being deleted.';
}
