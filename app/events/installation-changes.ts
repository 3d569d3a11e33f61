import { deployedBranches } from '../recovery/deployed-branches.ts';
import { recoverHeads } from '../recovery/recover-heads.ts';
import { fullName, type AppContext } from '../context.ts';
import { endOpenWork } from './end-open-work.ts';
import type { DecisionOf, Handler } from './event-types.ts';

/** The reachable repositories changed: examines new ones, and ends the work of removed ones. */
export const onInstallation: Handler<'installation'> = async (decision, { context, delivery }) => {
  switch (decision.change) {
    case 'added':
      return lookAtNew(decision, context);
    case 'removed':
      return letGo(decision, context, delivery);
    case 'suspended':
      return ['the work of the installation waits until it is resumed'];
    case 'resumed':
      return wakeAll(decision, context);
  }
};

async function lookAtNew({ repositories }: DecisionOf<'installation'>, context: AppContext): Promise<string[]> {
  if (repositories === undefined) return ['the next recovery looks at its repositories'];
  const looked = await recoverHeads(context, repositories, await deployedBranches(context.control));
  return [`looked at ${looked.branches} deployed branches`, `recovered ${looked.recovered} heads`];
}

async function letGo(
  { installationId, repositories, why }: DecisionOf<'installation'>,
  context: AppContext,
  delivery: string,
): Promise<string[]> {
  const gone = repositories && new Set(repositories.map(({ repositoryId }) => repositoryId));
  const ended = await endOpenWork(
    context,
    `event-${delivery}`,
    (repository) =>
      repository.installationId === installationId && (gone === undefined || gone.has(repository.repositoryId)),
    why,
  );
  return [`ended what was open for ${ended.length} repositories`];
}

/** Retries at once the deployments that failed while the installation was suspended. */
async function wakeAll({ installationId }: DecisionOf<'installation'>, { store }: AppContext): Promise<string[]> {
  let notified = 0;
  for (const deploymentId of await store.busyDeployments()) {
    const open = await store.openIntents(deploymentId);
    if (!open.some(({ repository }) => repository.installationId === installationId)) continue;
    await store.wake(deploymentId);
    notified += 1;
  }
  return [`woke ${notified} deployments`, 'the next recovery looks at its branches'];
}

/** Open work continues under the new name: someone else may take the old one. */
export const onRepositoryRenamed: Handler<'repository-renamed'> = async ({ repository }, { context }) => {
  await context.store.moved(repository);
  return [`the repository is now reported as ${fullName(repository)} from now on`];
};
