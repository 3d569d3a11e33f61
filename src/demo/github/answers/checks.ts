import { isObject } from '../../../kit/json-object.ts';
import {
  notFound,
  numberAt,
  objectAt,
  objectsAt,
  paged,
  Refusal,
  textAt,
  type ApiResponse,
  type ApiCall,
  type JsonObject,
} from '../exchange.ts';
import { resolveCommit } from '../git/commits.ts';
import {
  askEmulated,
  fullNameOf,
  repositoryFor,
  repositoryUrl,
  type CheckRecord,
  type Repository,
  type Site,
} from '../site.ts';
import { appAnswer } from './accounts.ts';

/** A check run as GitHub shows it: what the emulated one holds, and what it leaves out. */
function runAnswer(site: Site, repository: Repository, emulated: JsonObject): JsonObject {
  const id = numberAt(emulated, 'id');
  const app = appAnswer(site);
  return {
    ...emulated,
    details_url: emulated['details_url'] ?? app['external_url'],
    output: {
      ...objectAt(emulated, 'output'),
      annotations_count: site.checkRuns.get(id)?.annotations.length ?? 0,
      annotations_url: `${repositoryUrl(site, repository)}/check-runs/${id}/annotations`,
    },
    check_suite: { id: numberAt(objectAt(emulated, 'check_suite'), 'id') },
    app,
  };
}

/** The suite of a commit, made where there is none, as its events show it. */
export async function suiteOf(site: Site, repository: Repository, sha: string, branch?: string): Promise<JsonObject> {
  const sent = { head_sha: sha, ...(branch === undefined ? {} : { head_branch: branch }) };
  const path = `/repos/${fullNameOf(repository)}/check-suites`;
  const { repository: _, ...suite } = await askEmulated(site, 'POST', path, sent);
  return { ...suite, app: appAnswer(site) };
}

/** Every run of a commit, oldest first: the newest hundred. */
export async function runsOf(site: Site, repository: Repository, sha: string): Promise<JsonObject[]> {
  const suite = numberAt(await suiteOf(site, repository, sha), 'id');
  const path = `/repos/${fullNameOf(repository)}/check-suites/${suite}/check-runs?per_page=100`;
  // The emulated GitHub lists the newest first.
  const runs = objectsAt(await askEmulated(site, 'GET', path), 'check_runs').toReversed();
  return runs.map((run) => runAnswer(site, repository, run));
}

/** Only the newest of the runs with the same name. */
export const latestOf = (runs: readonly JsonObject[]): JsonObject[] => [
  ...new Map(runs.map((run) => [textAt(run, 'name'), run])).values(),
];

const buttonsOf = (body: JsonObject): string[] =>
  objectsAt(body, 'actions').map((action) => textAt(action, 'identifier') ?? '');

const annotationsOf = (body: JsonObject): JsonObject[] => objectsAt(objectAt(body, 'output'), 'annotations');

/** A conclusion completes a run, whether or not the status says so. */
const completed = (body: JsonObject): JsonObject =>
  body['conclusion'] == null ? body : { ...body, status: 'completed' };

export async function createRun(call: ApiCall, site: Site): Promise<ApiResponse> {
  const repository = await repositoryFor(site, call, 'checks', 'write');
  const { body, path, headers } = call;
  const sha = textAt(body, 'head_sha') ?? '';
  const isCommit = (await resolveCommit(repository.folder, sha)) === sha;
  if (!isCommit) throw new Refusal(422, `No commit found for SHA: ${sha}`);
  const sent = { started_at: new Date().toISOString(), ...completed(body) };
  const { status, body: made } = await site.emulated.ask('POST', path, headers['authorization'], sent);
  if (status !== 201 || !isObject(made)) return { status, body: made };
  const record = { repositoryId: repository.id, sha, buttons: buttonsOf(body), annotations: annotationsOf(body) };
  site.checkRuns.set(numberAt(made, 'id'), record);
  return { status, body: runAnswer(site, repository, made) };
}

/** Annotations are added at every update; buttons are replaced where some are sent. */
export async function updateRun(call: ApiCall, site: Site): Promise<ApiResponse> {
  const repository = await repositoryFor(site, call, 'checks', 'write');
  const { body, path, headers } = call;
  const { record } = recordOf(site, repository, call);
  const { status, body: made } = await site.emulated.ask('PATCH', path, headers['authorization'], completed(body));
  if (status !== 200 || !isObject(made)) return { status, body: made };
  record.annotations.push(...annotationsOf(body));
  if ('actions' in body) record.buttons = buttonsOf(body);
  return { status, body: runAnswer(site, repository, made) };
}

/** What is kept of the check run of a call; refused where the repository has none. */
export function recordOf(site: Site, repository: Repository, { params }: ApiCall): { id: number; record: CheckRecord } {
  const id = Number(params['check_run_id']);
  const record = site.checkRuns.get(id);
  if (record?.repositoryId !== repository.id) throw notFound();
  return { id, record };
}

export async function getRun(call: ApiCall, site: Site): Promise<ApiResponse> {
  const repository = await repositoryFor(site, call, 'checks', 'read');
  const { id } = recordOf(site, repository, call);
  const emulated = await askEmulated(site, 'GET', `/repos/${fullNameOf(repository)}/check-runs/${id}`);
  return { status: 200, body: runAnswer(site, repository, emulated) };
}

export async function listRuns(call: ApiCall, site: Site): Promise<ApiResponse> {
  const repository = await repositoryFor(site, call, 'checks', 'read');
  const ref = call.params['ref'] ?? '';
  const sha = await resolveCommit(repository.folder, ref);
  if (sha === undefined) throw new Refusal(422, `No commit found for SHA: ${ref}`);
  const name = call.query.get('check_name');
  const wanted = (await runsOf(site, repository, sha)).filter((run) => name === null || run['name'] === name);
  const runs = (call.query.get('filter') === 'all' ? wanted : latestOf(wanted)).toReversed();
  return paged(call, site.url, runs, (page) => ({ total_count: runs.length, check_runs: page }));
}
