import { nodeId, type Site } from '../site.ts';
import type { Repository } from '../repositories.ts';
import { installationAnswer } from '../answers/app-answers.ts';
import { briefRepository, senderOf, deliver } from './deliver.ts';

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
