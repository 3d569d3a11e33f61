import { isObject } from '../../../src/kit/json-object.ts';
import { deliver } from '../../../src/demo/github/events/deliver.ts';
import { commitInEvent, deliverPush } from '../../../src/demo/github/events/push-events.ts';
import { notFound, numberAt, objectAt, pageResponse, type JsonObject } from '../../../src/demo/github/exchange.ts';
import {
  changedFiles,
  git,
  gitOrUndefined,
  noCommit,
  readCommit,
  resolveCommit,
} from '../../../src/demo/github/git/commits.ts';
import {
  requestEmulator,
  fullNameOf,
  repositoryFor,
  findRepository,
  type Handler,
  type Repository,
  type GitHubState,
} from '../../../src/demo/github/state.ts';
import { fileAnswer } from '../../../src/demo/github/answers/git.ts';
import { repositoryAnswer } from '../../../src/demo/github/answers/accounts.ts';
import { withWholeAccounts } from './whole-accounts.ts';

/** A pull request as it is opened. */
export interface NewPull {
  title: string;
  /** A branch, or `owner:branch` of a fork. */
  head: string;
  base: string;
}

/** What git says of a pull request; its text is the emulated GitHub's. */
export interface PullRecord {
  number: number;
  repositoryId: number;
  headRepositoryId: number;
  headRef: string;
  headSha: string;
  baseRef: string;
  /** The base branch's commit when it was opened. */
  baseSha: string;
  isClosed: boolean;
}

/** Pull requests by repository and number. */
export class PullRecords {
  readonly #all: PullRecord[] = [];

  keep(record: PullRecord): void {
    this.#all.push(record);
  }

  byNumber(repositoryId: number, number: number): PullRecord | undefined {
    return this.#all.find((each) => each.repositoryId === repositoryId && each.number === number);
  }

  /** Those whose head is this branch, in whatever repository they were opened. */
  ofBranch(headRepositoryId: number, headRef: string): PullRecord[] {
    return this.#all.filter((each) => each.headRepositoryId === headRepositoryId && each.headRef === headRef);
  }
}

/** Opens a pull request as a person, and delivers the event. */
export async function openPull(
  state: GitHubState,
  pulls: PullRecords,
  repository: Repository,
  pull: NewPull,
  by: string | undefined,
): Promise<PullRecord> {
  const [owner, ref = ''] = pull.head.includes(':') ? pull.head.split(':') : [repository.owner, pull.head];
  const from = findRepository(state, `${owner}/${repository.name}`);
  const headSha = from && (await resolveCommit(from.folder, `refs/heads/${ref}`));
  const baseSha = await resolveCommit(repository.folder, `refs/heads/${pull.base}`);
  if (!from || headSha === undefined || baseSha === undefined) throw new Error(`there is no ${pull.head} or base`);
  const path = `/repos/${fullNameOf(repository)}/pulls`;
  const made = await requestEmulator(state, 'POST', path, { ...pull }, by);
  const record: PullRecord = {
    number: numberAt(made, 'number'),
    repositoryId: repository.id,
    headRepositoryId: from.id,
    headRef: ref,
    headSha,
    baseRef: pull.base,
    baseSha,
    isClosed: false,
  };
  pulls.keep(record);
  await fetchHead(repository, from, record);
  await deliverPull(state, repository, 'opened', record, {}, by);
  return record;
}

/** Gives a pull request the new head that was pushed to its branch, and delivers the event. */
export async function movePull(
  state: GitHubState,
  head: Repository,
  record: PullRecord,
  { before, after }: { before: string; after: string },
  by: string | undefined,
): Promise<void> {
  const base = state.repositories.find(({ id }) => id === record.repositoryId);
  if (!base) return;
  record.headSha = after;
  await fetchHead(base, head, record);
  await deliverPull(state, base, 'synchronize', record, { before, after }, by);
}

/** Has the head lie in the base repository, under the ref that GitHub keeps for every pull request. */
async function fetchHead(base: Repository, head: Repository, { number, headRef }: PullRecord): Promise<void> {
  await git(base.folder, 'fetch', '--quiet', head.folder, `+refs/heads/${headRef}:refs/pull/${number}/head`);
}

