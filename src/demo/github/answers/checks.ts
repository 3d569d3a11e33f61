import { isObject } from '../../../kit/json-object.ts';
import {
  notFound,
  numberAt,
  objectAt,
  objectsAt,
  pageResponse,
  Refusal,
  textAt,
  type ApiResponse,
  type ApiCall,
  type JsonObject,
} from '../exchange.ts';
import { resolveCommit } from '../git/commits.ts';
import {
  requestEmulator,
  fullNameOf,
  repositoryFor,
  repositoryUrl,
  type CheckRecord,
  type Repository,
  type GitHubState,
} from '../state.ts';
import { appAnswer } from './accounts.ts';

/** A check run: the response of `emulate` with the fields that it lacks. */
function checkRunAnswer(state: GitHubState, repository: Repository, emulated: JsonObject): JsonObject {
  const id = numberAt(emulated, 'id');
  const app = appAnswer(state);
  return {
    ...emulated,
    details_url: emulated['details_url'] ?? app['external_url'],
    output: {
      ...objectAt(emulated, 'output'),
      annotations_count: state.checkRuns.get(id)?.annotations.length ?? 0,
      annotations_url: `${repositoryUrl(state, repository)}/check-runs/${id}/annotations`,
    },
    check_suite: { id: numberAt(objectAt(emulated, 'check_suite'), 'id') },
    app,
  };
}

/** The check suite of a commit as events contain it; created if there is none. */
export async function suiteOf(
  state: GitHubState,
  repository: Repository,
  sha: string,
  branch?: string,
): Promise<JsonObject> {
  const sent = { head_sha: sha, ...(branch === undefined ? {} : { head_branch: branch }) };
  const path = `/repos/${fullNameOf(repository)}/check-suites`;
  const { repository: _, ...suite } = await requestEmulator(state, 'POST', path, sent);
  return { ...suite, app: appAnswer(state) };
}

/** The newest hundred check runs of a commit, oldest first. */
export async function runsOf(state: GitHubState, repository: Repository, sha: string): Promise<JsonObject[]> {
  const suite = numberAt(await suiteOf(state, repository, sha), 'id');
  const path = `/repos/${fullNameOf(repository)}/check-suites/${suite}/check-runs?per_page=100`;
  // `emulate` lists the newest first.
  const runs = objectsAt(await requestEmulator(state, 'GET', path), 'check_runs').toReversed();
  return runs.map((run) => checkRunAnswer(state, repository, run));
}

/** Only the newest of the runs with the same name. */
export const latestOf = (runs: readonly JsonObject[]): JsonObject[] => [
  ...new Map(runs.map((run) => [textAt(run, 'name'), run])).values(),
];

const buttonsOf = (body: JsonObject): string[] =>
  objectsAt(body, 'actions').map((action) => textAt(action, 'identifier') ?? '');

const annotationsOf = (body: JsonObject): JsonObject[] => objectsAt(objectAt(body, 'output'), 'annotations');

/** A conclusion completes a run, whether or not the status says so. */
const withCompletedStatus = (body: JsonObject): JsonObject =>
  body['conclusion'] == null ? body : { ...body, status: 'completed' };

export async function createRun(call: ApiCall, state: GitHubState): Promise<ApiResponse> {
  const repository = await repositoryFor(state, call, 'checks', 'write');
  const { body, path, headers } = call;
  const sha = textAt(body, 'head_sha') ?? '';
  const isCommit = (await resolveCommit(repository.folder, sha)) === sha;
  if (!isCommit) throw new Refusal(422, `No commit found for SHA: ${sha}`);
  const newRun = { started_at: new Date().toISOString(), ...withCompletedStatus(body) };
  const { status, body: created } = await state.emulator.request('POST', path, headers['authorization'], newRun);
  if (status !== 201 || !isObject(created)) return { status, body: created };
  const record = { repositoryId: repository.id, sha, buttons: buttonsOf(body), annotations: annotationsOf(body) };
  state.checkRuns.set(numberAt(created, 'id'), record);
  return { status, body: checkRunAnswer(state, repository, created) };
}

/** An update adds its annotations, and replaces the buttons if it has `actions`. */
export async function updateRun(call: ApiCall, state: GitHubState): Promise<ApiResponse> {
  const repository = await repositoryFor(state, call, 'checks', 'write');
  const { body, path, headers } = call;
  const { record } = recordOf(state, repository, call);
  const { status, body: updated } = await state.emulator.request(
    'PATCH',
    path,
    headers['authorization'],
    withCompletedStatus(body),
  );
  if (status !== 200 || !isObject(updated)) return { status, body: updated };
  record.annotations.push(...annotationsOf(body));
  if ('actions' in body) record.buttons = buttonsOf(body);
  return { status, body: checkRunAnswer(state, repository, updated) };
}

/** The record of a call's check run. @throws Refusal if the repository has no such run. */
export function recordOf(
  state: GitHubState,
  repository: Repository,
  { params }: ApiCall,
): { id: number; record: CheckRecord } {
  const id = Number(params['check_run_id']);
  const record = state.checkRuns.get(id);
  if (record?.repositoryId !== repository.id) throw notFound();
  return { id, record };
}

export async function getRun(call: ApiCall, state: GitHubState): Promise<ApiResponse> {
  const repository = await repositoryFor(state, call, 'checks', 'read');
  const { id } = recordOf(state, repository, call);
  const emulated = await requestEmulator(state, 'GET', `/repos/${fullNameOf(repository)}/check-runs/${id}`);
  return { status: 200, body: checkRunAnswer(state, repository, emulated) };
}

export async function listRuns(call: ApiCall, state: GitHubState): Promise<ApiResponse> {
  const repository = await repositoryFor(state, call, 'checks', 'read');
  const ref = call.params['ref'] ?? '';
  const sha = await resolveCommit(repository.folder, ref);
  if (sha === undefined) throw new Refusal(422, `No commit found for SHA: ${ref}`);
  const name = call.query.get('check_name');
  const matching = (await runsOf(state, repository, sha)).filter((run) => name === null || run['name'] === name);
  const runs = (call.query.get('filter') === 'all' ? matching : latestOf(matching)).toReversed();
  return pageResponse(call, state.url, runs, (page) => ({ total_count: runs.length, check_runs: page }));
}
