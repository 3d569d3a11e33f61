import { deployedBranches } from '../recovery/deployed-branches.ts';
import { recoverHeads } from '../recovery/recover-heads.ts';
import { fullName } from '../repository.ts';
import type { World } from '../world.ts';
import { cutOff } from './cut-off.ts';
import type { DecisionOf } from './event-types.ts';
import type { Handler } from './handling.ts';

/** What the App reaches changed: what it reaches now is looked at, what it does not is let go of. */
export const onInstallation: Handler<'installation'> = async (decision, { world, delivery }) => {
  switch (decision.change) {
    case 'added':
      return lookAtNew(decision, world);
    case 'removed':
      return letGo(decision, world, delivery);
    case 'suspended':
      return ['the work of the installation waits until it is resumed'];
    case 'resumed':
      return wakeAll(decision, world);
  }
};

async function lookAtNew({ repositories }: DecisionOf<'installation'>, world: World): Promise<string[]> {
  if (repositories === undefined) return ['the next recovery looks at its repositories'];
  const looked = await recoverHeads(world, repositories, await deployedBranches(world.control));
  return [`looked at ${looked.branches} deployed branches`, `recovered ${looked.recovered} heads`];
}

async function letGo(
  { installationId, repositories, why }: DecisionOf<'installation'>,
  world: World,
  delivery: string,
): Promise<string[]> {
  const gone = repositories && new Set(repositories.map(({ repositoryId }) => repositoryId));
  const ended = await cutOff(
    world,
    `event-${delivery}`,
    (repository) =>
      repository.installationId === installationId && (gone === undefined || gone.has(repository.repositoryId)),
    why,
  );
  return [`ended what was open for ${ended.length} repositories`];
}

/** Lanes that failed while the installation was suspended are tried again at once. */
async function wakeAll({ installationId }: DecisionOf<'installation'>, { store }: World): Promise<string[]> {
  let woken = 0;
  for (const deploymentId of await store.busyDeployments()) {
    const open = await store.openIntents(deploymentId);
    if (!open.some(({ repository }) => repository.installationId === installationId)) continue;
    await store.wake(deploymentId);
    woken += 1;
  }
  return [`woke ${woken} deployments`, 'the next recovery looks at its branches'];
}

/** Work that is under way goes on under the new name: an old one leads elsewhere once somebody else takes it. */
export const onRepositoryRenamed: Handler<'repository-renamed'> = async ({ repository }, { world }) => {
  await world.store.moved(repository);
  return [`the work of the repository is told at ${fullName(repository)} from now on`];
};
