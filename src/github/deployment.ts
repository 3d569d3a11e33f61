import { fromJson } from '../kit/json-text.ts';
import { ofRepository, paginate, statusOf, type GitHubClient, type RepositoryName } from './client.ts';
import type { Outcome, OutcomeKind } from '../deploy/machine/outcome-types.ts';
import { asLine } from '../deploy/words/sanitize.ts';

/** A GitHub Deployment as it should stand: made once, then given a status whenever its state changes. */
export interface GitHubDeployment {
  environment: string;
  production: boolean;
  transient: boolean;
  /** Others are deployed to this environment, too: a success retires none of theirs. */
  shared?: boolean;
  state: 'queued' | 'in_progress' | 'success' | 'failure' | 'error' | 'inactive';
  description: string;
  environmentUrl?: string;
  logUrl?: string;
}

export interface DeploymentKey {
  repository: RepositoryName;
  commit: string;
  /** Our own id, stored in the deployment's payload; it finds the deployment again after a lost response. */
  externalId: string;
}

/** What became of a deployment that was to be made. */
export type CreateDeploymentResult =
  | { kind: 'made'; id: number }
  /** Nothing was made; `why` is GitHub's sentence. 202: a merge took its place. 409: a conflict or a missing check. */
  | { kind: 'not-made'; status: 202 | 409; why: string };

/** What GitHub takes of a status description, in characters. */
const descriptionLimit = 140;
/** The member of a deployment's payload that holds our external id. */
const payloadMember = 'landfall';

/**
 * The deployment of our external id on the commit and to the environment, on whatever page it is: one run may deploy to
 * several environments.
 */
async function findDeployment(
  client: GitHubClient,
  at: DeploymentKey,
  { environment }: Pick<GitHubDeployment, 'environment'>,
): Promise<number | undefined> {
  const place = { ...ofRepository(at.repository), sha: at.commit, environment };
  const deployments = paginate(
    async (page) => (await client.request('GET /repos/{owner}/{repo}/deployments', { ...place, ...page })).data,
  );
  for await (const { id, payload } of deployments) if (externalIdOf(payload) === at.externalId) return Number(id);
  return undefined;
}

/**
 * Makes the deployment where none of this external id is there. It is of the commit itself: nothing is merged into it
 * (`auto_merge`), and no other check is waited for (`required_contexts`), this one would be among them.
 */
export async function makeDeployment(
  client: GitHubClient,
  at: DeploymentKey,
  shown: GitHubDeployment,
): Promise<CreateDeploymentResult> {
  const there = await findDeployment(client, at, shown);
  if (there !== undefined) return { kind: 'made', id: there };
  try {
    const { data, status } = await client.request('POST /repos/{owner}/{repo}/deployments', {
      ...ofRepository(at.repository),
      ref: at.commit,
      auto_merge: false,
      required_contexts: [],
      payload: { [payloadMember]: at.externalId },
      environment: shown.environment,
      description: described(shown),
      transient_environment: shown.transient,
      production_environment: shown.production,
    });
    return 'id' in data && status !== 202
      ? { kind: 'made', id: Number(data.id) }
      : { kind: 'not-made', status: 202, why: messageOf(data) };
  } catch (error) {
    if (statusOf(error) !== 409) throw error;
    return { kind: 'not-made', status: 409, why: error instanceof Error ? error.message : 'a conflict' };
  }
}

/**
 * Gives the deployment its status. A success retires the earlier successes of the same environment, as far as GitHub
 * does that: those that are neither transient nor production. So one that is transient could retire none of its own,
 * and one of an environment that is shared would retire others': these retire nothing.
 *
 * @param look whether an earlier attempt may have given it this status already: then it is looked at first
 */
export async function writeDeploymentStatus(
  client: GitHubClient,
  { repository }: Pick<DeploymentKey, 'repository'>,
  id: number,
  shown: GitHubDeployment,
  { look = false }: { look?: boolean } = {},
): Promise<void> {
  const of = { ...ofRepository(repository), deployment_id: id };
  const description = described(shown);
  const newest = look ? await newestStatus(client, repository, id) : undefined;
  if (newest?.state === shown.state && newest.description === description) return;
  await client.request('POST /repos/{owner}/{repo}/deployments/{deployment_id}/statuses', {
    ...of,
    state: shown.state,
    description,
    environment: shown.environment,
    ...(shown.environmentUrl === undefined ? {} : { environment_url: shown.environmentUrl }),
    ...(shown.logUrl === undefined ? {} : { log_url: shown.logUrl }),
    auto_inactive: shown.state === 'success' && !shown.transient && !shown.shared,
  });
}

/** The newest status; undefined where there is none. */
export async function newestStatus(client: GitHubClient, repository: RepositoryName, id: number) {
  const parameters = { ...ofRepository(repository), deployment_id: id, per_page: 1 };
  const { data } = await client.request('GET /repos/{owner}/{repo}/deployments/{deployment_id}/statuses', parameters);
  return data[0];
}

function described({ description }: GitHubDeployment): string {
  const line = description.toWellFormed();
  return line.length > descriptionLimit ? `${line.slice(0, descriptionLimit - 1).toWellFormed()}…` : line;
}

/** GitHub gives a payload back as it was sent, or as the text of it. */
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
const states: Readonly<Record<OutcomeKind, GitHubDeployment['state']>> = {
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
  neutral: 'inactive',
};

/** The last status of a run's GitHub Deployment. */
export function outcomeShown(outcome: Outcome): Pick<GitHubDeployment, 'state' | 'description' | 'environmentUrl'> {
  const { kind, reason, deploymentUrl } = outcome;
  const isWeb = deploymentUrl !== undefined && /^https?:\/\//i.test(deploymentUrl) && URL.canParse(deploymentUrl);
  return {
    state: states[kind],
    description: asLine(`${kind}: ${reason}`, 140),
    ...(isWeb ? { environmentUrl: deploymentUrl } : {}),
  };
}
