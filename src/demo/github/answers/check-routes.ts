import { hasCommit, resolveCommit } from '../git/commits.ts';
import { invalid, notFound, numberAt, objectAt, objectsAt, Refusal, textAt } from '../exchange.ts';
import type { Answer, Asked, JsonObject } from '../exchange.ts';
import { isObject } from '../../../contract/json-object.ts';
import { paged } from '../page.ts';
import { demand, objectFromEmulated, repositoryFor, repositoryUrl, type Site } from '../site.ts';
import { fullNameOf, type Repository } from '../repositories.ts';
import { tellCheckRun, tellCheckSuite } from '../events/check-events.ts';
import { commitOf } from './git-routes.ts';
import { latestOf, runAnswer, runsOfSuite, suiteAnswer, suiteIdOf } from './check-answers.ts';
import { problemOf, type CheckAction } from './check-records.ts';

/** Only the App writes checks; a person's token is refused as GitHub refuses it. */
function writable(site: Site, { params, who }: Asked): Repository {
  const repository = repositoryFor(site, params, who);
  if (who.kind === 'person') throw new Refusal(403, 'You must authenticate via a GitHub App.');
  demand(who, repository, 'checks', 'write');
  return repository;
}

function readable(site: Site, { params, who }: Asked): Repository {
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

export async function createRun(asked: Asked, site: Site): Promise<Answer> {
  const repository = writable(site, asked);
  const { body } = asked;
  const sha = textAt(body, 'head_sha') ?? '';
  const problem = problemOf(body);
  if (problem) throw invalid('CheckRun', 'check_run', problem);
  if (!textAt(body, 'name')) throw invalid('CheckRun', 'name', 'name is required');
  if (!(await hasCommit(repository.folder, sha))) throw new Refusal(422, `No commit found for SHA: ${sha}`);
  const suiteId = await suiteIdOf(site, repository, sha);
  const sent = { started_at: new Date(site.clock.now()).toISOString(), ...completed(body) };
  const { status, body: made } = await site.emulated.ask('POST', asked.path, asked.headers['authorization'], sent);
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
  await tellCheckRun(site, repository, 'created', answer);
  if (answer['status'] === 'completed') await tellCheckRun(site, repository, 'completed', answer);
  return { status, body: answer };
}

/** Annotations are added at every update; buttons are replaced where some are sent. */
export async function updateRun(asked: Asked, site: Site): Promise<Answer> {
  const repository = writable(site, asked);
  const { body, path, headers } = asked;
  const record = site.checks.run(Number(asked.params['check_run_id']));
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
    await tellCheckRun(site, repository, 'completed', answer);
  }
  return { status, body: answer };
}

const emulatedRun = (site: Site, repository: Repository, id: number): Promise<JsonObject> =>
  objectFromEmulated(site, 'GET', `/repos/${fullNameOf(repository)}/check-runs/${id}`);

export async function getRun(asked: Asked, site: Site): Promise<Answer> {
  const repository = readable(site, asked);
  const id = ownRun(asked, site, repository);
  return { status: 200, body: runAnswer(site, repository, await emulatedRun(site, repository, id)) };
}

function ownRun({ params }: Asked, site: Site, repository: Repository): number {
  const record = site.checks.run(Number(params['check_run_id']));
  if (record?.repositoryId !== repository.id) throw notFound();
  return record.id;
}

export async function listAnnotations(asked: Asked, site: Site): Promise<Answer> {
  const repository = readable(site, asked);
  const record = site.checks.run(ownRun(asked, site, repository));
  const answers = (record?.annotations ?? []).map((annotation) => ({
    start_column: null,
    end_column: null,
    title: null,
    raw_details: null,
    ...annotation,
    blob_href: `${repositoryUrl(site, repository)}/git/blobs/${record?.sha ?? ''}`,
  }));
  return paged(asked, site.url, answers);
}

/** The run stays as it is: GitHub only tells the App. */
export async function rerequestRun(asked: Asked, site: Site): Promise<Answer> {
  const repository = writable(site, asked);
  const id = ownRun(asked, site, repository);
  await tellCheckRun(
    site,
    repository,
    'rerequested',
    runAnswer(site, repository, await emulatedRun(site, repository, id)),
  );
  return { status: 201, body: {} };
}

export async function listRuns(asked: Asked, site: Site): Promise<Answer> {
  const repository = readable(site, asked);
  const sha = await commitOf(repository, asked.params['ref'] ?? '');
  const suiteId = site.checks.suiteOf(repository.id, sha);
  return listed(asked, site, suiteId === undefined ? [] : await runsOfSuite(site, repository, suiteId));
}

export async function listRunsOfSuite(asked: Asked, site: Site): Promise<Answer> {
  const repository = readable(site, asked);
  const suiteId = Number(asked.params['check_suite_id']);
  if (site.checks.commitOfSuite(repository.id, suiteId) === undefined) throw notFound();
  return listed(asked, site, await runsOfSuite(site, repository, suiteId));
}

function listed(asked: Asked, site: Site, all: JsonObject[]): Answer {
  const { query } = asked;
  const [name, status, app] = [query.get('check_name'), query.get('status'), query.get('app_id')];
  const wanted = all
    .filter((run) => name === null || run['name'] === name)
    .filter((run) => status === null || run['status'] === status)
    .filter(() => app === null || app === String(site.app.id));
  const runs = (query.get('filter') === 'all' ? wanted : latestOf(wanted)).toReversed();
  return paged(asked, site.url, runs, (page) => ({ total_count: runs.length, check_runs: page }));
}

export async function createSuite(asked: Asked, site: Site): Promise<Answer> {
  const repository = writable(site, asked);
  const sha = textAt(asked.body, 'head_sha') ?? '';
  if (!(await hasCommit(repository.folder, sha))) throw new Refusal(422, `No commit found for SHA: ${sha}`);
  const isNew = site.checks.suiteOf(repository.id, sha) === undefined;
  const id = await suiteIdOf(site, repository, sha);
  return { status: isNew ? 201 : 200, body: await suiteAnswer(site, repository, id) };
}

export async function getSuite(asked: Asked, site: Site): Promise<Answer> {
  const repository = readable(site, asked);
  return { status: 200, body: await suiteAnswer(site, repository, ownSuite(asked, site, repository)) };
}

function ownSuite({ params }: Asked, site: Site, repository: Repository): number {
  const id = Number(params['check_suite_id']);
  if (site.checks.commitOfSuite(repository.id, id) === undefined) throw notFound();
  return id;
}

export async function rerequestSuite(asked: Asked, site: Site): Promise<Answer> {
  const repository = writable(site, asked);
  const id = ownSuite(asked, site, repository);
  await tellCheckSuite(site, repository, 'rerequested', await suiteAnswer(site, repository, id));
  return { status: 201, body: {} };
}

export async function listSuites(asked: Asked, site: Site): Promise<Answer> {
  const repository = readable(site, asked);
  const sha = await resolveCommit(repository.folder, asked.params['ref'] ?? '');
  if (sha === undefined) throw notFound();
  const id = site.checks.suiteOf(repository.id, sha);
  const suites = id === undefined ? [] : [await suiteAnswer(site, repository, id)];
  return paged(asked, site.url, suites, (page) => ({ total_count: suites.length, check_suites: page }));
}
