import { isObject } from '../../kit/json-object.ts';
import type { PullRecord } from './pull-records.ts';
import { deliver } from './events/deliver.ts';
import { notFound, numberAt, objectAt, pageResponse, type JsonObject } from './exchange.ts';
import { changedFiles, git, gitOrUndefined, resolveCommit } from './git/commits.ts';
import {
  requestEmulator,
  fullNameOf,
  repositoryFor,
  findRepository,
  type Handler,
  type Repository,
  type GitHubState,
} from './state.ts';
import { fileAnswer } from './answers/git.ts';
import { repositoryAnswer, withWholeAccounts } from './answers/accounts.ts';

/** A pull request as it is opened. */
export interface NewPull {
  title: string;
  /** A branch, or `owner:branch` of a fork. */
  head: string;
  base: string;
}

/** Opens a pull request as a person, and delivers the event. */
export async function openPull(
  state: GitHubState,
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
  state.pulls.keep(record);
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
export const getPull: Handler = async (call, state) => {
  const repository = await repositoryFor(state, call, 'pull_requests', 'read');
  const record = state.pulls.byNumber(repository.id, Number(call.params['pull_number']));
  if (!record) throw notFound();
  return { status: 200, body: await pullAnswer(state, repository, record) };
};

/** Closes a pull request, or opens it again, and delivers the event. */
export async function changePull(
  state: GitHubState,
  repository: Repository,
  number: number,
  action: 'closed' | 'reopened',
): Promise<void> {
  const record = state.pulls.byNumber(repository.id, number);
  if (!record) throw new Error(`there is no pull request ${number}`);
  record.isClosed = action === 'closed';
  await deliverPull(state, repository, action, record, {}, undefined);
}

/** What a pull request changes: its head against where it left the base branch. */
export const listPullFiles: Handler = async (call, state) => {
  const repository = await repositoryFor(state, call, 'pull_requests', 'read');
  const record = state.pulls.byNumber(repository.id, Number(call.params['pull_number']));
  if (!record) throw notFound();
  const { baseSha, headSha } = record;
  const fork = await gitOrUndefined(repository.folder, 'merge-base', baseSha, headSha);
  const files = await changedFiles(repository.folder, fork ?? baseSha, headSha);
  const answers = files.map((file) => fileAnswer(state, repository, headSha, file));
  return pageResponse(call, state.url, answers);
};

/** Requests that the emulated GitHub handles correctly: passed on, with complete organizations. */
export const handOn: Handler = async (call, state) => {
  const { method, path, query, headers, rawBody, body } = call;
  await repositoryFor(state, call, 'metadata', 'read');
  const search = query.size > 0 ? `?${query.toString()}` : '';
  const answer = await state.emulator.request(
    method,
    `${path}${search}`,
    headers['authorization'],
    rawBody === '' || !isObject(body) ? undefined : body,
  );
  return { status: answer.status, body: withWholeAccounts(state, answer.body) };
};
