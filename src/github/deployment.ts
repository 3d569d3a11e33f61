import { fromJson } from '../kit/json-text.ts';
import { repositoryParameters, paginate, statusOf, type GitHubClient, type RepositoryName } from './client.ts';
import type { OutcomeKind } from '../contract/outcome-kinds.ts';
import type { Outcome } from '../deploy/machine/outcome-types.ts';
import { asLine } from '../deploy/words/sanitize.ts';

/** The desired state of a GitHub Deployment: it is created once, then gets a status for each change. */
export interface GitHubDeployment {
  environment: string;
  production: boolean;
  transient: boolean;
  /** Whether others deploy to this environment too. Then a success must not set their deployments to inactive. */
  shared?: boolean;
  state: 'queued' | 'in_progress' | 'success' | 'failure' | 'error' | 'inactive';
  description: string;
  environmentUrl?: string;
  logUrl?: string;
}

/** Identifies a GitHub Deployment. */
export interface DeploymentKey {
  repository: RepositoryName;
  commit: string;
  /** Our own id, stored in the deployment's payload; it finds the deployment again after a lost response. */
  externalId: string;
}

/** The result of creating a deployment. */
export type CreateDeploymentResult =
  | { kind: 'made'; id: number }
  /** `reason` is GitHub's message. 202: GitHub merged instead. 409: a conflict or a missing check. */
  | { kind: 'not-made'; status: 202 | 409; reason: string };

/** GitHub's limit of a status description, in characters. */
const descriptionLimit = 140;
/** The property of a deployment's payload that contains our external id. */
const payloadMember = 'landfall';

/**
 * Finds the deployment with our external id for the commit and the environment: one run may deploy to several
 * environments.
 */
async function findDeployment(
  client: GitHubClient,
  at: DeploymentKey,
  { environment }: Pick<GitHubDeployment, 'environment'>,
): Promise<number | undefined> {
  const parameters = { ...repositoryParameters(at.repository), sha: at.commit, environment };
  const deployments = paginate(
    async (page) => (await client.request('GET /repos/{owner}/{repo}/deployments', { ...parameters, ...page })).data,
  );
  for await (const { id, payload } of deployments) if (externalIdOf(payload) === at.externalId) return Number(id);
  return undefined;
}

/**
 * Creates the deployment unless one with this external id exists. It merges nothing into the commit (`auto_merge`) and
 * waits for no checks (`required_contexts`), which would include our own.
 */
export async function createDeployment(
  client: GitHubClient,
  at: DeploymentKey,
  desired: GitHubDeployment,
): Promise<CreateDeploymentResult> {
  const existing = await findDeployment(client, at, desired);
  if (existing !== undefined) return { kind: 'made', id: existing };
  try {
    const { data, status } = await client.request('POST /repos/{owner}/{repo}/deployments', {
      ...repositoryParameters(at.repository),
      ref: at.commit,
      auto_merge: false,
      required_contexts: [],
      payload: { [payloadMember]: at.externalId },
      environment: desired.environment,
      description: descriptionOf(desired),
      transient_environment: desired.transient,
      production_environment: desired.production,
    });
    return 'id' in data && status !== 202
      ? { kind: 'made', id: Number(data.id) }
      : { kind: 'not-made', status: 202, reason: messageOf(data) };
  } catch (error) {
    if (statusOf(error) !== 409) throw error;
    return { kind: 'not-made', status: 409, reason: error instanceof Error ? error.message : 'a conflict' };
  }
}

/**
 * Adds a status to the deployment. On a success, GitHub sets the earlier deployments of the environment to inactive
 * that are neither transient nor production (`auto_inactive`). This is switched off for transient deployments, where it
 * has no use, and for shared environments, where it would affect those of others.
 *
 * @param options.checkFirst whether an earlier attempt may have added this status already: then it is read first
 */
export async function writeDeploymentStatus(
  client: GitHubClient,
  { repository }: Pick<DeploymentKey, 'repository'>,
  id: number,
  shown: GitHubDeployment,
  { checkFirst = false }: { checkFirst?: boolean } = {},
): Promise<void> {
  const parameters = { ...repositoryParameters(repository), deployment_id: id };
  const description = descriptionOf(shown);
  const newest = checkFirst ? await newestStatus(client, repository, id) : undefined;
  if (newest?.state === shown.state && newest.description === description) return;
  await client.request('POST /repos/{owner}/{repo}/deployments/{deployment_id}/statuses', {
    ...parameters,
    state: shown.state,
    description,
    environment: shown.environment,
    ...(shown.environmentUrl === undefined ? {} : { environment_url: shown.environmentUrl }),
    ...(shown.logUrl === undefined ? {} : { log_url: shown.logUrl }),
    auto_inactive: shown.state === 'success' && !shown.transient && !shown.shared,
  });
}

/** The newest status; undefined if there is none. */
export async function newestStatus(client: GitHubClient, repository: RepositoryName, id: number) {
  const parameters = { ...repositoryParameters(repository), deployment_id: id, per_page: 1 };
  const { data } = await client.request('GET /repos/{owner}/{repo}/deployments/{deployment_id}/statuses', parameters);
  return data[0];
}

function descriptionOf({ description }: GitHubDeployment): string {
  const line = description.toWellFormed();
  return line.length > descriptionLimit ? `${line.slice(0, descriptionLimit - 1).toWellFormed()}…` : line;
}

/** GitHub returns a payload as it was sent, or as JSON text. */
export function externalIdOf(payload: unknown): unknown {
  const value = typeof payload === 'string' ? fromJson(payload) : payload;
  return typeof value === 'object' && value !== null ? Reflect.get(value, payloadMember) : undefined;
}

const messageOf = (data: unknown): string =>
  typeof data === 'object' && data !== null && 'message' in data && typeof data.message === 'string'
    ? data.message
    : 'GitHub merged instead';

/**
 * The final state of a GitHub Deployment. Only a live revision without failed tests is a `success`; `error` is an
 * unknown result, `inactive` a revision that another one replaced.
 */
export const stateByOutcome: Readonly<Record<OutcomeKind, GitHubDeployment['state']>> = {
  deployed: 'success',
  unchanged: 'success',
  started: 'in_progress',
  planned: 'inactive',
  'rolled-back': 'failure',
  discarded: 'failure',
  deleted: 'inactive',
  superseded: 'inactive',
  failed: 'failure',
  broken: 'failure',
  unproven: 'error',
  interrupted: 'error',
  'timed-out': 'error',
  refused: 'error',
  frozen: 'inactive',
  neutral: 'inactive',
};

/** The last status of a run's GitHub Deployment. */
export function outcomeStatus(outcome: Outcome): Pick<GitHubDeployment, 'state' | 'description' | 'environmentUrl'> {
  const { kind, reason, deploymentUrl } = outcome;
  const isWeb = deploymentUrl !== undefined && /^https?:\/\//i.test(deploymentUrl) && URL.canParse(deploymentUrl);
  return {
    state: stateByOutcome[kind],
    description: asLine(`${kind}: ${reason}`, 140),
    ...(isWeb ? { environmentUrl: deploymentUrl } : {}),
  };
}
