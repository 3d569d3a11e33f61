import { sameCommit } from '../../src/contract/control/repo-ref.ts';
import { mayContain } from './contained-commits.ts';
import { anothersMs, decideRequest, waitedTooLong } from './decide-request.ts';
import { discardAbandoned } from './held-revision.ts';
import { branchGone, withDecisionOutcome, withOutcome, supersededOutcome } from './outcomes.ts';
import { deploysCommit, requestForHead } from './deploy-request.ts';
import type { Ended, Intent, IntentFields, UnsentIntent } from './intent.ts';
import { isRequestForCommit, type BusyIntent } from './next-step.ts';
import { newestPromotionFirst, promotedFrom } from './promotion.ts';
import { findRevision, observedRevisionOf } from '../../src/deploy/machine/steps/read-deployment.ts';
import { readerOf } from './observation.ts';
import type { DeploymentQueue, QueueChanges } from './store.ts';
import {
  headOf,
  saveIntents,
  continued,
  requeueAfter,
  type StepResult,
  type ReconcileContext,
} from './reconcile-context.ts';

/** How long after a push GitHub may still return the previous head (ms), and the retry interval. */
const lagMs = 10_000;
const lagPollMs = 2_000;

/**
 * Reads the head of the branch, or finds what the environment before proved last, and sorts the requests by it. If the
 * deployment is free, the head's request is decided; if it is `busyWith` another, that request waits.
 */
export async function takeRequests(
  work: ReconcileContext,
  deploymentQueue: DeploymentQueue,
  open: readonly Intent[],
  busyWith: BusyIntent | undefined,
): Promise<StepResult> {
  const requests = open.filter(isRequestForCommit);
  const newest = requests.at(-1);
  if (!newest) return continued;
  if (!busyWith && (await waitsForAnother(work, requests))) return requeueAfter(work, anothersMs);
  const [promoted] = newestPromotionFirst(requests).filter((each) => promotedFrom(each) !== undefined);
  const head = promoted ? { sha: promoted.commit, message: '', committedAt: 0 } : await headOf(work, newest);
  // What was pressed before a rollback does not lift its hold, however late it is decided.
  const heldSince = deploymentQueue.held?.since ?? -Infinity;
  const requestedAction = requests.some(
    (each) =>
      each.cause.kind === 'redeploy' &&
      each.state === 'requested' &&
      each.createdAt >= heldSince &&
      !isOutdated(each, head?.sha),
  );
  const released: QueueChanges = requestedAction ? { held: null, rolledBackCommit: null } : {};
  const now = work.context.clock.now();
  if (!head) {
    const decision = { kind: 'skip', code: 'branch-gone', branch: newest.branch } as const;
    const gone = requests.map((intent) => withOutcome({ ...intent, decision }, branchGone(intent), now));
    return saveIntents(work, gone, released);
  }
  const { stale, outdated, joined, first, lacksHead } = sortRequests(requests, head.sha, busyWith);
  if (await mayLag(work, stale, head.sha)) return requeueAfter(work, lagPollMs);
  const isProven = stale.length > 0 && (await isLiveAndProven(work, newest.deploymentId, head.sha));
  const left: Ended[] = outdated.map((intent) => {
    const decision = { kind: 'skip', code: 'pushed-since', commit: intent.commit, head: head.sha } as const;
    return withDecisionOutcome(intent, 'skipped', decision, now);
  });
  for (const intent of stale) {
    const contains = await mayContain(work, intent.repository, intent.commit, head.sha);
    const end = supersededOutcome(intent, head.sha, contains);
    left.push(withOutcome(intent, contains && isProven ? { ...end, liveIn: head.sha } : end, now));
  }
  const reported = joined.map(({ intent, to }) => {
    const reason = `Reported with the ${to.cause.kind} that requested the same commit.`;
    return withOutcome(intent, { kind: 'joined', reason }, now);
  });
  const waiting = first && busyWith && first.state === 'requested' ? [{ ...first, state: 'waiting' as const }] : [];
  const isBuilt = busyWith && deploysCommit(busyWith.sending) && sameCommit(busyWith.commit, head.sha);
  // The head is requested before its own webhook arrives, with the cause of another commit.
  const maker = stale.at(-1) ?? newest;
  const headRequest = lacksHead && !isBuilt ? [requestForHead(maker, head.sha, maker.cause.key, now)] : [];
  const changed = [...left, ...reported, ...waiting];
  if (changed.length > 0 || headRequest.length > 0 || requestedAction) {
    const { commit, revisionId }: Partial<IntentFields> = busyWith ?? {};
    const busy = commit === undefined ? undefined : { commit, revisionId };
    // The requested action is decided next; until then the first request stays as it is.
    const isOpen = requestedAction && !busyWith && first?.state !== 'measuring';
    const requestedFirst = isOpen && first ? [{ ...first, state: 'waiting' as const }] : [];
    return saveIntents(work, [...changed, ...requestedFirst], { ...released, requests: headRequest, busy });
  }
  if (!first || busyWith || first.state === 'expecting' || first.state === 'measuring')
    return requeueAfter(work, anothersMs);
  return decideRequest(work, deploymentQueue, first, head);
}

