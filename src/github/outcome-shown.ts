import type { Outcome, OutcomeKind } from '../deploy/outcome-types.ts';
import { asLine } from '../report/sanitize.ts';
import type { DeploymentShown } from './deployment.ts';

/**
 * What a GitHub Deployment is at the end of a story. Only what is live, and what nothing speaks against, is a success;
 * `error` is what nobody could tell, `inactive` what another took the place of.
 */
const states: Readonly<Record<OutcomeKind, DeploymentShown['state']>> = {
  deployed: 'success',
  unchanged: 'success',
  started: 'in_progress',
  planned: 'inactive',
  'rolled-back': 'failure',
  deleted: 'inactive',
  superseded: 'inactive',
  failed: 'failure',
  broken: 'failure',
  unproven: 'error',
  interrupted: 'error',
  'timed-out': 'error',
  refused: 'error',
  neutral: 'inactive',
};

/** The last status of a story's GitHub Deployment. */
export function outcomeShown({
  kind,
  reason,
  deploymentUrl,
}: Outcome): Pick<DeploymentShown, 'state' | 'description' | 'environmentUrl'> {
  const isWeb = deploymentUrl !== undefined && /^https?:\/\//i.test(deploymentUrl) && URL.canParse(deploymentUrl);
  return {
    state: states[kind],
    description: asLine(`${kind}: ${reason}`, 140),
    ...(isWeb ? { environmentUrl: deploymentUrl } : {}),
  };
}
