// Makes revisions in no time: builds what the repository holds, or waits where a test holds it.
import { nextHoldStep } from '../../src/services/control/revisions/hold-decision.ts';
import { isHeld } from '../../src/services/control/rollouts/hold.ts';
import { HoldNotifier } from '../../src/services/control/rollouts/rollout-job.ts';
import type { RolloutNotifier } from '../../src/services/control/service/settings.ts';
import type { ControlStore } from '../../src/services/control/store/store.ts';
import type { RevisionRecord } from '../../src/services/control/store/tables.ts';

/** What a branch holds at this moment, as far as a build is about it. */
export interface Built {
  commit: string;
  /** What the agent of this commit says. */
  word: string;
  /** Whether its build fails. */
  isBroken: boolean;
}

/** What making a revision takes beside the store. */
export interface Making {
  /** Finds what is to be built. */
  read: (revision: RevisionRecord) => Promise<Built>;
  /** Resolves when builds of the deployment may go on. */
  held: (deploymentId: string) => Promise<void>;
  /** Has this revision answer at an address of its own. @returns a function that ends that */
  hold: (revision: RevisionRecord) => Promise<() => void>;
  /** Has the agent of the deployment be this revision's. */
  serve: (revision: RevisionRecord) => Promise<void>;
}

/** Carries out the revisions of each deployment one after another. */
export function instantly(store: ControlStore, making: Making): RolloutNotifier & { settled(): Promise<void> } {
  const working = new Map<string, Promise<void>>();
  const news = new HoldNotifier();
  const after = async (before: Promise<void> | undefined, deploymentId: string): Promise<void> => {
    await before;
    for (;;) {
      const revision = await store.claimNextRevision(deploymentId);
      if (!revision) return removeDeleted(store, deploymentId);
      await make(store, making, news, revision);
    }
  };
  return {
    wake(deploymentId) {
      news.notify(deploymentId);
      working.set(deploymentId, after(working.get(deploymentId), deploymentId));
    },
    interrupted() {},
    settled: async () => void (await Promise.all(working.values())),
  };
}

/** Carries out a deletion that was requested: nothing of the agents of a journey is the deployment's alone. */
async function removeDeleted(store: ControlStore, deploymentId: string): Promise<void> {
  if (await store.noteStopped(deploymentId)) await store.finishDeletion(deploymentId);
}

async function make(store: ControlStore, making: Making, news: HoldNotifier, claimed: RevisionRecord): Promise<void> {
  const { id, deployment_id: deploymentId, status } = claimed;
  const revision = status === 'AWAITING_BUILD' ? await build(store, making, claimed) : claimed;
  if (!revision || !(await store.setStatus(id, ['AWAITING_DEPLOY'], 'DEPLOYING'))) return;
  await store.setDatabaseState(deploymentId, 'ready');
  if (isHeld(revision) && !(await isPromoted(store, making, news, revision))) return;
  // Switch the gateway first, so that a live revision always has its own agent.
  await making.serve(revision);
  await store.activate(deploymentId, id);
}

/** Holds the revision until it is decided about. */
async function isPromoted(
  store: ControlStore,
  making: Making,
  news: HoldNotifier,
  revision: RevisionRecord,
): Promise<boolean> {
  const { id, deployment_id: deploymentId } = revision;
  const withdraw = await making.hold(revision);
  await store.beginHold(id);
  for (;;) {
    const decided = news.nextNotification(deploymentId);
    const next = nextHoldStep(await store.findRevision(deploymentId, id), Date.now());
    if (next.kind !== 'wait') {
      withdraw();
      return next.kind === 'promoted';
    }
    await decided;
  }
}

/** The revision with its build; undefined if the build failed. */
async function build(
  store: ControlStore,
  making: Making,
  claimed: RevisionRecord,
): Promise<RevisionRecord | undefined> {
  const { id } = claimed;
  const { commit, isBroken } = await making.read(claimed);
  if (!(await store.setStatus(id, ['AWAITING_BUILD'], 'BUILDING', { commit }))) return undefined;
  await store.appendLog(id, 'build', [
    { level: 'info', message: `checked out ${commit}` },
    ...(isBroken ? [{ level: 'error', message: 'graph.ts(7): no such module @acme/prices' }] : []),
  ]);
  await making.held(claimed.deployment_id);
  if (!isBroken) return store.setStatus(id, ['BUILDING'], 'AWAITING_DEPLOY', { buildFolder: `builds/${id}` });
  await store.setStatus(id, ['BUILDING'], 'BUILD_FAILED', { message: 'The build command ended with 1.' });
  return undefined;
}
