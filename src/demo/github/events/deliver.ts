import { accountAnswer, botOf, installationAnswer, personOf } from '../answers/accounts.ts';
import { repositoryAnswer } from '../answers/repositories.ts';
import type { JsonObject } from '../exchange.ts';
import { fullNameOf, type Repository } from '../repositories.ts';
import { administrator, installationOf, nodeId, type Site } from '../site.ts';
import type { Delivery } from './deliveries.ts';

/** What an App that writes checks gets whatever it subscribed to. */
const ofChecks = /^(check_run\.(rerequested|requested_action)|check_suite\.(requested|rerequested))$/;

/** Sends an event of a repository to the App, if it is installed there and subscribes to such events. */
export async function deliver(
  site: Site,
  repository: Repository,
  event: string,
  payload: JsonObject,
  by?: string,
): Promise<Delivery | undefined> {
  const installation = installationOf(site, repository);
  const { action } = payload;
  const name = typeof action === 'string' ? `${event}.${action}` : event;
  const isWanted =
    site.app.events.includes(event) || (ofChecks.test(name) && site.app.permissions['checks'] === 'write');
  if (!installation || !isWanted) return undefined;
  const organization = organizationOf(site, repository);
  const whole = {
    ...payload,
    repository: payload['repository'] ?? (await repositoryAnswer(site, repository)),
    ...(organization === undefined ? {} : { organization }),
    sender: senderOf(site, by),
    installation: { id: installation.id, node_id: nodeId('Installation', installation.id) },
  };
  return site.deliveries.send(event, whole, { installationId: installation.id, repositoryId: repository.id });
}

/** The sender: the App's own bot, or a person; the administrator where none is named. */
function senderOf(site: Site, by: string | undefined): JsonObject {
  const bot = botOf(site);
  return accountAnswer(site, by === bot.login ? bot : personOf(site, by ?? administrator(site).login));
}

function organizationOf(site: Site, { owner }: Repository): JsonObject | undefined {
  const account = site.accounts.get(owner);
  if (account?.type !== 'Organization') return undefined;
  const url = `${site.url}/orgs/${owner}`;
  return {
    login: owner,
    id: account.id,
    node_id: nodeId('Organization', account.id),
    url,
    repos_url: `${url}/repos`,
    events_url: `${url}/events`,
    hooks_url: `${url}/hooks`,
    issues_url: `${url}/issues`,
    members_url: `${url}/members{/member}`,
    public_members_url: `${url}/public_members{/member}`,
    avatar_url: `${site.url}/avatars/${owner}`,
    description: null,
  };
}

/** The few words by which installations name a repository. */
const briefRepository = (repository: Repository): JsonObject => ({
  id: repository.id,
  node_id: nodeId('Repository', repository.id),
  name: repository.name,
  full_name: fullNameOf(repository),
  private: repository.isPrivate,
});

/** Installs the App for all repositories of an owner, and delivers the event. */
export function installApp(site: Site, owner: string): void {
  deliverInstallation(site, owner, 'created', true);
}

/** Takes the App away from an owner; its tokens are worth nothing from now on. */
export function removeApp(site: Site, owner: string): void {
  deliverInstallation(site, owner, 'deleted', false);
}

function deliverInstallation(site: Site, owner: string, action: 'created' | 'deleted', isInstalled: boolean): void {
  const installation = site.installations.find((each) => each.owner === owner);
  if (!installation) throw new Error(`there is no organization ${owner}`);
  installation.isInstalled = isInstalled;
  const own = site.repositories.all().filter((repository) => repository.owner === owner);
  const payload = {
    action,
    installation: { ...installationAnswer(site, installation), node_id: nodeId('Installation', installation.id) },
    repositories: own.map(briefRepository),
    requester: null,
    sender: senderOf(site, undefined),
  };
  site.deliveries.send('installation', payload, { installationId: installation.id, repositoryId: null });
}

/** Delivers the event of a renamed repository. */
export async function deliverRename(site: Site, repository: Repository, former: string): Promise<void> {
  const changes = { repository: { name: { from: former } } };
  await deliver(site, repository, 'repository', { action: 'renamed', changes });
}