/** Whether a recent push is newer than the head that GitHub returns: its API lags behind webhooks. */
async function mayLag(work: ReconcileContext, stale: readonly UnsentIntent[], head: string): Promise<boolean> {
  const since = work.context.clock.now() - lagMs;
  const fresh = stale.filter(({ cause, createdAt }) => cause.kind === 'push' && createdAt > since);
  for (const { repository, commit } of fresh) {
    if (!(await mayContain(work, repository, commit, head))) return true;
  }
  return false;
}

/** Whether the last commit with an outcome here was the head, and is live and proven. */
async function isLiveAndProven({ context }: ReconcileContext, deploymentId: string, head: string): Promise<boolean> {
  const last = await context.store.lastWithRevision(deploymentId, 10);
  const newest = last.find(({ state, sending }) => state === 'ended' && sending.kind !== 'test');
  return (
    newest?.state === 'ended' &&
    newest.end.kind === 'deployed' &&
    deploysCommit(newest.sending) &&
    sameCommit(newest.commit, head)
  );
}

/** Whether the only request waits for another client's revision, and that one is still in progress. */
async function waitsForAnother(work: ReconcileContext, requests: readonly UnsentIntent[]): Promise<boolean> {
  const [only, ...others] = requests;
  if (!only || others.length > 0 || only.state !== 'waiting' || only.decision?.kind !== 'wait') return false;
  const { revisionId } = only.decision;
  if (waitedTooLong(work, only, revisionId)) return false;
  const read = await findRevision(only.deploymentId, revisionId, readerOf(work));
  if (!read) return false;
  await discardAbandoned(work, only.deploymentId, read);
  const seen = observedRevisionOf(read, null);
  return seen.phase === 'on-its-way' && read.status !== 'DEPLOYED' && !sameCommit(seen.commit, only.commit);
}

/** A queue's requests, sorted by the head of the branch. */
interface SortedRequests {
  /** Of other commits than the head. */
  stale: readonly UnsentIntent[];
  /** The same, of commits that a person confirmed: nothing is requested in their place. */
  outdated: readonly UnsentIntent[];
  /** Of the head, and reported by another intent of it. */
  joined: readonly { intent: UnsentIntent; to: Intent }[];
  /** The one for the head, unless running work is about it already. */
  first: UnsentIntent | undefined;
  /** Requests are stale and the head has none yet. */
  lacksHead: boolean;
}

/**
 * Sorts requests by the head. Of several for the head the one that is
 * carried out counts, or else a person's, which may require more than a push.
 */
export function sortRequests(open: readonly Intent[], head: string, busyWith: BusyIntent | undefined): SortedRequests {
  const requests = open.filter(isRequestForCommit);
  const others = requests.filter(({ commit }) => !sameCommit(commit, head));
  const stale = others.filter((intent) => !isOutdated(intent, head));
  const outdated = others.filter((intent) => isOutdated(intent, head));
  const forHead = newestPromotionFirst(requests.filter(({ commit }) => sameCommit(commit, head)));
  if (busyWith && builds(busyWith, head)) {
    const joined = forHead.map((intent) => ({ intent, to: busyWith }));
    return { stale, outdated, joined, first: undefined, lacksHead: false };
  }
  // The environment before may serve another build of the commit since: then the former one can't be promoted.
  const meant = forHead.filter((intent) => orderOf(intent) === orderOf(forHead[0]));
  const first =
    meant.find(({ state }) => state === 'measuring') ??
    meant.find(({ cause }) => cause.kind === 'redeploy') ??
    meant.find(({ cause }) => cause.kind === 'rerun') ??
    meant[0];
  const joined = first ? forHead.filter((intent) => intent !== first).map((intent) => ({ intent, to: first })) : [];
  return { stale, outdated, joined, first, lacksHead: !first && stale.length > 0 };
}

const orderOf = (intent: UnsentIntent | undefined): number | undefined => intent && promotedFrom(intent)?.order;

/** Whether a request is for a commit that a person confirmed, and that is not the head any more. */
const isOutdated = ({ cause, commit }: Intent, head: string | undefined): boolean =>
  cause.isPinned === true && !sameCommit(commit, head);

/** Whether what runs is a build of this commit, and not of another that the branch had moved on to. */
function builds({ sending, commit, rollout }: IntentFields, head: string): boolean {
  const built = rollout?.builtCommit;
  return deploysCommit(sending) && sameCommit(commit, head) && (!built || sameCommit(built, head));
}
