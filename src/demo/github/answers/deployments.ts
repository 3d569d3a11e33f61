import { contains, resolveCommit } from '../git/commits.ts';
import { invalid, notFound, Refusal, textAt, type Answer, type ApiCall, type JsonObject } from '../exchange.ts';
import { paged } from '../page.ts';
import { demand, isoNow, nodeId, repositoryFor, repositoryUrl, type Site } from '../site.ts';
import type { Repository } from '../repositories.ts';
import { accountAnswer, botOf } from './accounts.ts';
import { appAnswer } from './app-answers.ts';
import { latestOf, runsOfSuite } from './check-answers.ts';
import type { DeploymentRecord, DeploymentStatusRecord } from './deployment-records.ts';
import { mostDescription, newestOf } from './statuses.ts';

const states = new Set(['error', 'failure', 'inactive', 'in_progress', 'queued', 'pending', 'success']);

function open(site: Site, { params, who }: ApiCall, level: 'read' | 'write'): Repository {
  const repository = repositoryFor(site, params, who);
  demand(who, repository, 'deployments', level);
  return repository;
}

function deploymentOf(site: Site, repository: Repository, { params }: ApiCall): DeploymentRecord {
  const record = site.deployments.byId(repository.id, Number(params['deployment_id']));
  if (!record) throw notFound();
  return record;
}

/** 409 where required checks of the commit are not good, or the default branch would have to be merged first. */
export async function createDeployment(call: ApiCall, site: Site): Promise<Answer> {
  const repository = open(site, call, 'write');
  const { body } = call;
  const ref = textAt(body, 'ref') ?? '';
  const sha = ref === '' ? undefined : await resolveCommit(repository.folder, ref);
  if (sha === undefined) throw new Refusal(422, `No ref found for: ${ref}`);
  const conflict = await conflictOf(site, repository, body, { ref, sha });
  if (conflict) throw new Refusal(409, `Conflict: ${conflict}`);
  const environment = textAt(body, 'environment') ?? 'production';
  const record = site.deployments.add({
    repositoryId: repository.id,
    sha,
    ref,
    task: textAt(body, 'task') ?? 'deploy',
    environment,
    description: textAt(body, 'description') ?? null,
    payload: body['payload'] ?? {},
    isTransient: body['transient_environment'] === true,
    isProduction:
      typeof body['production_environment'] === 'boolean'
        ? body['production_environment']
        : environment === 'production',
    at: isoNow(site),
  });
  return { status: 201, body: answerOf(site, repository, record) };
}

async function conflictOf(
  site: Site,
  repository: Repository,
  body: JsonObject,
  { ref, sha }: { ref: string; sha: string },
): Promise<string | undefined> {
  if (body['auto_merge'] !== false && ref !== repository.defaultBranch && ref !== sha) {
    const head = await resolveCommit(repository.folder, `refs/heads/${repository.defaultBranch}`);
    if (head !== undefined && !(await contains(repository.folder, sha, head))) {
      return `merging ${repository.defaultBranch} into ${ref}`;
    }
  }
  const call = body['required_contexts'];
  const contexts = Array.isArray(call) ? call.filter((each) => typeof each === 'string') : undefined;
  if (contexts?.length === 0) return undefined;
  const good = new Map(newestOf(site, repository, sha).map(({ context, state }) => [context, state === 'success']));
  const suite = site.checks.suiteOf(repository.id, sha);
  for (const run of suite === undefined ? [] : latestOf(await runsOfSuite(site, repository, suite))) {
    good.set(textAt(run, 'name') ?? '', ['success', 'neutral', 'skipped'].includes(textAt(run, 'conclusion') ?? ''));
  }
  const bad = (contexts ?? [...good.keys()]).filter((context) => good.get(context) !== true);
  return bad.length > 0 ? `commit status checks failed for ${ref}: ${bad.join(', ')}` : undefined;
}

