import { isObject } from '../../../contract/json-object.ts';
import { changedFiles, type ChangedFile } from '../git/changes.ts';
import { gitOr, runGit } from '../git/run-git.ts';
import { objectAt, type JsonObject } from '../exchange.ts';
import { askEmulated, objectFromEmulated, repositoryUrl, type Site } from '../site.ts';
import { fullNameOf, type Repository } from '../repositories.ts';
import { withWholeAccounts } from './accounts.ts';
import type { PullRecord } from './pull-records.ts';
import { repositoryAnswer } from './repository-answers.ts';

/** A pull request as GitHub shows it: the emulated one with what git says. */
export async function pullAnswer(site: Site, repository: Repository, record: PullRecord): Promise<JsonObject> {
  const path = `/repos/${fullNameOf(repository)}/pulls/${record.number}`;
  return completePull(site, repository, record, await objectFromEmulated(site, 'GET', path));
}

/** Gives what the emulated GitHub answered of a pull request what git says. */
export async function completePull(
  site: Site,
  repository: Repository,
  record: PullRecord,
  emulated: JsonObject,
): Promise<JsonObject> {
  const files = await filesOf(repository, record);
  const commits = await gitOr(repository.folder, 'rev-list', '--count', `${record.baseSha}..${record.headSha}`);
  const sum = (of: 'additions' | 'deletions'): number => files.reduce((total, file) => total + file[of], 0);
  const head = site.repositories.byId(record.headRepositoryId);
  const whole = withWholeAccounts(site, emulated);
  const answer = isObject(whole) ? whole : {};
  const isMerged = record.mergedAs !== undefined;
  const statuses = `${repositoryUrl(site, repository)}/statuses/${record.headSha}`;
  return {
    ...answer,
    head: { ...objectAt(answer, 'head'), sha: record.headSha, repo: head ? await repositoryAnswer(site, head) : null },
    base: { ...objectAt(answer, 'base'), sha: record.baseSha, repo: await repositoryAnswer(site, repository) },
    statuses_url: statuses,
    _links: { ...objectAt(answer, '_links'), statuses: { href: statuses } },
    merged: isMerged,
    merged_at: isMerged ? answer['closed_at'] : null,
    merge_commit_sha: record.mergedAs ?? null,
    mergeable: record.isOpen ? await isMergeable(repository, record) : null,
    commits: Number(commits ?? 0),
    additions: sum('additions'),
    deletions: sum('deletions'),
    changed_files: files.length,
  };
}

/** What a pull request changes: its head against where it left the base branch. */
export async function filesOf(repository: Repository, { baseSha, headSha }: PullRecord): Promise<ChangedFile[]> {
  const fork = await gitOr(repository.folder, 'merge-base', baseSha, headSha);
  return changedFiles(repository.folder, fork ?? baseSha, headSha);
}

async function isMergeable({ folder }: Repository, { baseRef, headSha }: PullRecord): Promise<boolean> {
  return (
    (await runGit(folder, ['merge-tree', '--write-tree', '--no-messages', `refs/heads/${baseRef}`, headSha])).code === 0
  );
}

/** Closes a pull request of the emulated GitHub and keeps that. */
export async function closePull(site: Site, repository: Repository, record: PullRecord): Promise<void> {
  record.isOpen = false;
  await askEmulated(site, 'PATCH', `/repos/${fullNameOf(repository)}/pulls/${record.number}`, { state: 'closed' });
}
