import { cp, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { isObject } from '../../../src/contract/json-object.ts';
import { withWholeAccounts } from '../../../src/demo/github/answers/accounts.ts';
import { deliverCheckRun, deliverCheckSuite, runsOfSuite } from '../../../src/demo/github/answers/checks.ts';
import type { DeploymentRecord } from '../../../src/demo/github/answers/deployments.ts';
import { changeInstallation, deliver, type Delivery } from '../../../src/demo/github/events/deliveries.ts';
import {
  numberAt,
  type Answer,
  type ApiCall,
  type Exchange,
  type JsonObject,
} from '../../../src/demo/github/exchange.ts';
import { git, resolveCommit } from '../../../src/demo/github/git/commits.ts';
import { startGitHub, type GitHubForDemo, type GitHubSettings } from '../../../src/demo/github/github.ts';
import { fullNameOf, type Repository } from '../../../src/demo/github/repositories.ts';
import {
  administrator,
  askEmulated,
  demand,
  objectFromEmulated,
  repositoryFor,
  type Handler,
} from '../../../src/demo/github/site.ts';
import { NamesAtRest } from './names-at-rest.ts';
import { listPullFiles, movePull, openPull, PullRecords, queueForMerge, type NewPull } from './pull-requests.ts';

/** One line per request, for counting. */
export interface RequestLine {
  method: string;
  template: string;
  status: number;
  /** The calling installation; absent for the App itself and for people. */
  installationId?: number;
  /** ms since the epoch */
  at: number;
}

/** An answer in place of the real one, the answer lost after its effect, or the connection closed before it. */
type Interference = (call: ApiCall) => Answer | 'lose' | 'close' | undefined;

/** The demo's GitHub, with what else people do there and with faults. */
export interface WholeGitHub extends Omit<GitHubForDemo, 'createRepository'> {
  tokenOf(login: string): string;
  /** Makes a repository, empty or from a folder's files as its first commit. That commit is no push. */
  createRepository(
    fullName: string,
    more?: { from?: string; isPrivate?: boolean; writers?: readonly string[] },
  ): Promise<{ id: number; head: string | undefined }>;
  /** @returns the fork's `owner/name`. */
  fork(fullName: string, login: string): Promise<string>;
  rename(fullName: string, name: string): Promise<void>;
  /** The newest commit of a branch. */
  headOf(fullName: string, branch?: string): Promise<string | undefined>;
  installationId(owner: string): number;
  uninstall(owner: string): Promise<void>;
  pressButton(fullName: string, checkRunId: number, identifier: string, by?: string): Promise<Delivery | undefined>;
  pressRerun(fullName: string, checkRunId: number, by?: string): Promise<Delivery | undefined>;
  /** Re-run of all checks of a commit. */
  rerunAll(fullName: string, ref: string, by?: string): Promise<Delivery | undefined>;
  /** GitHub Deployments, oldest first. */
  deploymentsOf(fullName: string): readonly DeploymentRecord[];

  /** @returns its number. */
  openPullRequest(fullName: string, pull: NewPull & { by?: string }): Promise<number>;
  /** Puts a pull request into the merge queue. @returns the commit that the queue made. */
  queue(fullName: string, number: number): Promise<string>;
  /** All requests to the API, oldest first. */
  requests: readonly RequestLine[];
  /** Has every request looked at first, until it is called with nothing. */
  interfere(by: Interference | undefined): void;
}

/** What it is started with. */
export interface WholeGitHubSettings extends Omit<GitHubSettings, 'extension'> {
  /** Called with every request to the API and its answer. */
  onExchange?: (exchange: Exchange) => void;
}

const repo = '/repos/{owner}/{repo}';

/** Starts GitHub on this machine with everything that the tests need. */
export async function startWholeGitHub(settings: WholeGitHubSettings): Promise<WholeGitHub> {
  const requests: RequestLine[] = [];
  const names = new NamesAtRest();
  const pulls = new PullRecords();
  let interference: Interference | undefined;
  const { onExchange, ...rest } = settings;
  const github = await startGitHub({
    ...rest,
    extension: {
      operations: [
        ['GET', `${repo}/issues/{issue_number}/comments`, handOn],
        ['POST', `${repo}/issues/{issue_number}/comments`, handOn],
        ['PATCH', `${repo}/issues/comments/{comment_id}`, handOn],
        ['GET', `${repo}/pulls/{pull_number}/files`, listPullFiles(pulls)],
      ],
      around: (act) => names.keep(act),
      interfere: (call) => interference?.(call),
      answered({ call, answer }) {
        const { method, template, who } = call;
        const installation = who.kind === 'installation' ? { installationId: who.installationId } : {};
        requests.push({ method, template, status: answer.status, at: Date.now(), ...installation });
        onExchange?.({ call, answer });
      },
      async pushed(site, repository, branch, change, by) {
        for (const pull of pulls.ofBranch(repository.id, branch)) await movePull(site, repository, pull, change, by);
      },
    },
  });
  const { site } = github;
  const known = (fullName: string): Repository => {
    const repository = site.repositories.byAnyName(fullName);
    if (!repository) throw new Error(`there is no repository ${fullName}`);
    return repository;
  };
  const tokenOf = (login: string): string => {
    const token = site.people.get(login);
    if (token === undefined) throw new Error(`there is no person called ${login}`);
    return token;
  };
  const commitOf = async (repository: Repository, ref: string): Promise<string> => {
    const sha = await resolveCommit(repository.folder, ref);
    if (sha === undefined) throw new Error(`${fullNameOf(repository)} has no commit ${ref}`);
    return sha;
  };
  const runs = async (repository: Repository, sha: string): Promise<JsonObject[]> => {
    const suite = site.checks.suiteOf(repository.id, sha);
    return suite === undefined ? [] : runsOfSuite(site, repository, suite);
  };
  const runOf = async (repository: Repository, id: number): Promise<JsonObject> => {
    const record = site.checks.run(id);
    const run = record && (await runs(repository, record.sha)).find((each) => each['id'] === id);
    if (!run) throw new Error(`${fullNameOf(repository)} has no check run ${id}`);
    return run;
  };

  return {
    ...github,
    requests,
    interfere(by) {
      interference = by;
    },
    tokenOf,
    async createRepository(fullName, { from, isPrivate = false, writers = [] } = {}) {
      const repository = await github.createRepository(fullName, isPrivate);
      for (const login of writers) {
        await askEmulated(site, 'PUT', `/repos/${fullName}/collaborators/${login}`, { permission: 'push' });
      }
      const { login } = administrator(site);
      const head = from === undefined ? undefined : await fillFrom(repository, from, { login, message: 'Begin' });
      return { id: repository.id, head };
    },
    async fork(fullName, login) {
      const parent = known(fullName);
      const made = await objectFromEmulated(site, 'POST', `/repos/${fullName}/forks`, {}, login);
      const { name, isPrivate, defaultBranch } = parent;
      const forked = { id: numberAt(made, 'id') ?? 0, owner: login, name, isPrivate, defaultBranch };
      const { folder } = await site.repositories.add(forked);
      await git(folder, 'fetch', '--quiet', parent.folder, '+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*');
      return fullNameOf(forked);
    },
    async rename(fullName, name) {
      const repository = known(fullName);
      const former = repository.name;
      await names.change(async () => {
        await askEmulated(site, 'PATCH', `/repos/${fullNameOf(repository)}`, { name });
        const folder = join(dirname(repository.folder), `${name}.git`);
        await rename(repository.folder, folder);
        repository.formerNames.push(fullNameOf(repository));
        repository.name = name;
        repository.folder = folder;
      });
      const changes = { repository: { name: { from: former } } };
      await deliver(site, repository, 'repository', { action: 'renamed', changes });
    },
    headOf: (fullName, branch = known(fullName).defaultBranch) =>
      resolveCommit(known(fullName).folder, `refs/heads/${branch}`),

    installationId(owner) {
      const found = site.installations.find((each) => each.owner === owner);
      if (!found) throw new Error(`there is no organization ${owner}`);
      return found.id;
    },
    uninstall: async (owner) => changeInstallation(site, owner, 'deleted'),
    async pressButton(fullName, checkRunId, identifier, by) {
      const repository = known(fullName);
      const button = site.checks.run(checkRunId)?.actions.find((action) => action.identifier === identifier);
      if (!button) throw new Error(`check run ${checkRunId} has no button ${identifier}`);
      const run = await runOf(repository, checkRunId);
      return deliverCheckRun(site, repository, 'requested_action', run, {
        by: by ?? administrator(site).login,
        button,
      });
    },
    async pressRerun(fullName, checkRunId, by) {
      const repository = known(fullName);
      const run = await runOf(repository, checkRunId);
      return deliverCheckRun(site, repository, 'rerequested', run, { by: by ?? administrator(site).login });
    },
    async rerunAll(fullName, ref, by) {
      const repository = known(fullName);
      const suite = site.checks.suiteOf(repository.id, await commitOf(repository, ref));
      if (suite === undefined) throw new Error(`${fullName} has no checks on ${ref}`);
      return deliverCheckSuite(site, repository, 'rerequested', suite, by);
    },
    deploymentsOf: (fullName) => site.deployments.of(known(fullName).id),

    async openPullRequest(fullName, { by, ...pull }) {
      const { number } = await names.keep(() => openPull(site, pulls, known(fullName), pull, by));
      return number;
    },
    queue: (fullName, number) => queueForMerge(site, pulls, known(fullName), number),
  };
}

/** Requests that the emulated GitHub handles correctly: passed on, with complete organizations. */
const handOn: Handler = async (call, site) => {
  const { method, path, query, headers, sent, body, params, who } = call;
  if ('repo' in params) demand(who, repositoryFor(site, params, who), 'metadata', 'read');
  const search = query.size > 0 ? `?${query.toString()}` : '';
  const answer = await site.emulated.ask(
    method,
    `${path}${search}`,
    headers['authorization'],
    sent === '' || !isObject(body) ? undefined : body,
  );
  return { status: answer.status, body: withWholeAccounts(site, answer.body) };
};

/** Puts a folder's files into a repository as one commit on its default branch. `node_modules` and `.git` stay out. */
async function fillFrom(repository: Repository, from: string, by: { login: string; message: string }): Promise<string> {
  const work = await mkdtemp(join(dirname(repository.folder), '.fill-'));
  try {
    const isWanted = (path: string): boolean => !/(^|[\\/])(node_modules|\.git)([\\/]|$)/.test(relative(from, path));
    await cp(from, work, { recursive: true, filter: isWanted });
    await git(work, 'init', '--quiet', '--template=', `--initial-branch=${repository.defaultBranch}`);
    await git(work, 'add', '--all');
    const author = `${by.login} <${by.login}@users.noreply.github.com>`;
    await git(work, 'commit', '--quiet', '--allow-empty', '--author', author, '--message', by.message);
    await git(work, 'push', '--quiet', repository.folder, `HEAD:refs/heads/${repository.defaultBranch}`);
    return await git(work, 'rev-parse', 'HEAD');
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
