import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { latestOf, runsOf } from './answers/checks.ts';
import { changeInstallation } from './events/deliver.ts';
import type { Delivery } from './deliveries.ts';
import { numberAt, objectAt, textAt, type JsonObject } from './exchange.ts';
import { git, resolveCommit } from './git/commits.ts';
import { askEmulated, fullNameOf, repositoryNamed, type Repository, type Site } from './site.ts';

/** A check run as a person sees it on a commit. */
export type ShownRun = ReturnType<typeof shown>;

/** Unreachable commits stay, as GitHub keeps them; any commit may be fetched by its id. */
const bareConfig = {
  'http.receivepack': 'true',
  'receive.autogc': 'false',
  'receive.denyDeleteCurrent': 'ignore',
  'gc.auto': '0',
  'uploadpack.allowAnySHA1InWant': 'true',
  'uploadpack.allowFilter': 'true',
};

/** What people do on GitHub, and what they see. Repositories are named `owner/name`; commits by a ref or an id. */
export const peopleOf = (site: Site) => ({
  /** The address that everybody clones from. */
  gitUrl: (fullName: string): string => `${site.url}/${fullName}.git`,
  /** The same with a person's token in it, to push to; the administrator's by default. */
  pushUrl: (fullName: string, login = site.administrator): string =>
    `${site.url.replace('://', `://${login}:${tokenOf(site, login)}@`)}/${fullName}.git`,
  /** Makes an empty repository of an organization. @returns it as kept here. */
  async createRepository(fullName: string, isPrivate = false): Promise<Repository> {
    const [owner = '', name = ''] = fullName.split('/');
    const body = { name, private: isPrivate, auto_init: true };
    const made = await askEmulated(site, 'POST', `/orgs/${owner}/repos`, body);
    const defaultBranch = textAt(made, 'default_branch') ?? 'main';
    return addRepository(site, { id: numberAt(made, 'id'), owner, name, isPrivate, defaultBranch });
  },

  /** Installs the App for all repositories of an owner. */
  install: (owner: string): Promise<void> => changeInstallation(site, owner, 'created'),

  /** Where the App's webhooks go from now on. */
  sendWebhooksTo(url: string | undefined): void {
    site.app.webhookUrl = url;
  },
  /** What was delivered, every attempt by itself, oldest first. */
  deliveries: (): readonly Delivery[] => site.deliveries.all,
  /** Delivers an event again, under its GUID. */
  async deliver(guid: string): Promise<Delivery> {
    const delivery = site.deliveries.all.find((each) => each.guid === guid);
    if (!delivery) throw new Error(`nothing was delivered under ${guid}`);
    const again = site.deliveries.again(delivery);
    await site.deliveries.settled();
    return again;
  },
  /** Resolves when nothing is being delivered any more. */
  settled: (): Promise<void> => site.deliveries.settled(),

  /** The newest check run of every name on a commit. */
  async checkRuns(fullName: string, ref: string): Promise<ShownRun[]> {
    const repository = knownRepository(site, fullName);
    const runs = await runsOf(site, repository, await commitOf(repository, ref));
    return latestOf(runs).map((run) => shown(site, run));
  },
});

/** Makes the bare repository, empty. */
export async function addRepository(site: Site, made: Omit<Repository, 'folder'>): Promise<Repository> {
  const folder = join(site.folder, made.owner, `${made.name}.git`);
  await mkdir(folder, { recursive: true });
  await git(folder, 'init', '--quiet', '--bare', '--template=', `--initial-branch=${made.defaultBranch}`);
  for (const [key, value] of Object.entries(bareConfig)) await git(folder, 'config', key, value);
  const repository = { ...made, folder };
  site.repositories.push(repository);
  return repository;
}

/** @throws Error where there is no such repository. */
export function knownRepository(site: Site, fullName: string): Repository {
  const repository = repositoryNamed(site, fullName);
  if (!repository) throw new Error(`there is no repository ${fullName}`);
  return repository;
}

/** @throws Error where there is no such person. */
export function tokenOf(site: Site, login: string): string {
  const token = site.people.get(login);
  if (token === undefined) throw new Error(`there is no person called ${login}`);
  return token;
}

/** @throws Error where there is no such commit. */
export async function commitOf(repository: Repository, ref: string): Promise<string> {
  const sha = await resolveCommit(repository.folder, ref);
  if (sha === undefined) throw new Error(`${fullNameOf(repository)} has no commit ${ref}`);
  return sha;
}

function shown(site: Site, run: JsonObject) {
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
    buttons: site.checkRuns.get(id)?.buttons ?? [],
    detailsUrl: textAt(run, 'details_url') ?? '',
  };
}
