import type { DeploymentStatus } from '../../contract/control/deployment.ts';

/** What is known of the database that a deployment's agents keep their state in. */
export type DatabaseState = 'absent' | 'ready' | 'unreachable';

/**
 * The status of a deployment, from its causes (control-service.md, States, names the words only; our choice):
 * READY once its agents' database stands, UNKNOWN while that database does not answer, and before it stands
 * AWAITING_DATABASE while a revision is on its way, UNUSED when none is.
 */
export function deploymentStatus(database: DatabaseState, revisionOnItsWay: boolean): DeploymentStatus {
  if (database === 'ready') return 'READY';
  if (database === 'unreachable') return 'UNKNOWN';
  return revisionOnItsWay ? 'AWAITING_DATABASE' : 'UNUSED';
}
