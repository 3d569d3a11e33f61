import { notFound, paged, Refusal, textAt, type Answer, type ApiCall, type JsonObject } from '../exchange.ts';
import { resolveCommit } from '../git/commits.ts';
import type { Repository } from '../repositories.ts';
import { demand, isoNow, nodeId, repositoryFor, repositoryUrl, type Site } from '../site.ts';
import { accountAnswer, appAnswer, botOf } from './accounts.ts';

/** One GitHub Deployment as it was made. */
export interface DeploymentRecord {
  id: number;
  repositoryId: number;
  sha: string;
  ref: string;
  task: string;
  environment: string;
  description: string | null;
  payload: unknown;
  isTransient: boolean;
  isProduction: boolean;
  at: string;
  updatedAt: string;
  /** Oldest first. */
  statuses: DeploymentStatusRecord[];
}

export interface DeploymentStatusRecord {
  id: number;
  state: string;
  description: string;
  environment: string;
  environmentUrl: string;
  logUrl: string;
  at: string;
}

/** Deployments, oldest first, each with its statuses. */
export class DeploymentRecords {
  readonly #all: DeploymentRecord[] = [];
  #nextStatus = 1;

  add(made: Omit<DeploymentRecord, 'id' | 'statuses' | 'updatedAt'>): DeploymentRecord {
    const record = { ...made, id: this.#all.length + 1, statuses: [], updatedAt: made.at };
    this.#all.push(record);
    return record;
  }

  of(repositoryId: number): DeploymentRecord[] {
    return this.#all.filter((each) => each.repositoryId === repositoryId);
  }

  byId(repositoryId: number, id: number): DeploymentRecord | undefined {
    return this.#all.find((each) => each.id === id && each.repositoryId === repositoryId);
  }

  addStatus(deployment: DeploymentRecord, made: Omit<DeploymentStatusRecord, 'id'>): DeploymentStatusRecord {
    const status = { id: this.#nextStatus++, ...made };
    deployment.statuses.push(status);
    deployment.updatedAt = made.at;
    return status;
  }
}

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

export async function createDeployment(call: ApiCall, site: Site): Promise<Answer> {
  const repository = open(site, call, 'write');
  const { body } = call;
  const ref = textAt(body, 'ref') ?? '';
  const sha = ref === '' ? undefined : await resolveCommit(repository.folder, ref);
  if (sha === undefined) throw new Refusal(422, `No ref found for: ${ref}`);
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
  const sha = call.query.get('sha');
  const found = site.deployments.of(repository.id).filter((record) => sha === null || record.sha === sha);
  const answers = found.toReversed().map((record) => answerOf(site, repository, record));
  return paged(call, site.url, answers);
}

export async function createDeploymentStatus(call: ApiCall, site: Site): Promise<Answer> {
  const repository = open(site, call, 'write');
  const deployment = deploymentOf(site, repository, call);
  const { body } = call;
  const status = site.deployments.addStatus(deployment, {
    state: textAt(body, 'state') ?? '',
    description: textAt(body, 'description') ?? '',
    environment: textAt(body, 'environment') ?? deployment.environment,
    environmentUrl: textAt(body, 'environment_url') ?? '',
    logUrl: textAt(body, 'log_url') ?? textAt(body, 'target_url') ?? '',
    at: isoNow(site),
  });
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
