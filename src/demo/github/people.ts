import { isObject } from '../../kit/json-object.ts';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { latestOf, runsOf } from './answers/checks.ts';
import { accountNamed, botOf } from './answers/accounts.ts';
import { statusAnswer } from './answers/statuses.ts';
import { commentInEvent } from './answers/comments.ts';
import { changeInstallation, deliver } from './events/deliver.ts';
import type { Delivery } from './deliveries.ts';
import { changePull, openPull, type NewPull } from './pull-requests.ts';
import { numberAt, objectAt, textAt, type JsonObject } from './exchange.ts';
import { git, resolveCommit } from './git/commits.ts';
import {
  requestEmulator,
  fullNameOf,
  findRepository,
  repositoryUrl,
  type Repository,
  type GitHubState,
} from './state.ts';

/** A check run as a person sees it on a commit. */
export type ShownRun = ReturnType<typeof toShownRun>;

/** Unreachable commits stay, as GitHub keeps them; any commit may be fetched by its id. */
const bareConfig = {
  'http.receivepack': 'true',
  'receive.autogc': 'false',
  'receive.denyDeleteCurrent': 'ignore',
  'gc.auto': '0',
  'uploadpack.allowAnySHA1InWant': 'true',
  'uploadpack.allowFilter': 'true',
};

/** What people do and see on GitHub. A `fullName` is `owner/name`; a commit is given by a ref or an id. */
export const userActions = (state: GitHubState) => ({
  /** The address to clone from. */
  gitUrl: (fullName: string): string => `${state.url}/${fullName}.git`,
  /** The address to push to, with a person's token in it; by default the administrator's. */
  pushUrl: (fullName: string, login = state.administrator): string =>
    `${state.url.replace('://', `://${login}:${tokenOf(state, login)}@`)}/${fullName}.git`,
  /** Creates an empty repository of an organization. */
  async createRepository(fullName: string, isPrivate = false): Promise<Repository> {
    const [owner = '', name = ''] = fullName.split('/');
    const body = { name, private: isPrivate, auto_init: true };
    const created = await requestEmulator(state, 'POST', `/orgs/${owner}/repos`, body);
    const defaultBranch = textAt(created, 'default_branch') ?? 'main';
    return addRepository(state, { id: numberAt(created, 'id'), owner, name, isPrivate, defaultBranch });
  },

  /** Installs the App for all repositories of an owner. */
  install: (owner: string): Promise<void> => changeInstallation(state, owner, 'created'),

  /** Sets the address of the App's webhooks. */
  sendWebhooksTo(url: string | undefined): void {
    state.app.webhookUrl = url;
  },
  /** Every attempt to deliver an event, oldest first. */
  deliveries: (): readonly Delivery[] => state.deliveries.all,
  /** Delivers an event again, under its GUID. */
  async deliver(guid: string): Promise<Delivery> {
    const delivery = state.deliveries.all.find((each) => each.guid === guid);
    if (!delivery) throw new Error(`nothing was delivered under ${guid}`);
    const redelivery = state.deliveries.redeliver(delivery);
    await state.deliveries.settled();
    return redelivery;
  },
  /** Resolves when no delivery is in progress. */
  settled: (): Promise<void> => state.deliveries.settled(),

  /** @returns the number of the pull request. */
  async openPullRequest(fullName: string, { by, ...pull }: NewPull & { by?: string }): Promise<number> {
    return (await openPull(state, knownRepository(state, fullName), pull, by)).number;
  },
  /** Closes a pull request, or opens it again. */
  changePullRequest: (fullName: string, number: number, action: 'closed' | 'reopened'): Promise<void> =>
    changePull(state, knownRepository(state, fullName), number, action),
  /** Comments on a pull request, and delivers the event. @returns the id of the comment. */
  async comment(fullName: string, number: number, body: string, by = state.administrator): Promise<number> {
    const repository = knownRepository(state, fullName);
    const payload = await commentOn(state, repository, number, body, by);
    await deliver(state, repository, 'issue_comment', payload, by);
    return numberAt(payload.comment, 'id');
  },
  /** Comments on a pull request. @returns the event that GitHub starts workflows with. */
  async commentForWorkflow(fullName: string, number: number, body: string): Promise<JsonObject> {
    const { administrator: by } = state;
    const payload = await commentOn(state, knownRepository(state, fullName), number, body, by);
    return { ...payload, sender: accountNamed(state, by) };
  },
  /** Gives a job of a workflow its token. */
  async jobToken(fullName: string): Promise<string> {
    const installation = state.installations.find(({ owner }) => owner === knownRepository(state, fullName).owner);
    if (!installation) throw new Error(`there is no organization of ${fullName}`);
    const token = await state.emulator.jobToken(installation.id);
    // A job has its token whether our App is installed or not.
    state.installationTokens.set(token, { ...installation, isInstalled: true });
    return token;
  },
  /** What the App says in its comments on a pull request; else what another author says. */
  async commentsOf(fullName: string, number: number, login = botOf(state).login): Promise<string[]> {
    const token = `token ${tokenOf(state, state.administrator)}`;
    const path = `/repos/${fullName}/issues/${number}/comments?per_page=100`;
    const { body } = await state.emulator.request('GET', path, token);
    const comments = Array.isArray(body) ? body.filter(isObject) : [];
    const own = comments.filter((each) => textAt(objectAt(each, 'user'), 'login') === login);
    return own.map((each) => textAt(each, 'body') ?? '');
  },
  /** The reactions of programs to a comment, in order. */
  reactionsTo: (commentId: number): readonly string[] => state.reactions.get(commentId) ?? [],

  /** Gives a commit a status, as a program of a person does. */
  async setStatus(
    fullName: string,
    ref: string,
    context: string,
    result: 'pending' | 'success' | 'failure',
    by = state.administrator,
  ): Promise<void> {
    const repository = knownRepository(state, fullName);
    const sha = await commitOf(repository, ref);
    const status = statusAnswer(state, repository, sha, { context, result });
    state.statuses.push({ repositoryId: repository.id, sha, status });
    await deliver(state, repository, 'status', { ...status, sha, name: fullName, branches: [] }, by);
  },

  /** The newest check run of every name on a commit. */
  async checkRuns(fullName: string, ref: string): Promise<ShownRun[]> {
    const repository = knownRepository(state, fullName);
    const runs = await runsOf(state, repository, await commitOf(repository, ref));
    return latestOf(runs).map((run) => toShownRun(state, run));
  },
});

