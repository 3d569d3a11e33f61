import type { DesiredDeployment, DesiredGithub } from '../../src/deploy/file/desired.ts';
import type { Deployment } from '../../src/contract/control/deployment.ts';
import { ServiceError } from '../../src/contract/service-error.ts';
import type { ReportedChange, ReportedObstacle } from '../../src/deploy/words/plan.ts';
import { deploy } from '../../src/deploy/machine/deploy.ts';
import type { Outcome } from '../../src/deploy/machine/outcome-types.ts';
import type { AppContext } from '../context.ts';

/** What merging and applying a deployment of the file would do. Texts are untrusted. */
export type Forecast =
  | {
      kind: 'create' | 'patch' | 'none';
      deployment: string;
      /** How many revisions it would create. A push to the deployed branch is part of the same one. */
      revisions: 0 | 1;
      changes: readonly ReportedChange[];
      why: string;
      notes: readonly string[];
    }
  | { kind: 'impossible'; deployment: string; obstacles: readonly ReportedObstacle[] }
  /** Not examined, because the deployment belongs to another repository. Nothing of it is shown. */
  | { kind: 'refused'; deployment: string; why: string }
  /** Not examined, because the owner of an image is unknown. Nothing of it is shown. */
  | { kind: 'unseen'; deployment: string; why: string }
  /** The service did not respond. */
  | { kind: 'unavailable'; deployment: string; why: string };

export interface ForecastOptions {
  context: Pick<AppContext, 'control' | 'agentAt' | 'clock' | 'random'>;
  /** The branch that the pull request is to be merged into, and the newest commit of its head. */
  baseBranch: string;
  headSha: string;
  /** The service's deployment of a name or id; undefined if there is none. */
  find: (requested: { name?: string; deploymentId?: string }) => Promise<Deployment | undefined>;
  /** Why this repository may not act on a deployment, as a clause; undefined if it may. */
  refusal: (deployment: Deployment) => string | undefined;
  /** Whether an address is this repository's own. New deployments may not be created from another one. */
  isOwn: (repoUrl: string) => boolean;
}

const unseenReason =
  'an image or an uploaded folder is of no repository, so the App looks at this deployment only where its operator binds it; the Action plans it';

/** Timeout for all requests about one deployment (ms). */
const maxWaitMs = 60_000;

/** Plans one deployment of the file as the Action would: a dry run that writes nothing. */
export async function forecast({ desired }: DesiredDeployment, forecasting: ForecastOptions): Promise<Forecast> {
  const { context, find, refusal, isOwn } = forecasting;
  const deployment = desired.name ?? desired.deploymentId ?? '';
  try {
    const existing = await find(desired);
    const refusalReason = existing && refusal(existing);
    if (refusalReason !== undefined && desired.source !== 'github' && existing?.source === desired.source) {
      return { kind: 'unseen', deployment, why: unseenReason };
    }
    if (refusalReason !== undefined) return { kind: 'refused', deployment, why: refusalReason };
    if (!existing && desired.source === 'github' && desired.repoUrl !== undefined && !isOwn(desired.repoUrl)) {
      return { kind: 'refused', deployment, why: 'its repo-url is another repository' };
    }
    return toForecast(deployment, await plan(desired, await headFor(desired, existing, forecasting), context));
  } catch (error) {
    if (error instanceof ServiceError) return { kind: 'unavailable', deployment, why: error.message };
    throw error;
  }
}

const plan = (
  desired: DesiredDeployment['desired'],
  head: string | undefined,
  { control, agentAt, clock, random }: ForecastOptions['context'],
): Promise<Outcome> =>
  deploy({
    desired,
    smokeTests: [],
    onFailure: 'keep',
    mode: 'plan',
    wait: false,
    onSuperseded: 'fail',
    control,
    agentAt,
    clock,
    random,
    timeoutMs: maxWaitMs,
    pollMs: 1_000,
    head,
  });

/** The commit after the merge. It only moves the base branch: deployments of other branches keep their commit. */
async function headFor(
  desired: DesiredDeployment['desired'],
  existing: Deployment | undefined,
  { context, baseBranch, headSha }: ForecastOptions,
): Promise<string | undefined> {
  if (desired.source !== 'github') return undefined;
  if (refOf(desired, existing) === baseBranch || !existing?.active_revision_id) return headSha;
  const live = await context.control.getRevision(existing.id, existing.active_revision_id);
  return live.source_revision_config.repo_commit_sha ?? headSha;
}

const refOf = ({ repoRef }: DesiredGithub, existing: Deployment | undefined): string | undefined =>
  repoRef ?? existing?.source_revision_config.repo_ref?.replace(/^refs\/heads\//, '');

function toForecast(deployment: string, { plan, reason, notes }: Outcome): Forecast {
  switch (plan?.kind) {
    case 'create':
    case 'patch': {
      const revisions = plan.kind === 'create' || plan.makesRevision ? 1 : 0;
      return { kind: plan.kind, deployment, revisions, changes: plan.changes, why: reason, notes };
    }
    case 'none':
      return { kind: 'none', deployment, revisions: 0, changes: [], why: plan.why, notes };
    case 'impossible':
      return { kind: 'impossible', deployment, obstacles: plan.obstacles };
    default:
      return { kind: 'unavailable', deployment, why: reason };
  }
}
