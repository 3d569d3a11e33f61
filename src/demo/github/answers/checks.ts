import { isObject } from '../../../contract/json-object.ts';
import { deliver, type Delivery } from '../events/deliveries.ts';
import {
  notFound,
  numberAt,
  objectAt,
  objectsAt,
  paged,
  Refusal,
  textAt,
  type Answer,
  type ApiCall,
  type JsonObject,
} from '../exchange.ts';
import { hasCommit, resolveCommit } from '../git/commits.ts';
import { fullNameOf, type Repository } from '../repositories.ts';
import { demand, objectFromEmulated, repositoryFor, repositoryUrl, type Site } from '../site.ts';
import { appAnswer, botOf } from './accounts.ts';

/** A button of a check run. */
export interface CheckAction {
  label: string;
  description: string;
  identifier: string;
}

/** What GitHub keeps of a check run and the emulated one does not. */
export interface CheckRecord {
  id: number;
  repositoryId: number;
  sha: string;
  suiteId: number;
  actions: CheckAction[];
  annotations: JsonObject[];
}

/** Which check runs and suites there are, by commit. */
export class Checks {
  readonly #runs = new Map<number, CheckRecord>();
  readonly #suites = new Map<string, number>();

  keep(record: CheckRecord): void {
    this.#runs.set(record.id, record);
  }

  run(id: number): CheckRecord | undefined {
    return this.#runs.get(id);
  }

  keepSuite(repositoryId: number, sha: string, suiteId: number): void {
    this.#suites.set(`${repositoryId} ${sha}`, suiteId);
  }

  suiteOf(repositoryId: number, sha: string): number | undefined {
    return this.#suites.get(`${repositoryId} ${sha}`);
  }
}

/** A check run as GitHub shows it: what the emulated one holds, and what it leaves out. */
function runAnswer(site: Site, repository: Repository, emulated: JsonObject): JsonObject {
  const id = numberAt(emulated, 'id') ?? 0;
  const record = site.checks.run(id);
  const app = appAnswer(site);
  return {
    ...emulated,
    details_url: emulated['details_url'] ?? app['external_url'],
    output: {
      ...objectAt(emulated, 'output'),
      annotations_count: record?.annotations.length ?? 0,
      annotations_url: `${repositoryUrl(site, repository)}/check-runs/${id}/annotations`,
    },
    check_suite: { id: numberAt(objectAt(emulated, 'check_suite'), 'id') ?? 0 },
    app,
  };
}

/** The suite of a commit, made where there is none: GitHub makes one for every push. */
export async function suiteIdOf(site: Site, repository: Repository, sha: string, branch?: string): Promise<number> {
  const known = site.checks.suiteOf(repository.id, sha);
  if (known !== undefined) return known;
  const made = await objectFromEmulated(site, 'POST', `/repos/${fullNameOf(repository)}/check-suites`, {
    head_sha: sha,
    ...(branch === undefined ? {} : { head_branch: branch }),
  });
  const id = numberAt(made, 'id') ?? 0;
  site.checks.keepSuite(repository.id, sha, id);
  return id;
}

/** A check suite as its events show it. */
async function suiteAnswer(site: Site, repository: Repository, suiteId: number): Promise<JsonObject> {
  const path = `/repos/${fullNameOf(repository)}/check-suites/${suiteId}`;
  const { repository: _, ...suite } = await objectFromEmulated(site, 'GET', path);
  return { ...suite, app: appAnswer(site) };
}

/** Every run of a suite, oldest first. */
export async function runsOfSuite(site: Site, repository: Repository, suiteId: number): Promise<JsonObject[]> {
  const runs: JsonObject[] = [];
  for (let page = 1; ; page += 1) {
    const path = `/repos/${fullNameOf(repository)}/check-suites/${suiteId}/check-runs?per_page=100&page=${page}`;
    const found = objectsAt(await objectFromEmulated(site, 'GET', path), 'check_runs');
    runs.push(...found);
    if (found.length < 100) break;
  }
  // The emulated GitHub lists the newest first.
  return runs.toReversed().map((run) => runAnswer(site, repository, run));
}

/** Only the newest of the runs with the same name. */
export const latestOf = (runs: readonly JsonObject[]): JsonObject[] => [
  ...new Map(runs.map((run) => [textAt(run, 'name'), run])).values(),
];

/**
 * Delivers the event of a check run.
 *
 * @param run as GitHub shows it.
 * @param more the person and the button, for a requested action.
 */
export async function deliverCheckRun(
  site: Site,
  repository: Repository,
  action: 'created' | 'completed' | 'rerequested' | 'requested_action',
  run: JsonObject,
  more: { by?: string; button?: CheckAction } = {},
): Promise<Delivery | undefined> {
  const suite = await suiteAnswer(site, repository, numberAt(objectAt(run, 'check_suite'), 'id') ?? 0);
  const payload = {
    action,
    check_run: { ...run, check_suite: suite },
    ...(more.button === undefined ? {} : { requested_action: { identifier: more.button.identifier } }),
  };
  return deliver(site, repository, 'check_run', payload, more.by ?? botOf(site).login);
}

/** Delivers the event of a check suite: GitHub requests one at every push, and people request it again. */
export async function deliverCheckSuite(
  site: Site,
  repository: Repository,
  action: 'requested' | 'rerequested',
  suiteId: number,
  by?: string,
): Promise<Delivery | undefined> {
  const check_suite = await suiteAnswer(site, repository, suiteId);
  return deliver(site, repository, 'check_suite', { action, check_suite }, by);
}

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
