import type { RolloutNotifier } from '../../../src/services/control/service/settings.ts';
import type { ControlStore } from '../../../src/services/control/store/store.ts';
import type { RevisionRecord } from '../../../src/services/control/store/tables.ts';

/** The outcome of the next rollouts; `held` leaves them waiting. */
export type Fate = 'live' | 'build fails' | 'deploy fails' | 'held';

/** Rollouts that run through the statuses in milliseconds and do nothing else. */
export interface InstantRollouts extends RolloutNotifier {
  fate: Fate;
  /** The commit of the next builds. */
  head: string;
  /** Resolves when all requested rollouts are done. */
  settled(): Promise<void>;
}

export function instantRollouts(store: ControlStore): InstantRollouts {
  let working: Promise<void> = Promise.resolve();
  const rollouts: InstantRollouts = {
    fate: 'live',
    head: 'a'.repeat(40),
    wake(deploymentId) {
      working = working.then(() => carryOut(store, deploymentId, rollouts));
    },
    interrupted() {},
    settled: () => working,
  };
  return rollouts;
}

async function carryOut(store: ControlStore, deploymentId: string, { fate, head }: InstantRollouts): Promise<void> {
  if (fate === 'held') return;
  const deployment = await store.deployment(deploymentId);
  if (deployment && deployment.deletion !== 'none') {
    if (deployment.source_config.listener_id == null) await store.noteStopped(deploymentId);
    await store.finishDeletion(deploymentId);
    return;
  }
  const revision = await store.claimNextRevision(deploymentId);
  if (!revision) return;
  const isBuilt = revision.source === 'github' || revision.source === 'internal_source';
  if (!isBuilt) {
    await store.setStatus(revision.id, ['AWAITING_BUILD'], 'BUILDING');
    await store.setStatus(revision.id, ['BUILDING'], 'AWAITING_DEPLOY');
    await store.setStatus(revision.id, ['AWAITING_DEPLOY'], 'DEPLOY_FAILED', {
      message: 'This machine runs no images.',
    });
    return;
  }
  if (revision.status === 'AWAITING_BUILD') {
    await store.appendLog(revision.id, 'build', [
      { level: 'info', message: 'installing' },
      { level: 'error', message: 'Failed at line 7' },
      { level: 'info', message: 'done' },
    ]);
    const commit = revision.source === 'github' ? { commit: head } : {};
    await store.setStatus(revision.id, ['AWAITING_BUILD'], 'BUILDING', commit);
    if (fate === 'build fails') {
      await store.setStatus(revision.id, ['BUILDING'], 'BUILD_FAILED', { message: 'The build failed at line 7.' });
      return;
    }
    await store.setStatus(revision.id, ['BUILDING'], 'AWAITING_DEPLOY', { buildFolder: `builds/${revision.id}` });
  }
  await deploy(store, revision, fate);
}

async function deploy(store: ControlStore, revision: RevisionRecord, fate: Fate): Promise<void> {
  await store.setStatus(revision.id, ['AWAITING_DEPLOY'], 'DEPLOYING');
  await store.setDatabaseState(revision.deployment_id, 'ready');
  await store.appendLog(revision.id, 'deploy', [{ level: 'info', message: 'listening' }]);
  if (fate === 'deploy fails') {
    await store.setStatus(revision.id, ['DEPLOYING'], 'DEPLOY_FAILED', { message: 'It did not answer.' });
    return;
  }
  await store.activate(revision.deployment_id, revision.id);
}
