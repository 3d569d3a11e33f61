import type { Delivery } from '../deliveries.ts';
import type { JsonObject } from '../exchange.ts';
import { accountAnswer, accountNamed, botOf, installationAnswer, repositoryAnswer } from '../answers/accounts.ts';
import { askEmulated, fullNameOf, nodeId, type Repository, type Site } from '../site.ts';

/** Sends an event of a repository to the App, if it is installed there and subscribes to such events. */
export async function deliver(
  site: Site,
  repository: Repository,
  event: string,
  payload: JsonObject,
  by = site.administrator,
): Promise<Delivery | undefined> {
  const installation = site.installations.find((each) => each.isInstalled && each.owner === repository.owner);
  if (!installation || !site.app.events.includes(event)) return undefined;
  const whole = {
    ...payload,
    repository: payload['repository'] ?? (await repositoryAnswer(site, repository)),
    organization: await askEmulated(site, 'GET', `/orgs/${repository.owner}`),
    sender: by === botOf(site).login ? accountAnswer(site, botOf(site)) : accountNamed(site, by),
    installation: { id: installation.id, node_id: nodeId('Installation', installation.id) },
  };
  return site.deliveries.send(event, whole, { installationId: installation.id, repositoryId: repository.id });
}

/** The few words by which installations name a repository. */
const briefRepository = (repository: Repository): JsonObject => ({
  id: repository.id,
  node_id: nodeId('Repository', repository.id),
  name: repository.name,
  full_name: fullNameOf(repository),
  private: repository.isPrivate,
});

/** Installs the App for all repositories of an owner, or takes it away, and delivers the event. */
export async function changeInstallation(site: Site, owner: string, action: 'created' | 'deleted'): Promise<void> {
  const installation = site.installations.find((each) => each.owner === owner);
  if (!installation) throw new Error(`there is no organization ${owner}`);
  installation.isInstalled = action === 'created';
  const own = site.repositories.filter((repository) => repository.owner === owner);
  const payload = {
    action,
    installation: {
      ...(await installationAnswer(site, installation)),
      node_id: nodeId('Installation', installation.id),
    },
    repositories: own.map(briefRepository),
    requester: null,
    sender: accountNamed(site, site.administrator),
  };
  site.deliveries.send('installation', payload, { installationId: installation.id, repositoryId: null });
}
