import { readOne } from '../git/commits.ts';
import { numberAt, objectAt, objectsAt, objectsOf, textAt, type JsonObject } from '../exchange.ts';
import { objectFromEmulated, repositoryUrl, type Site } from '../site.ts';
import { fullNameOf, type Repository } from '../repositories.ts';
import { appAnswer } from './app-answers.ts';
import { simpleCommit } from './commit-answers.ts';
import { pullsOfCommit } from './pull-records.ts';
import { repositoryAnswer } from './repository-answers.ts';

/** A check run as GitHub shows it: what the emulated one holds, and what it leaves out. */
export function runAnswer(site: Site, repository: Repository, emulated: JsonObject): JsonObject {
  const id = numberAt(emulated, 'id') ?? 0;
  const record = site.checks.run(id);
  const app = appAnswer(site);
  const suiteId = record?.suiteId ?? numberAt(objectAt(emulated, 'check_suite'), 'id') ?? 0;
  return {
    ...emulated,
    details_url: emulated['details_url'] ?? app['external_url'],
    output: {
      ...objectAt(emulated, 'output'),
      annotations_count: record?.annotations.length ?? 0,
      annotations_url: `${repositoryUrl(site, repository)}/check-runs/${id}/annotations`,
    },
    check_suite: { id: suiteId },
    app,
    pull_requests: pullsOfCommit(site, repository, textAt(emulated, 'head_sha') ?? ''),
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

/** A check suite as GitHub shows it. */
export async function suiteAnswer(site: Site, repository: Repository, suiteId: number): Promise<JsonObject> {
  const emulated = await objectFromEmulated(site, 'GET', `/repos/${fullNameOf(repository)}/check-suites/${suiteId}`);
  const sha = textAt(emulated, 'head_sha') ?? '';
  const commit = await readOne(repository.folder, sha);
  return {
    ...emulated,
    before: commit.parents[0] ?? null,
    after: sha,
    app: appAnswer(site),
    pull_requests: pullsOfCommit(site, repository, sha),
    repository: await repositoryAnswer(site, repository),
    head_commit: simpleCommit(commit),
    latest_check_runs_count: (await runsOfSuite(site, repository, suiteId)).length,
    check_runs_url: `${repositoryUrl(site, repository)}/check-suites/${suiteId}/check-runs`,
    rerequestable: true,
    runs_rerequestable: true,
  };
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
  return runs
    .map((run) => runAnswer(site, repository, run))
    .sort((a, b) => (numberAt(a, 'id') ?? 0) - (numberAt(b, 'id') ?? 0));
}

/** Only the newest of the runs with the same name, for `filter=latest`. */
export function latestOf(runs: readonly JsonObject[]): JsonObject[] {
  return [...new Map(objectsOf(runs).map((run) => [textAt(run, 'name'), run])).values()];
}