async function deliverPull(
  state: GitHubState,
  repository: Repository,
  action: 'opened' | 'synchronize' | 'closed' | 'reopened',
  record: PullRecord,
  more: JsonObject,
  by: string | undefined,
): Promise<void> {
  const pull_request = await pullAnswer(state, repository, record);
  await deliver(state, repository, 'pull_request', { action, number: record.number, pull_request, ...more }, by);
}

/** A pull request as GitHub shows it: the emulator's, with what git says of its commits. */
async function pullAnswer(state: GitHubState, repository: Repository, record: PullRecord): Promise<JsonObject> {
  const path = `/repos/${fullNameOf(repository)}/pulls/${record.number}`;
  const whole = withWholeAccounts(state, await requestEmulator(state, 'GET', path));
  const pull = isObject(whole) ? whole : {};
  const head = state.repositories.find(({ id }) => id === record.headRepositoryId);
  const headRepository = head ? await repositoryAnswer(state, head) : null;
  return {
    ...pull,
    state: record.isClosed ? 'closed' : 'open',
    head: { ...objectAt(pull, 'head'), ref: record.headRef, sha: record.headSha, repo: headRepository },
    base: { ...objectAt(pull, 'base'), sha: record.baseSha, repo: await repositoryAnswer(state, repository) },
  };
}

/** Reads a pull request. */
export const getPull =
  (pulls: PullRecords): Handler =>
  async (call, state) => {
    const repository = await repositoryFor(state, call, 'pull_requests', 'read');
    const record = pulls.byNumber(repository.id, Number(call.params['pull_number']));
    if (!record) throw notFound();
    return { status: 200, body: await pullAnswer(state, repository, record) };
  };

/** Closes a pull request, or opens it again, and delivers the event. */
export async function changePull(
  state: GitHubState,
  pulls: PullRecords,
  repository: Repository,
  number: number,
  action: 'closed' | 'reopened',
): Promise<void> {
  const record = pulls.byNumber(repository.id, number);
  if (!record) throw new Error(`there is no pull request ${number}`);
  record.isClosed = action === 'closed';
  await deliverPull(state, repository, action, record, {}, undefined);
}

/** What a pull request changes: its head against where it left the base branch. */
export const listPullFiles =
  (pulls: PullRecords): Handler =>
  async (call, state) => {
    const repository = await repositoryFor(state, call, 'pull_requests', 'read');
    const record = pulls.byNumber(repository.id, Number(call.params['pull_number']));
    if (!record) throw notFound();
    const { baseSha, headSha } = record;
    const fork = await gitOrUndefined(repository.folder, 'merge-base', baseSha, headSha);
    const files = await changedFiles(repository.folder, fork ?? baseSha, headSha);
    const answers = files.map((file) => fileAnswer(state, repository, headSha, file));
    return pageResponse(call, state.url, answers);
  };

/**
 * Makes the commit that a merge queue checks: the pull request's head merged onto the base branch, on a branch of the
 * queue's own. It is delivered as a push and as a merge group that requests its checks.
 *
 * @returns the commit.
 */
export async function queueForMerge(
  state: GitHubState,
  pulls: PullRecords,
  repository: Repository,
  number: number,
): Promise<string> {
  const record = pulls.byNumber(repository.id, number);
  if (!record) throw new Error(`there is no pull request ${number}`);
  const { folder } = repository;
  const { baseRef, headSha } = record;
  const baseSha = await git(folder, 'rev-parse', `refs/heads/${baseRef}`);
  const tree = await git(folder, 'merge-tree', '--write-tree', baseSha, headSha);
  const message = `Merge pull request #${number} from ${record.headRef}`;
  const sha = await git(folder, 'commit-tree', tree, '-p', baseSha, '-p', headSha, '-m', message);
  const ref = `refs/heads/gh-readonly-queue/${baseRef}/pr-${number}-${baseSha}`;
  await git(folder, 'update-ref', ref, sha);
  await deliverPush(state, repository, [{ ref, before: noCommit, after: sha }]);
  const merge_group = {
    head_sha: sha,
    head_ref: ref,
    base_sha: baseSha,
    base_ref: `refs/heads/${baseRef}`,
    head_commit: commitInEvent(await readCommit(folder, sha)),
  };
  await deliver(state, repository, 'merge_group', { action: 'checks_requested', merge_group });
  return sha;
}
