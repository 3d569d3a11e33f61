import { messageOf } from '../../../kit/errors.ts';
import { pause, type Clock } from '../../../kit/clock.ts';
import { isTagRef } from '../../../contract/control/repo-ref.ts';
import { hasEnded } from '../revisions/states.ts';
import type { PushStore, WatchedDeployment } from './repository.ts';
import type { BranchHeads } from './branch-heads.ts';
import type { Logger } from '../../../kit/logger.ts';

/** Which repositories are watched for pushes: local folders, remote ones too, or none. */
export const watchWords = ['folders', 'all', 'off'] as const;
export type WatchWord = (typeof watchWords)[number];

interface WatchDependencies {
  store: PushStore;
  rollouts: { wake: (deploymentId: string) => void };
  heads: BranchHeads;
  which: Exclude<WatchWord, 'off'>;
  clock: Clock;
  log: Logger;
  everyMs?: number;
}

/**
 * Polls the branches of deployments, and creates a revision where one moved. Observed heads are stored, so that a push
 * during a restart is built exactly once. Only one process may watch. Returns what stops it.
 */
export function watchPushes(settings: WatchDependencies): () => Promise<void> {
  const { clock, log, everyMs = 3_000 } = settings;
  const leaving = new AbortController();
  const failures = new Map<string, string>();
  const watch = async (): Promise<void> => {
    while (!leaving.signal.aborted) {
      await checkBranches(settings, failures, leaving.signal).catch((error: unknown) => {
        // The database may be back at the next poll.
        log.error(`Branches could not be checked for pushes: ${messageOf(error)}`);
      });
      await pause(clock, everyMs, leaving.signal);
    }
  };
  const watching = watch();
  return async () => {
    leaving.abort();
    await watching;
  };
}

async function checkBranches(
  { store, rollouts, heads, which, log }: WatchDependencies,
  failures: Map<string, string>,
  signal: AbortSignal,
): Promise<void> {
  const byRepository = Map.groupBy(await store.watched(which), ({ repoUrl }) => repoUrl);
  for (const [repoUrl, deployments] of byRepository) {
    if (signal.aborted) return;
    const branches = deployments.filter(({ ref }) => !isTagRef(ref));
    if (branches.length === 0) continue;
    const found = await heads(repoUrl, signal);
    if (signal.aborted) return;
    if (!found.ok) {
      // Log a failure once, not on every poll.
      if (failures.get(repoUrl) !== found.reason)
        log.error(`The branches of ${repoUrl} can't be looked at for pushes: ${found.reason}`);
      failures.set(repoUrl, found.reason);
      continue;
    }
    failures.delete(repoUrl);
    for (const deployment of branches) {
      const head = found.value.get(deployment.ref);
      if (head !== undefined && (await recordHead(store, deployment, head))) rollouts.wake(deployment.id);
    }
  }
}

async function recordHead(store: PushStore, deployment: WatchedDeployment, head: string): Promise<boolean> {
  const { id, ref, buildOnPush, seen, latest } = deployment;
  const wasBuilt = seen === undefined && (await store.wasBuilt(id, head));
  const known = { commit: latest.commit, hasEnded: hasEnded(latest.status) };
  const end = decidePush({ buildOnPush, head, seen, latest: known, wasBuilt });
  if (end === 'nothing' || end === 'wait') return false;
  return store.recordPush({ id, ref, head, latestRevisionId: latest.id, buildOnPush, build: end === 'build' });
}

export interface BranchObservation {
  buildOnPush: boolean;
  head: string;
  /** The last observed head; undefined on the first look at this branch. */
  seen: string | undefined;
  /** The latest revision: its commit, once known, and whether it has ended. */
  latest: { commit: string | null; hasEnded: boolean };
  /** Whether the deployment has a revision of the head. */
  wasBuilt: boolean;
}

/** `note`: record the head; `wait`: a revision is in progress whose commit is unknown yet, and may be of this head. */
export type PushDecision = 'build' | 'note' | 'wait' | 'nothing';

/**
 * Decides on one observation. Pushes while `build_on_push` is off are only recorded, so that turning it on builds
 * nothing older. A head that already has a revision, from any cause, gets no other.
 */
export function decidePush({ buildOnPush, head, seen, latest, wasBuilt }: BranchObservation): PushDecision {
  if (seen === head) return 'nothing';
  if (!buildOnPush) return 'note';
  if (latest.commit === null && !latest.hasEnded) return 'wait';
  if (latest.commit === head) return 'note';
  return seen === undefined && wasBuilt ? 'note' : 'build';
}
