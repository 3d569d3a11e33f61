import { deliverCheckRun, deliverCheckSuite, latestOf, runsOfSuite } from './answers/checks.ts';
import type { DeploymentRecord } from './answers/deployments.ts';
import { openPull, type NewPull } from './answers/pulls.ts';
import { deliverRename, installApp, removeApp, type Delivery } from './events/deliveries.ts';
import { queueForMerge } from './events/push-events.ts';
import { numberAt, objectAt, textAt, type JsonObject } from './exchange.ts';
import { resolveCommit } from './git/commits.ts';
import { fillFrom, fullNameOf, type Repository } from './repositories.ts';
import { administrator, askEmulated, objectFromEmulated, type Site } from './site.ts';

/** A check run as a person sees it on a commit. */
export interface ShownRun {
  id: number;
  name: string;
  status: string;
  conclusion: string | undefined;
  title: string;
  summary: string;
  /** Identifiers of its buttons. */
  buttons: string[];
  detailsUrl: string;
}

/** What people do on GitHub, and what they see. Repositories are named `owner/name`; commits by a ref or an id. */
export interface People {
  /** The address that everybody clones from. */
  gitUrl(fullName: string): string;
  /** The same with a person's token in it, to push to; the administrator's by default. */
  pushUrl(fullName: string, login?: string): string;
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
  /** Installs the App for all repositories of an owner, and takes it away. */
  install(owner: string): Promise<void>;
  uninstall(owner: string): Promise<void>;

  /** Where the App's webhooks go from now on. */
  sendWebhooksTo(url: string | undefined): void;
  /** What was delivered, every attempt by itself, oldest first. */
  deliveries(): readonly Delivery[];
  /** Delivers an event again, under its GUID. */
  deliver(guid: string): Promise<Delivery>;
  /** Resolves when nothing is being delivered any more. */
  settled(): Promise<void>;

  /** The newest check run of every name on a commit. */
  checkRuns(fullName: string, ref: string): Promise<ShownRun[]>;
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
}

/** @param site that they are on. */
export function peopleOf(site: Site): People {
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
    gitUrl: (fullName) => `${site.url}/${fullName}.git`,
    pushUrl: (fullName, login = administrator(site).login) =>
      `${site.url.replace('://', `://${login}:${tokenOf(login)}@`)}/${fullName}.git`,
    tokenOf,
    async createRepository(fullName, { from, isPrivate = false, writers = [] } = {}) {
      const [owner = '', name = ''] = fullName.split('/');
      const path = site.accounts.get(owner)?.type === 'Organization' ? `/orgs/${owner}/repos` : '/user/repos';
      const body = { name, private: isPrivate, auto_init: true };
      const made = await objectFromEmulated(site, 'POST', path, body, path === '/user/repos' ? owner : undefined);
      const defaultBranch = textAt(made, 'default_branch') ?? 'main';
      const id = numberAt(made, 'id') ?? 0;
      const repository = await site.repositories.add({ id, owner, name, isPrivate, defaultBranch });
      for (const login of writers) {
        await askEmulated(site, 'PUT', `/repos/${fullName}/collaborators/${login}`, { permission: 'push' });
      }
      const { login } = administrator(site);
      const head = from === undefined ? undefined : await fillFrom(repository, from, { login, message: 'Begin' });
      return { id, head };
    },
    async fork(fullName, login) {
      const parent = known(fullName);
      const made = await objectFromEmulated(site, 'POST', `/repos/${fullName}/forks`, {}, login);
      const { name, isPrivate, defaultBranch } = parent;
      const forked = { id: numberAt(made, 'id') ?? 0, owner: login, name, isPrivate, defaultBranch };
      await site.repositories.add(forked, parent);
      return fullNameOf(forked);
    },
    async rename(fullName, name) {
      const repository = known(fullName);
      const former = repository.name;
      await site.names.change(async () => {
        await askEmulated(site, 'PATCH', `/repos/${fullNameOf(repository)}`, { name });
        await site.repositories.rename(repository, name);
      });
      await deliverRename(site, repository, former);
    },
    headOf: (fullName, branch = known(fullName).defaultBranch) =>
      resolveCommit(known(fullName).folder, `refs/heads/${branch}`),

    installationId(owner) {
      const found = site.installations.find((each) => each.owner === owner);
      if (!found) throw new Error(`there is no organization ${owner}`);
      return found.id;
    },
    install: async (owner) => installApp(site, owner),
    uninstall: async (owner) => removeApp(site, owner),

    sendWebhooksTo(url) {
      site.app.webhookUrl = url;
    },
    deliveries: () => site.deliveries.all(),
    async deliver(guid) {
      const delivery = site.deliveries.all().find((each) => each.guid === guid);
      if (!delivery) throw new Error(`nothing was delivered under ${guid}`);
      const again = site.deliveries.again(delivery);
      await site.deliveries.settled();
      return again;
    },
    settled: () => site.deliveries.settled(),

    async checkRuns(fullName, ref) {
      const repository = known(fullName);
      const all = await runs(repository, await commitOf(repository, ref));
      return latestOf(all).map((run) => shown(site, run));
    },
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
      const { number } = await site.names.keep(() => openPull(site, known(fullName), pull, by));
      return number;
    },
    queue: (fullName, number) => queueForMerge(site, known(fullName), number),
  };
}

function shown(site: Site, run: JsonObject): ShownRun {
  const id = numberAt(run, 'id') ?? 0;
  return {
    id,
    name: textAt(run, 'name') ?? '',
    status: textAt(run, 'status') ?? '',
    conclusion: textAt(run, 'conclusion'),
    title: textAt(objectAt(run, 'output'), 'title') ?? '',
    summary: textAt(objectAt(run, 'output'), 'summary') ?? '',
    buttons: (site.checks.run(id)?.actions ?? []).map(({ identifier }) => identifier),
    detailsUrl: textAt(run, 'details_url') ?? '',
  };
}
