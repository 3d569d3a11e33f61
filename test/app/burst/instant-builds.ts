import type { ControlStore } from '../../../src/services/control/store/store.ts';
import type { RolloutNotifier } from '../../../src/services/control/service/settings.ts';

/** Makers of revisions that take no time: what is built is the head of the repository at that moment. */
export interface InstantBuilds extends RolloutNotifier {
  /** Resolves when everything requested is made. */
  settled(): Promise<void>;
}

/** @param headOf the commit that a deployment's `repo_url` stands at. */
export function instantBuilds(store: ControlStore, headOf: (repoUrl: string) => string): InstantBuilds {
  const working = new Map<string, Promise<void>>();
  return {
    wake(deploymentId) {
      const before = working.get(deploymentId) ?? Promise.resolve();
      working.set(
        deploymentId,
        before.then(() => build(store, deploymentId, headOf)),
      );
    },
    interrupted() {},
    settled: async () => void (await Promise.all(working.values())),
  };
}

async function build(store: ControlStore, deploymentId: string, headOf: (repoUrl: string) => string): Promise<void> {
  const revision = await store.claimNextRevision(deploymentId);
  if (revision?.status !== 'AWAITING_BUILD') return;
  const { id } = revision;
  const commit = headOf(revision.source_config.repo_url ?? '');
  await store.setStatus(id, ['AWAITING_BUILD'], 'BUILDING', { commit });
  await store.setStatus(id, ['BUILDING'], 'AWAITING_DEPLOY', { buildFolder: `builds/${id}` });
  await store.setStatus(id, ['AWAITING_DEPLOY'], 'DEPLOYING');
  await store.setDatabaseState(deploymentId, 'ready');
  await store.activate(deploymentId, id);
}
