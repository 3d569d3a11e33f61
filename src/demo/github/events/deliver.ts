import type { Delivery } from '../deliveries.ts';
import type { JsonObject } from '../exchange.ts';
import { accountAnswer, accountNamed, botOf, installationAnswer, repositoryAnswer } from '../answers/accounts.ts';
import { requestEmulator, fullNameOf, nodeId, type Repository, type GitHubState } from '../state.ts';

/** Sends an event of a repository to the App, if it is installed there and subscribes to such events. */
export async function deliver(
  state: GitHubState,
  repository: Repository,
  event: string,
  payload: JsonObject,
  by = state.administrator,
): Promise<Delivery | undefined> {
  const installation = state.installations.find((each) => each.isInstalled && each.owner === repository.owner);
  if (!installation || !state.app.events.includes(event)) return undefined;
  const fullPayload = {
    ...payload,
    repository: payload['repository'] ?? (await repositoryAnswer(state, repository)),
    organization: await requestEmulator(state, 'GET', `/orgs/${repository.owner}`),
    sender: by === botOf(state).login ? accountAnswer(state, botOf(state)) : accountNamed(state, by),
    installation: { id: installation.id, node_id: nodeId('Installation', installation.id) },
  };
  return state.deliveries.send(event, fullPayload, { installationId: installation.id, repositoryId: repository.id });
}

/** The short form of a repository in installation events. */
const briefRepository = (repository: Repository): JsonObject => ({
  id: repository.id,
  node_id: nodeId('Repository', repository.id),
  name: repository.name,
  full_name: fullNameOf(repository),
  private: repository.isPrivate,
});

/** Installs the App for all repositories of an owner, or uninstalls it, and delivers the event. */
export async function changeInstallation(
  state: GitHubState,
  owner: string,
  action: 'created' | 'deleted',
): Promise<void> {
  const installation = state.installations.find((each) => each.owner === owner);
  if (!installation) throw new Error(`there is no organization ${owner}`);
  installation.isInstalled = action === 'created';
  const ownRepositories = state.repositories.filter((repository) => repository.owner === owner);
  const payload = {
    action,
    installation: {
      ...(await installationAnswer(state, installation)),
      node_id: nodeId('Installation', installation.id),
    },
    repositories: ownRepositories.map(briefRepository),
    requester: null,
    sender: accountNamed(state, state.administrator),
  };
  state.deliveries.send('installation', payload, { installationId: installation.id, repositoryId: null });
}
