import type { DeploymentState } from '../../../contract/control/deployment-summary.ts';
import { classOfRevisionStatus } from '../../../contract/control/revision-status.ts';
import type { RevisionStatus } from '../../../contract/control/revision-status.ts';
import type { DeletionState } from './status.ts';

/** The facts behind a deployment's state. */
export interface StateFacts {
  deletion: DeletionState;
  /** The status of its latest revision. */
  latest: RevisionStatus | null;
  /** Whether a revision serves. */
  isLive: boolean;
  /** Whether its source is to be uploaded, and nothing was yet. */
  isWithoutSource: boolean;
}

/**
 * The state of a deployment in one word. Its latest revision decides where that is in progress or failed; one that was
 * interrupted or skipped changes nothing.
 */
export function deploymentState({ deletion, latest, isLive, isWithoutSource }: StateFacts): DeploymentState {
  if (deletion !== 'none') return 'deleting';
  if (isWithoutSource && !isLive) return 'no-source';
  const of = latest === null ? 'unknown' : classOfRevisionStatus(latest);
  if (of === 'in-progress') return 'deploying';
  if (of === 'failed') return 'failed';
  return isLive ? 'live' : 'not-deployed';
}
