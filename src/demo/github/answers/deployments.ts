import { notFound, pageResponse, Refusal, textAt, type ApiResponse, type ApiCall } from '../exchange.ts';
import { resolveCommit } from '../git/commits.ts';
import {
  nodeId,
  repositoryFor,
  repositoryUrl,
  utc,
  type DeploymentRecord,
  type Repository,
  type GitHubState,
} from '../state.ts';
import { accountAnswer, appAnswer, botOf } from './accounts.ts';

/** No repository here has rules for an environment. */
export async function getEnvironment(call: ApiCall, state: GitHubState): Promise<ApiResponse> {
  await repositoryFor(state, call, 'actions', 'read');
  throw notFound();
}

function deploymentRecord(state: GitHubState, repository: Repository, { params }: ApiCall): DeploymentRecord {
  const record = state.deployments[Number(params['deployment_id']) - 1];
  if (record?.repositoryId !== repository.id) throw notFound();
  return record;
}

/** The fields that deployments and their statuses have in common. */
function commonFields(state: GitHubState, repository: Repository) {
  const at = utc(Date.now());
  return {
    creator: accountAnswer(state, botOf(state)),
    created_at: at,
    updated_at: at,
    repository_url: repositoryUrl(state, repository),
    performed_via_github_app: appAnswer(state),
  };
}

export async function createDeployment(call: ApiCall, state: GitHubState): Promise<ApiResponse> {
  const repository = await repositoryFor(state, call, 'deployments', 'write');
  const { body } = call;
  const ref = textAt(body, 'ref') ?? '';
  const sha = await resolveCommit(repository.folder, ref);
  if (sha === undefined) throw new Refusal(422, `No ref found for: ${ref}`);
  const environment = textAt(body, 'environment') ?? 'production';
  const id = state.deployments.length + 1;
  const url = `${repositoryUrl(state, repository)}/deployments/${id}`;
  const deployment = {
    url,
    id,
    node_id: nodeId('Deployment', id),
    sha,
    ref,
    task: textAt(body, 'task') ?? 'deploy',
    payload: body['payload'] ?? {},
    original_environment: environment,
    environment,
    description: textAt(body, 'description') ?? null,
    statuses_url: `${url}/statuses`,
    transient_environment: body['transient_environment'] ?? false,
    production_environment: body['production_environment'] ?? environment === 'production',
    ...commonFields(state, repository),
  };
  state.deployments.push({ repositoryId: repository.id, deployment, statuses: [] });
  return { status: 201, body: deployment };
}

export async function listDeployments(call: ApiCall, state: GitHubState): Promise<ApiResponse> {
  const repository = await repositoryFor(state, call, 'deployments', 'read');
  const sha = call.query.get('sha');
  const found = state.deployments
    .filter(
      ({ repositoryId, deployment }) => repositoryId === repository.id && (sha === null || deployment['sha'] === sha),
    )
    .map(({ deployment }) => deployment);
  return pageResponse(call, state.url, found.toReversed());
}

export async function createDeploymentStatus(call: ApiCall, state: GitHubState): Promise<ApiResponse> {
  const repository = await repositoryFor(state, call, 'deployments', 'write');
  const { deployment, statuses } = deploymentRecord(state, repository, call);
  const { body } = call;
  const id = state.deployments.reduce((sum, each) => sum + each.statuses.length, 1);
  const logUrl = textAt(body, 'log_url') ?? textAt(body, 'target_url') ?? '';
  const status = {
    url: `${textAt(deployment, 'statuses_url')}/${id}`,
    id,
    node_id: nodeId('DeploymentStatus', id),
    state: textAt(body, 'state') ?? '',
    description: textAt(body, 'description') ?? '',
    environment: textAt(body, 'environment') ?? deployment['environment'],
    target_url: logUrl,
    deployment_url: deployment['url'],
    environment_url: textAt(body, 'environment_url') ?? '',
    log_url: logUrl,
    ...commonFields(state, repository),
  };
  statuses.push(status);
  deployment['updated_at'] = status['updated_at'];
  return { status: 201, body: status };
}

export async function listDeploymentStatuses(call: ApiCall, state: GitHubState): Promise<ApiResponse> {
  const repository = await repositoryFor(state, call, 'deployments', 'read');
  return pageResponse(call, state.url, deploymentRecord(state, repository, call).statuses.toReversed());
}
