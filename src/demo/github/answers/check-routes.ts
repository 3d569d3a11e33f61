import { isObject } from '../../../contract/json-object.ts';
import { notFound, numberAt, objectAt, objectsAt, paged, Refusal, textAt } from '../exchange.ts';
import type { Answer, ApiCall, JsonObject } from '../exchange.ts';
import { hasCommit, resolveCommit } from '../git/commits.ts';
import { fullNameOf, type Repository } from '../repositories.ts';
import { demand, objectFromEmulated, repositoryFor, repositoryUrl, type Site } from '../site.ts';
import { deliverCheckRun, latestOf, runAnswer, runsOfSuite, suiteIdOf } from './checks.ts';
import type { CheckAction, CheckRecord } from './checks.ts';

function open(site: Site, { params, who }: ApiCall, level: 'read' | 'write'): Repository {
  const repository = repositoryFor(site, params, who);
  demand(who, repository, 'checks', level);
  return repository;
}

const actionsOf = (body: JsonObject): CheckAction[] =>
  objectsAt(body, 'actions').map((action) => ({
    label: textAt(action, 'label') ?? '',
    description: textAt(action, 'description') ?? '',
    identifier: textAt(action, 'identifier') ?? '',
  }));

/** A conclusion completes a run, whether or not the status says so. */
const completed = (body: JsonObject): JsonObject =>
  body['conclusion'] == null ? body : { ...body, status: 'completed' };

export async function createRun(call: ApiCall, site: Site): Promise<Answer> {
  const repository = open(site, call, 'write');
  const { body } = call;
  const sha = textAt(body, 'head_sha') ?? '';
  if (!(await hasCommit(repository.folder, sha))) throw new Refusal(422, `No commit found for SHA: ${sha}`);
  const suiteId = await suiteIdOf(site, repository, sha);
  const sent = { started_at: new Date(site.clock.now()).toISOString(), ...completed(body) };
  const { status, body: made } = await site.emulated.ask('POST', call.path, call.headers['authorization'], sent);
  if (status !== 201 || !isObject(made)) return { status, body: made };
  site.checks.keep({
    id: numberAt(made, 'id') ?? 0,
    repositoryId: repository.id,
    sha,
    suiteId,
    actions: actionsOf(body),
    annotations: objectsAt(objectAt(body, 'output'), 'annotations'),
  });
  const answer = runAnswer(site, repository, made);
  await deliverCheckRun(site, repository, 'created', answer);
  if (answer['status'] === 'completed') await deliverCheckRun(site, repository, 'completed', answer);
  return { status, body: answer };
}

/** Annotations are added at every update; buttons are replaced where some are sent. */
export async function updateRun(call: ApiCall, site: Site): Promise<Answer> {
  const repository = open(site, call, 'write');
  const { body, path, headers } = call;
  const record = recordOf(site, repository, call);
  const before = await emulatedRun(site, repository, record.id);
  const { status, body: made } = await site.emulated.ask('PATCH', path, headers['authorization'], completed(body));
  if (status !== 200 || !isObject(made)) return { status, body: made };
  record.annotations.push(...objectsAt(objectAt(body, 'output'), 'annotations'));
  if ('actions' in body) record.actions = actionsOf(body);
  const answer = runAnswer(site, repository, made);
  if (before['status'] !== 'completed' && answer['status'] === 'completed') {
    await deliverCheckRun(site, repository, 'completed', answer);
  }
  return { status, body: answer };
}

const emulatedRun = (site: Site, repository: Repository, id: number): Promise<JsonObject> =>
  objectFromEmulated(site, 'GET', `/repos/${fullNameOf(repository)}/check-runs/${id}`);

function recordOf(site: Site, repository: Repository, { params }: ApiCall): CheckRecord {
  const record = site.checks.run(Number(params['check_run_id']));
  if (record?.repositoryId !== repository.id) throw notFound();
  return record;
}

export async function getRun(call: ApiCall, site: Site): Promise<Answer> {
  const repository = open(site, call, 'read');
  const { id } = recordOf(site, repository, call);
  return { status: 200, body: runAnswer(site, repository, await emulatedRun(site, repository, id)) };
}

export async function listAnnotations(call: ApiCall, site: Site): Promise<Answer> {
  const repository = open(site, call, 'read');
  const { annotations, sha } = recordOf(site, repository, call);
  const answers = annotations.map((annotation) => ({
    start_column: null,
    end_column: null,
    title: null,
    raw_details: null,
    ...annotation,
    blob_href: `${repositoryUrl(site, repository)}/git/blobs/${sha}`,
  }));
  return paged(call, site.url, answers);
}

export async function listRuns(call: ApiCall, site: Site): Promise<Answer> {
  const repository = open(site, call, 'read');
  const ref = call.params['ref'] ?? '';
  const sha = await resolveCommit(repository.folder, ref);
  if (sha === undefined) throw new Refusal(422, `No commit found for SHA: ${ref}`);
  const suiteId = site.checks.suiteOf(repository.id, sha);
  const all = suiteId === undefined ? [] : await runsOfSuite(site, repository, suiteId);
  const name = call.query.get('check_name');
  const wanted = all.filter((run) => name === null || run['name'] === name);
  const runs = (call.query.get('filter') === 'all' ? wanted : latestOf(wanted)).toReversed();
  return paged(call, site.url, runs, (page) => ({ total_count: runs.length, check_runs: page }));
}
