import { pause, type Clock } from '../../clock.ts';
import { isTagRef } from '../../contract/control/repo-ref.ts';
import { hasEnded } from '../rules/revision-states.ts';
import type { PushStore, WatchedDeployment } from '../store/pushes.ts';
import type { BranchHeads } from './branch-heads.ts';
import { judgeLook } from './push-rule.ts';

/** Which repositories are watched for pushes: folders of this machine, those of the network too, or none. */
export const watchWords = ['folders', 'all', 'off'] as const;
export type WatchWord = (typeof watchWords)[number];

export interface WatchSettings {
  store: PushStore;
  /** Told of a deployment that has a new revision. */
  rollouts: { wake: (deploymentId: string) => void };
  heads: BranchHeads;
  which: Exclude<WatchWord, 'off'>;
  clock: Clock;
  log: (message: string) => void;
  /** Milliseconds between two looks; 3 s when absent. */
  everyMs?: number;
}

/**
 * Looks at the branches of deployments again and again, and has a revision built where one moved
 * (control-service.md, States: push to `repo_ref`). Over the network pushes are told by webhooks, to whom it is told;
 * nobody tells of a push to a folder of this machine. What was seen is in the database, so that neither a restart
 * nor a push while the service was away is built twice or not at all. One process may watch.
 *
 * @returns ends it.
 */
export function watchPushes(settings: WatchSettings): () => Promise<void> {
  const { clock, log, everyMs = 3_000 } = settings;
  const leaving = new AbortController();
  const troubles = new Map<string, string>();
  const watch = async (): Promise<void> => {
    while (!leaving.signal.aborted) {
      try {
        await lookAtAll(settings, troubles, leaving.signal);
      } catch (error) {
        // The next look may find the database again.
        log(`Branches could not be looked at: ${error instanceof Error ? error.message : String(error)}`);
      }
      await pause(clock, everyMs, leaving.signal);
    }
  };
  const watching = watch();
  return async () => {
    leaving.abort();
    await watching;
  };
}

/** One look at every branch; each repository is asked once. */
async function lookAtAll(
  { store, rollouts, heads, which, log }: WatchSettings,
  troubles: Map<string, string>,
  signal: AbortSignal,
): Promise<void> {
  const byRepository = Map.groupBy(await store.watched(which), ({ repoUrl }) => repoUrl);
  for (const [repoUrl, deployments] of byRepository) {
    if (signal.aborted) return;
    const branches = deployments.filter(({ ref }) => !isTagRef(ref));
    if (branches.length === 0) continue;
    const found = await heads(repoUrl, signal);
    if (signal.aborted) return;
    // Said once, and again when it is another trouble: nobody wants to read it every few seconds.
    if (!found.ok && troubles.get(repoUrl) !== found.reason) {
      log(`The branches of ${repoUrl} can't be looked at for pushes: ${found.reason}`);
    }
    if (found.ok) troubles.delete(repoUrl);
    else troubles.set(repoUrl, found.reason);
    if (!found.ok) continue;
    for (const deployment of branches) {
      const head = found.value.get(deployment.ref);
      if (head !== undefined && (await look(store, deployment, head))) rollouts.wake(deployment.id);
    }
  }
}

/** True where a revision was made. */
async function look(store: PushStore, deployment: WatchedDeployment, head: string): Promise<boolean> {
  const { id, ref, buildOnPush, seen, latest } = deployment;
  const end = judgeLook({
    buildOnPush,
    head,
    seen,
    latest: { commit: latest.commit, hasEnded: hasEnded(latest.status) },
    wasBuilt: seen === undefined && (await store.wasBuilt(id, head)),
  });
  if (end === 'nothing' || end === 'wait') return false;
  return store.recordPush({ id, ref, head, latestRevisionId: latest.id, buildOnPush, build: end === 'build' });
}
