import { deployedBranches } from '../recovery/deployed-branches.ts';
import { recoverHeads } from '../recovery/recover-heads.ts';
import type { AppContext } from '../context.ts';
import { fullName, type InstallationRepository } from '../github/github-api.ts';
import type { DecisionOf, Handler } from './event-types.ts';
import { withOutcome } from '../reconcile/outcomes.ts';
import { withLease } from '../reconcile/with-lease.ts';
import { removeUnreachable } from '../previews/remove-unreachable.ts';
import { notifyMatching } from './request-branch.ts';

/** Handles a change of the reachable repositories: recovers new ones, and ends the work of removed ones. */
export const onInstallation: Handler<'installation'> = async (decision, { context }) => {
  switch (decision.change) {
    case 'added':
      return recoverNewRepositories(decision, context);
    case 'removed':
      return endRemovedRepositories(decision, context);
    case 'suspended':
      return ['the work of the installation waits until it is resumed'];
    case 'resumed':
      return resumeAll(decision, context);
  }
};

async function recoverNewRepositories(
  { repositories }: DecisionOf<'installation'>,
  context: AppContext,
): Promise<string[]> {
  if (repositories === undefined) return ['the next recovery looks at its repositories'];
  const result = await recoverHeads(context, repositories, await deployedBranches(context.control));
  return [`looked at ${result.branches} deployed branches`, `recovered ${result.recovered} heads`];
}

async function endRemovedRepositories(
  { installationId, repositories, why }: DecisionOf<'installation'>,
  context: AppContext,
): Promise<string[]> {
  const removedIds = repositories && new Set(repositories.map(({ repositoryId }) => repositoryId));
  const isGone = (repository: InstallationRepository) =>
    repository.installationId === installationId &&
    (removedIds === undefined || removedIds.has(repository.repositoryId));
  const removed = context.previews ? await removeUnreachable(context.previews, context.clock, isGone) : 0;
  const endedRepositories = await endOpenWork(context, isGone, why);
  return [
    `ended what was open for ${endedRepositories.length} repositories`,
    ...(removed > 0 ? [`removes the previews of ${removed} pull requests`] : []),
  ];
}

/** Retries the deployments that waited while the installation was suspended, and recovers missed pushes. */
async function resumeAll({ installationId }: DecisionOf<'installation'>, context: AppContext): Promise<string[]> {
  const notified = await notifyMatching(
    context.store,
    ({ repository }) => repository.installationId === installationId,
  );
  await context.recoverSoon?.();
  return [`woke ${notified.length} deployments`, 'recovery looks at its branches within seconds'];
}

/** Open work continues under the new name: someone else may take the old one. */
export const onRepositoryRenamed: Handler<'repository-renamed'> = async ({ repository }, { context }) => {
  await context.store.moved(repository);
  await context.previews?.moved(repository);
  return [`the repository is reported as ${fullName(repository)} from now on`];
};

/**
 * Closes every open intent of repositories that the App can no longer reach, and drops their pending reports.
 *
 * @returns the repositories whose intents were ended.
 * @throws DeploymentBusy
 */
async function endOpenWork(
  context: AppContext,
  isGone: (repository: InstallationRepository) => boolean,
  why: string,
): Promise<number[]> {
  const { store } = context;
  const repositories = new Set<number>();
  for (const deploymentId of await store.busyDeployments()) {
    const gone = (await store.openIntents(deploymentId)).filter(({ repository }) => isGone(repository));
    if (gone.length === 0) continue;
    for (const { repository } of gone) repositories.add(repository.repositoryId);
    await endOpenIntents(context, deploymentId, isGone, why);
  }
  for (const repositoryId of [...repositories, ...(await pendingReportsOf(context, isGone))])
    await store.dropPendingReports(repositoryId);
  return [...repositories];
}

/** Repositories with pending reports but no open intent. */
async function pendingReportsOf(
  { store }: AppContext,
  isGone: (repository: InstallationRepository) => boolean,
): Promise<Set<number>> {
  const repositories = new Set<number>();
  for (const id of await store.pendingReports()) {
    const report = await store.report(id);
    if (report && isGone(report.repository)) repositories.add(report.repository.repositoryId);
  }
  return repositories;
}

async function endOpenIntents(
  context: AppContext,
  deploymentId: string,
  isGone: (repository: InstallationRepository) => boolean,
  why: string,
): Promise<void> {
  const { store, clock } = context;
  await withLease(context, deploymentId, async (lease) => {
    const now = clock.now();
    const decision = { kind: 'skip', code: 'not-installed' } as const;
    const gone = (await store.openIntents(deploymentId)).filter(({ repository }) => isGone(repository));
    const intents = gone.map((intent) =>
      withOutcome({ ...intent, decision, updatedAt: now }, { kind: 'skipped', reason: why }, now),
    );
    await store.save(lease, { intents });
  });
}
