import type { DeploymentSummary } from '../../contract/control/deployment-summary.ts';

/** The length of a step of an activity, in seconds: 30 of them make an hour. */
const stepSeconds = 120;

/**
 * The activity of the last hour of each of these deployments, by its id; one without any is missing. Nothing counts
 * requests yet.
 */
export async function readActivity(
  _deploymentIds: readonly string[],
): Promise<ReadonlyMap<string, DeploymentSummary['activity']>> {
  return new Map();
}

export const noActivity: DeploymentSummary['activity'] = { step_seconds: stepSeconds, requests: [], errors: [] };