function answerOf(site: Site, repository: Repository, record: DeploymentRecord): JsonObject {
  const url = `${repositoryUrl(site, repository)}/deployments/${record.id}`;
  return {
    url,
    id: record.id,
    node_id: nodeId('Deployment', record.id),
    sha: record.sha,
    ref: record.ref,
    task: record.task,
    payload: record.payload,
    original_environment: record.environment,
    environment: record.environment,
    description: record.description,
    creator: accountAnswer(site, botOf(site)),
    created_at: record.at,
    updated_at: record.updatedAt,
    statuses_url: `${url}/statuses`,
    repository_url: repositoryUrl(site, repository),
    transient_environment: record.isTransient,
    production_environment: record.isProduction,
    performed_via_github_app: appAnswer(site),
  };
}

export async function listDeployments(call: ApiCall, site: Site): Promise<Answer> {
  const repository = open(site, call, 'read');
  const wanted = (name: 'sha' | 'ref' | 'task' | 'environment') => (record: DeploymentRecord) => {
    const value = call.query.get(name);
    return value === null || value === 'none' || record[name] === value;
  };
  const found = site.deployments
    .of(repository.id)
    .filter(wanted('sha'))
    .filter(wanted('ref'))
    .filter(wanted('task'))
    .filter(wanted('environment'))
    .toReversed();
  const answers = found.map((record) => answerOf(site, repository, record));
  return paged(call, site.url, answers);
}

export async function getDeployment(call: ApiCall, site: Site): Promise<Answer> {
  const repository = open(site, call, 'read');
  return { status: 200, body: answerOf(site, repository, deploymentOf(site, repository, call)) };
}

export async function createDeploymentStatus(call: ApiCall, site: Site): Promise<Answer> {
  const repository = open(site, call, 'write');
  const deployment = deploymentOf(site, repository, call);
  const { body } = call;
  const state = textAt(body, 'state') ?? '';
  const description = textAt(body, 'description') ?? '';
  if (!states.has(state)) throw invalid('DeploymentStatus', 'state', 'state is not included in the list');
  if (description.length > mostDescription) {
    throw invalid('DeploymentStatus', 'description', 'description is too long (maximum is 140 characters)');
  }
  const at = isoNow(site);
  const status = site.deployments.addStatus(deployment, {
    state,
    description,
    environment: textAt(body, 'environment') ?? deployment.environment,
    environmentUrl: textAt(body, 'environment_url') ?? '',
    logUrl: textAt(body, 'log_url') ?? textAt(body, 'target_url') ?? '',
    at,
  });
  if (state === 'success' && body['auto_inactive'] !== false) site.deployments.retire(deployment, at);
  return { status: 201, body: statusAnswer(site, repository, deployment, status) };
}

function statusAnswer(
  site: Site,
  repository: Repository,
  deployment: DeploymentRecord,
  status: DeploymentStatusRecord,
): JsonObject {
  const url = `${repositoryUrl(site, repository)}/deployments/${deployment.id}`;
  return {
    url: `${url}/statuses/${status.id}`,
    id: status.id,
    node_id: nodeId('DeploymentStatus', status.id),
    state: status.state,
    creator: accountAnswer(site, botOf(site)),
    description: status.description,
    environment: status.environment,
    target_url: status.logUrl,
    created_at: status.at,
    updated_at: status.at,
    deployment_url: url,
    repository_url: repositoryUrl(site, repository),
    environment_url: status.environmentUrl,
    log_url: status.logUrl,
    performed_via_github_app: appAnswer(site),
  };
}

export async function listDeploymentStatuses(call: ApiCall, site: Site): Promise<Answer> {
  const repository = open(site, call, 'read');
  const deployment = deploymentOf(site, repository, call);
  const answers = deployment.statuses.toReversed().map((status) => statusAnswer(site, repository, deployment, status));
  return paged(call, site.url, answers);
}

export async function getDeploymentStatus(call: ApiCall, site: Site): Promise<Answer> {
  const repository = open(site, call, 'read');
  const deployment = deploymentOf(site, repository, call);
  const status = deployment.statuses.find(({ id }) => id === Number(call.params['status_id']));
  if (!status) throw notFound();
  return { status: 200, body: statusAnswer(site, repository, deployment, status) };
}
