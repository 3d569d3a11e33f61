import type { Outcome, OutcomeKind } from '../deploy/outcome-types.ts';
import { asLine } from '../report/sanitize.ts';
import type { DeploymentShown } from './deployment.ts';

/**
 * The final state of a GitHub Deployment. Only a live revision without failed tests is a `success`; `error` is an
 * unknown result, `inactive` a revision that another one replaced.
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

/** The last status of a run's GitHub Deployment. */
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
