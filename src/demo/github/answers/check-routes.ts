import { hasCommit, resolveCommit } from '../git/commits.ts';
import { invalid, notFound, numberAt, objectAt, objectsAt, Refusal, textAt } from '../exchange.ts';
import type { Answer, ApiCall, JsonObject } from '../exchange.ts';
import { isObject } from '../../../contract/json-object.ts';
import { paged } from '../page.ts';
import { demand, objectFromEmulated, repositoryFor, repositoryUrl, type Site } from '../site.ts';
import { fullNameOf, type Repository } from '../repositories.ts';
import { deliverCheckRun, deliverCheckSuite } from '../events/check-events.ts';
import { commitOf } from './git-routes.ts';
import { latestOf, runAnswer, runsOfSuite, suiteAnswer, suiteIdOf } from './check-answers.ts';
import { problemOf, type CheckAction } from './check-records.ts';

/** Only the App writes checks; a person's token is refused as GitHub refuses it. */
function writable(site: Site, { params, who }: ApiCall): Repository {
  const repository = repositoryFor(site, params, who);
  if (who.kind === 'person') throw new Refusal(403, 'You must authenticate via a GitHub App.');
  demand(who, repository, 'checks', 'write');
  return repository;
}

function readable(site: Site, { params, who }: ApiCall): Repository {
  const repository = repositoryFor(site, params, who);
  demand(who, repository, 'checks', 'read');
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
  const repository = writable(site, call);
  const { body } = call;
  const sha = textAt(body, 'head_sha') ?? '';
  const problem = problemOf(body);
  if (problem) throw invalid('CheckRun', 'check_run', problem);
  if (!textAt(body, 'name')) throw invalid('CheckRun', 'name', 'name is required');
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
  const repository = writable(site, call);
  const { body, path, headers } = call;
  const record = site.checks.run(Number(call.params['check_run_id']));
  if (!record || record.repositoryId !== repository.id) throw notFound();
  const problem = problemOf(body);
  if (problem) throw invalid('CheckRun', 'check_run', problem);
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

export async function getRun(call: ApiCall, site: Site): Promise<Answer> {
  const repository = readable(site, call);
  const id = ownRun(call, site, repository);
  return { status: 200, body: runAnswer(site, repository, await emulatedRun(site, repository, id)) };
}

function ownRun({ params }: ApiCall, site: Site, repository: Repository): number {
  const record = site.checks.run(Number(params['check_run_id']));
  if (record?.repositoryId !== repository.id) throw notFound();
  return record.id;
}

export async function listAnnotations(call: ApiCall, site: Site): Promise<Answer> {
  const repository = readable(site, call);
  const record = site.checks.run(ownRun(call, site, repository));
  const answers = (record?.annotations ?? []).map((annotation) => ({
    start_column: null,
    end_column: null,
    title: null,
    raw_details: null,
    ...annotation,
    blob_href: `${repositoryUrl(site, repository)}/git/blobs/${record?.sha ?? ''}`,
  }));
  return paged(call, site.url, answers);
}

/** The run stays as it is: GitHub only notifies the App. */
export async function rerequestRun(call: ApiCall, site: Site): Promise<Answer> {
  const repository = writable(site, call);
  const id = ownRun(call, site, repository);
  await deliverCheckRun(
    site,
    repository,
    'rerequested',
    runAnswer(site, repository, await emulatedRun(site, repository, id)),
  );
  return { status: 201, body: {} };
}

export async function listRuns(call: ApiCall, site: Site): Promise<Answer> {
  const repository = readable(site, call);
  const sha = await commitOf(repository, call.params['ref'] ?? '');
  const suiteId = site.checks.suiteOf(repository.id, sha);
  return listed(call, site, suiteId === undefined ? [] : await runsOfSuite(site, repository, suiteId));
}

export async function listRunsOfSuite(call: ApiCall, site: Site): Promise<Answer> {
  const repository = readable(site, call);
  const suiteId = Number(call.params['check_suite_id']);
  if (site.checks.commitOfSuite(repository.id, suiteId) === undefined) throw notFound();
  return listed(call, site, await runsOfSuite(site, repository, suiteId));
}

function listed(call: ApiCall, site: Site, all: JsonObject[]): Answer {
  const { query } = call;
  const [name, status, app] = [query.get('check_name'), query.get('status'), query.get('app_id')];
  const wanted = all
    .filter((run) => name === null || run['name'] === name)
    .filter((run) => status === null || run['status'] === status)
    .filter(() => app === null || app === String(site.app.id));
  const runs = (query.get('filter') === 'all' ? wanted : latestOf(wanted)).toReversed();
  return paged(call, site.url, runs, (page) => ({ total_count: runs.length, check_runs: page }));
}

export async function createSuite(call: ApiCall, site: Site): Promise<Answer> {
  const repository = writable(site, call);
  const sha = textAt(call.body, 'head_sha') ?? '';
  if (!(await hasCommit(repository.folder, sha))) throw new Refusal(422, `No commit found for SHA: ${sha}`);
  const isNew = site.checks.suiteOf(repository.id, sha) === undefined;
  const id = await suiteIdOf(site, repository, sha);
  return { status: isNew ? 201 : 200, body: await suiteAnswer(site, repository, id) };
}

export async function getSuite(call: ApiCall, site: Site): Promise<Answer> {
  const repository = readable(site, call);
  return { status: 200, body: await suiteAnswer(site, repository, ownSuite(call, site, repository)) };
}

function ownSuite({ params }: ApiCall, site: Site, repository: Repository): number {
  const id = Number(params['check_suite_id']);
  if (site.checks.commitOfSuite(repository.id, id) === undefined) throw notFound();
  return id;
}

export async function rerequestSuite(call: ApiCall, site: Site): Promise<Answer> {
  const repository = writable(site, call);
  const id = ownSuite(call, site, repository);
  await deliverCheckSuite(site, repository, 'rerequested', await suiteAnswer(site, repository, id));
  return { status: 201, body: {} };
}

export async function listSuites(call: ApiCall, site: Site): Promise<Answer> {
  const repository = readable(site, call);
  const sha = await resolveCommit(repository.folder, call.params['ref'] ?? '');
  if (sha === undefined) throw notFound();
  const id = site.checks.suiteOf(repository.id, sha);
  const suites = id === undefined ? [] : [await suiteAnswer(site, repository, id)];
  return paged(call, site.url, suites, (page) => ({ total_count: suites.length, check_suites: page }));
}