/** Comments on a pull request as a person. @returns the event about it, without what all events have. */
async function commentOn(state: GitHubState, repository: Repository, number: number, body: string, by: string) {
  const at = `/repos/${fullNameOf(repository)}`;
  const comment = commentInEvent(await requestEmulator(state, 'POST', `${at}/issues/${number}/comments`, { body }, by));
  const pull = await requestEmulator(state, 'GET', `${at}/pulls/${number}`);
  const { id, node_id, title, state: isOpen, user } = pull;
  const pull_request = { url: `${repositoryUrl(state, repository)}/pulls/${number}` };
  const issue = { id, node_id, number, title, state: isOpen, user, locked: false, pull_request };
  return { action: 'created', issue, comment };
}

/** Creates the empty bare repository on disk, and records it. */
export async function addRepository(state: GitHubState, fields: Omit<Repository, 'folder'>): Promise<Repository> {
  const folder = join(state.folder, fields.owner, `${fields.name}.git`);
  await mkdir(folder, { recursive: true });
  await git(folder, 'init', '--quiet', '--bare', '--template=', `--initial-branch=${fields.defaultBranch}`);
  for (const [key, value] of Object.entries(bareConfig)) await git(folder, 'config', key, value);
  const repository = { ...fields, folder };
  state.repositories.push(repository);
  return repository;
}

/** @throws Error if there is no such repository. */
export function knownRepository(state: GitHubState, fullName: string): Repository {
  const repository = findRepository(state, fullName);
  if (!repository) throw new Error(`there is no repository ${fullName}`);
  return repository;
}

/** @throws Error if there is no such person. */
export function tokenOf(state: GitHubState, login: string): string {
  const token = state.personalTokens.get(login);
  if (token === undefined) throw new Error(`there is no person called ${login}`);
  return token;
}

/** @throws Error if there is no such commit. */
export async function commitOf(repository: Repository, ref: string): Promise<string> {
  const sha = await resolveCommit(repository.folder, ref);
  if (sha === undefined) throw new Error(`${fullNameOf(repository)} has no commit ${ref}`);
  return sha;
}

function toShownRun(state: GitHubState, run: JsonObject) {
  const id = numberAt(run, 'id');
  const output = objectAt(run, 'output');
  return {
    id,
    name: textAt(run, 'name') ?? '',
    status: textAt(run, 'status') ?? '',
    conclusion: textAt(run, 'conclusion'),
    title: textAt(output, 'title') ?? '',
    summary: textAt(output, 'summary') ?? '',
    /** Identifiers of its buttons. */
    buttons: state.checkRuns.get(id)?.buttons ?? [],
    detailsUrl: textAt(run, 'details_url') ?? '',
  };
}
