import { latestOf, runsOfSuite } from './answers/checks.ts';
import { changeInstallation, type Delivery } from './events/deliveries.ts';
import { numberAt, objectAt, textAt, type JsonObject } from './exchange.ts';
import { resolveCommit } from './git/commits.ts';
import { fullNameOf, type Repository } from './repositories.ts';
import { administrator, objectFromEmulated, type Site } from './site.ts';

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
  /** Makes an empty repository. @returns it as kept here. */
  createRepository(fullName: string, isPrivate?: boolean): Promise<Repository>;

  /** Installs the App for all repositories of an owner. */
  install(owner: string): Promise<void>;

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
  return {
    gitUrl: (fullName) => `${site.url}/${fullName}.git`,
    pushUrl: (fullName, login = administrator(site).login) =>
      `${site.url.replace('://', `://${login}:${tokenOf(login)}@`)}/${fullName}.git`,
    async createRepository(fullName, isPrivate = false) {
      const [owner = '', name = ''] = fullName.split('/');
      const path = site.accounts.get(owner)?.type === 'Organization' ? `/orgs/${owner}/repos` : '/user/repos';
      const body = { name, private: isPrivate, auto_init: true };
      const made = await objectFromEmulated(site, 'POST', path, body, path === '/user/repos' ? owner : undefined);
      const defaultBranch = textAt(made, 'default_branch') ?? 'main';
      return site.repositories.add({ id: numberAt(made, 'id') ?? 0, owner, name, isPrivate, defaultBranch });
    },

    install: async (owner) => changeInstallation(site, owner, 'created'),

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
