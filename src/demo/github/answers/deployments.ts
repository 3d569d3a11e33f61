import { notFound, paged, Refusal, textAt, type ApiResponse, type ApiCall } from '../exchange.ts';
import { resolveCommit } from '../git/commits.ts';
import {
  nodeId,
  repositoryFor,
  repositoryUrl,
  utc,
  type DeploymentRecord,
  type Repository,
  type Site,
} from '../site.ts';
import { accountAnswer, appAnswer, botOf } from './accounts.ts';

function deploymentOf(site: Site, repository: Repository, { params }: ApiCall): DeploymentRecord {
  const record = site.deployments[Number(params['deployment_id']) - 1];
  if (record?.repositoryId !== repository.id) throw notFound();
  return record;
}

/** What deployments and their statuses have in common. */
function madeNow(site: Site, repository: Repository) {
  const at = utc(Date.now());
  return {
    creator: accountAnswer(site, botOf(site)),
    created_at: at,
    updated_at: at,
    repository_url: repositoryUrl(site, repository),
    performed_via_github_app: appAnswer(site),
  };
}

export async function createDeployment(call: ApiCall, site: Site): Promise<ApiResponse> {
  const repository = await repositoryFor(site, call, 'deployments', 'write');
  const { body } = call;
  const ref = textAt(body, 'ref') ?? '';
  const sha = await resolveCommit(repository.folder, ref);
  if (sha === undefined) throw new Refusal(422, `No ref found for: ${ref}`);
  const environment = textAt(body, 'environment') ?? 'production';
  const id = site.deployments.length + 1;
  const url = `${repositoryUrl(site, repository)}/deployments/${id}`;
  const shown = {
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
    ...madeNow(site, repository),
  };
  site.deployments.push({ repositoryId: repository.id, shown, statuses: [] });
  return { status: 201, body: shown };
}

export async function listDeployments(call: ApiCall, site: Site): Promise<ApiResponse> {
  const repository = await repositoryFor(site, call, 'deployments', 'read');
  const sha = call.query.get('sha');
  const found = site.deployments
    .filter(({ repositoryId, shown }) => repositoryId === repository.id && (sha === null || shown['sha'] === sha))
    .map(({ shown }) => shown);
  return paged(call, site.url, found.toReversed());
}

export async function createDeploymentStatus(call: ApiCall, site: Site): Promise<ApiResponse> {
  const repository = await repositoryFor(site, call, 'deployments', 'write');
  const { shown, statuses } = deploymentOf(site, repository, call);
  const { body } = call;
  const id = site.deployments.reduce((sum, each) => sum + each.statuses.length, 1);
  const logUrl = textAt(body, 'log_url') ?? textAt(body, 'target_url') ?? '';
  const status = {
    url: `${textAt(shown, 'statuses_url')}/${id}`,
    id,
    node_id: nodeId('DeploymentStatus', id),
    state: textAt(body, 'state') ?? '',
    description: textAt(body, 'description') ?? '',
    environment: textAt(body, 'environment') ?? shown['environment'],
    target_url: logUrl,
    deployment_url: shown['url'],
    environment_url: textAt(body, 'environment_url') ?? '',
    log_url: logUrl,
    ...madeNow(site, repository),
  };
  statuses.push(status);
  shown['updated_at'] = status['updated_at'];
  return { status: 201, body: status };
}

export async function listDeploymentStatuses(call: ApiCall, site: Site): Promise<ApiResponse> {
  const repository = await repositoryFor(site, call, 'deployments', 'read');
  return paged(call, site.url, deploymentOf(site, repository, call).statuses.toReversed());
}
