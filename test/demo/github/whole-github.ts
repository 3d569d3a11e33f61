import { cp, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { recordOf, runsOf, suiteOf } from '../../../src/demo/github/answers/checks.ts';
import { changeInstallation, deliver } from '../../../src/demo/github/events/deliver.ts';
import type { Delivery } from '../../../src/demo/github/deliveries.ts';
import {
  numberAt,
  pageResponse,
  Refusal,
  type ApiResponse,
  type ApiCall,
  type Exchange,
  type JsonObject,
} from '../../../src/demo/github/exchange.ts';
import { git, resolveCommit } from '../../../src/demo/github/git/commits.ts';
import { changePull, movePull, openPull, type NewPull } from '../../../src/demo/github/pull-requests.ts';
import { queueForMerge } from './merge-queue.ts';
import { startGitHub, type GitHubForDemo, type GitHubSettings } from '../../../src/demo/github/github.ts';
import { addRepository, commitOf, knownRepository, tokenOf } from '../../../src/demo/github/people.ts';
import {
  requestEmulator,
  fullNameOf,
  repositoryFor,
  repositoryUrl,
  type Handler,
  type Repository,
  type GitHubState,
} from '../../../src/demo/github/state.ts';
import { NamesAtRest } from './names-at-rest.ts';
import { checkRunOperations, deliverCheckRun } from './check-events.ts';
import { getFileOrFolder } from './folders.ts';
import { FormerNames } from './former-names.ts';
import { getPermission, Permissions } from './permissions.ts';

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
type Interference = (call: ApiCall) => ApiResponse | 'lose' | 'close' | undefined;

/** A GitHub Deployment as GitHub shows it, with its statuses, oldest first. */
export type DeploymentOfCommit = JsonObject & { statuses: readonly JsonObject[] };

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
  deploymentsOf(fullName: string): readonly DeploymentOfCommit[];

  /** @returns its number. */
  openPullRequest(fullName: string, pull: NewPull & { by?: string }): Promise<number>;
  /** Closes a pull request, or opens it again. */
  changePullRequest(fullName: string, number: number, action: 'closed' | 'reopened'): Promise<void>;
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
  const former = new FormerNames();
  const permissions = new Permissions();
  let interference: Interference | undefined;
  const { onExchange, ...rest } = settings;
  const github = await startGitHub({
    ...rest,
    testHooks: {
      operations: [
        ['POST', '/app/installations/{installation_id}/access_tokens', permissions.createToken],
        ['DELETE', '/installation/token', endToken],
        ...checkRunOperations(repo),
        ['GET', `${repo}/check-runs/{check_run_id}/annotations`, listAnnotations],
        ['GET', `${repo}/collaborators/{username}/permission`, getPermission],
        ['GET', `${repo}/contents/{path}`, getFileOrFolder],
      ],
      wrapRequest: (act) => names.keep(act),
      rewritePath: (path) => former.located(github.state, path),
      intercept: (call) => former.redirect(github.state, call) ?? interference?.(call),
      onExchange({ call, answer }) {
        if (answer.status === 301 || answer.status === 307) return;
        const { method, template, caller } = call;
        const installation = caller.kind === 'installation' ? { installationId: caller.installationId } : {};
        requests.push({ method, template, status: answer.status, at: Date.now(), ...installation });
        onExchange?.({ call, answer });
      },
      permits: (...asked) => permissions.permits(github.state, ...asked),
      async onPush(state, repository, branch, change, by) {
        await deliverCheckSuite(state, repository, 'requested', change.after, { by, branch });
        for (const pull of state.pulls.ofBranch(repository.id, branch)) {
          await movePull(state, repository, pull, change, by);
        }
      },
    },
  });
  const { state } = github;
  const known = (fullName: string): Repository => former.find(state, fullName) ?? knownRepository(state, fullName);
  const runOf = async (repository: Repository, id: number): Promise<JsonObject> => {
    const record = state.checkRuns.get(id);
    const run = record && (await runsOf(state, repository, record.sha)).find((each) => each['id'] === id);
    if (!run) throw new Error(`${fullNameOf(repository)} has no check run ${id}`);
    return run;
  };

  return {
    ...github,
    requests,
    interfere(by) {
      interference = by;
    },
    tokenOf: (login) => tokenOf(state, login),
    async createRepository(fullName, { from, isPrivate = false, writers = [] } = {}) {
      const repository = await github.createRepository(fullName, isPrivate);
      for (const login of writers) {
        await requestEmulator(state, 'PUT', `/repos/${fullName}/collaborators/${login}`, { permission: 'push' });
      }
      const by = { login: state.administrator, message: 'Begin' };
      const head = from === undefined ? undefined : await fillFrom(repository, from, by);
      return { id: repository.id, head };
    },
    async fork(fullName, login) {
      const parent = known(fullName);
      const made = await requestEmulator(state, 'POST', `/repos/${fullName}/forks`, {}, login);
      const { name, isPrivate, defaultBranch } = parent;
      const forked = { id: numberAt(made, 'id'), owner: login, name, isPrivate, defaultBranch };
      const { folder } = await addRepository(state, forked);
      await git(folder, 'fetch', '--quiet', parent.folder, '+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*');
      return fullNameOf(forked);
    },
    async rename(fullName, name) {
      const repository = known(fullName);
      const formerName = repository.name;
      await names.change(async () => {
        await requestEmulator(state, 'PATCH', `/repos/${fullNameOf(repository)}`, { name });
        const folder = join(dirname(repository.folder), `${name}.git`);
        await rename(repository.folder, folder);
        former.keep(fullNameOf(repository), repository);
        repository.name = name;
        repository.folder = folder;
      });
      const changes = { repository: { name: { from: formerName } } };
      await deliver(state, repository, 'repository', { action: 'renamed', changes });
    },
    headOf: (fullName, branch = known(fullName).defaultBranch) =>
      resolveCommit(known(fullName).folder, `refs/heads/${branch}`),
    checkRuns: (fullName, ref) => github.checkRuns(fullNameOf(known(fullName)), ref),

    installationId(owner) {
      const found = state.installations.find((each) => each.owner === owner);
      if (!found) throw new Error(`there is no organization ${owner}`);
      return found.id;
    },
    uninstall: (owner) => changeInstallation(state, owner, 'deleted'),
    async pressButton(fullName, checkRunId, button, by = state.administrator) {
      const repository = known(fullName);
      if (!state.checkRuns.get(checkRunId)?.buttons.includes(button)) {
        throw new Error(`check run ${checkRunId} has no button ${button}`);
      }
      const run = await runOf(repository, checkRunId);
      return deliverCheckRun(state, repository, 'requested_action', run, { by, button });
    },
    async pressRerun(fullName, checkRunId, by = state.administrator) {
      const repository = known(fullName);
      return deliverCheckRun(state, repository, 'rerequested', await runOf(repository, checkRunId), { by });
    },
    async rerunAll(fullName, ref, by) {
      const repository = known(fullName);
      return deliverCheckSuite(state, repository, 'rerequested', await commitOf(repository, ref), { by });
    },
    deploymentsOf: (fullName) =>
      state.deployments
        .filter(({ repositoryId }) => repositoryId === known(fullName).id)
        .map(({ deployment, statuses }) => ({ ...deployment, statuses })),

    async openPullRequest(fullName, { by, ...pull }) {
      const { number } = await names.keep(() => openPull(state, known(fullName), pull, by));
      return number;
    },
    changePullRequest: (fullName, number, action) =>
      names.keep(() => changePull(state, known(fullName), number, action)),
    queue: (fullName, number) => queueForMerge(state, known(fullName), number),
  };
}

/** Delivers the event of a check suite: GitHub requests one at every push, and people request it again. */
async function deliverCheckSuite(
  state: GitHubState,
  repository: Repository,
  action: 'requested' | 'rerequested',
  sha: string,
  { by, branch }: { by: string | undefined; branch?: string },
): Promise<Delivery | undefined> {
  const check_suite = await suiteOf(state, repository, sha, branch);
  return deliver(state, repository, 'check_suite', { action, check_suite }, by);
}

/** A token ends itself. */
const endToken: Handler = async ({ caller }, state) => {
  if (caller.kind !== 'installation')
    throw new Refusal(403, 'You must authenticate with an installation access token.');
  state.installationTokens.delete(caller.token);
  return { status: 204 };
};

const listAnnotations: Handler = async (call, state) => {
  const repository = await repositoryFor(state, call, 'checks', 'read');
  const { annotations, sha } = recordOf(state, repository, call).record;
  const answers = annotations.map((annotation) => ({
    start_column: null,
    end_column: null,
    title: null,
    raw_details: null,
    ...annotation,
    blob_href: `${repositoryUrl(state, repository)}/git/blobs/${sha}`,
  }));
  return pageResponse(call, state.url, answers);
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
