import { deliver } from '../events/deliver.ts';
import type { Delivery } from '../events/deliveries.ts';
import { numberAt, objectAt, objectsAt, textAt, type JsonObject } from '../exchange.ts';
import { fullNameOf, type Repository } from '../repositories.ts';
import { objectFromEmulated, repositoryUrl, type Site } from '../site.ts';
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
export function runAnswer(site: Site, repository: Repository, emulated: JsonObject): JsonObject {
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
