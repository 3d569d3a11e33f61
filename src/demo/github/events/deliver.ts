import { administrator, installationOf, nodeId, type Site } from '../site.ts';
import type { JsonObject } from '../exchange.ts';
import { fullNameOf, type Repository } from '../repositories.ts';
import { accountAnswer, botOf } from '../answers/accounts.ts';
import { repositoryAnswer } from '../answers/repository-answers.ts';
import type { Delivery } from './deliveries.ts';

/** Events that every App gets, whatever it subscribed to. */
const always = /^(installation|installation_repositories|github_app_authorization)$/;
/** What an App that writes checks gets besides. */
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
    always.test(event) ||
    site.app.events.includes(event) ||
    (ofChecks.test(name) && site.app.permissions['checks'] === 'write');
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

/** The sender: a person, or the App's own bot if `by` is absent and no person did it. */
export function senderOf(site: Site, by: string | undefined): JsonObject {
  const bot = botOf(site);
  if (by === bot.login) return accountAnswer(site, bot);
  const login = by ?? administrator(site).login;
  return accountAnswer(site, { login, id: site.accounts.get(login)?.id ?? 0, type: 'User' });
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
export const briefRepository = (repository: Repository): JsonObject => ({
  id: repository.id,
  node_id: nodeId('Repository', repository.id),
  name: repository.name,
  full_name: fullNameOf(repository),
  private: repository.isPrivate,
});
