import { sameCommit } from '../../src/contract/control/repo-ref.ts';
import type { DeployRequest, PromotedFrom } from './deploy-request.ts';
import type { AppContext } from '../context.ts';
import { runningOf } from './next-step.ts';
import { provenIn } from './earlier-environment.ts';
import type { Intent, IntentHeader, SkipDecision, UnsentIntent } from './intent.ts';
import { readOptions, type ReconcileContext } from './reconcile-context.ts';

/** What a request promotes; undefined where it does not. */
export const promotedFrom = ({ sending }: Pick<DeployRequest, 'sending'>): PromotedFrom | undefined =>
  sending.kind === 'promote' ? sending.from : undefined;

/**
 * Requests by the order in which what they promote was proven, the newest first, and of those of one order that which was
 * requested last; others come last, as they are.
 */
export const newestPromotionFirst = <Each extends Pick<IntentHeader, 'sending' | 'seq'>>(
  requests: readonly Each[],
): Each[] =>
  requests.toSorted((one, other) => {
    const [first, second] = [promotedFrom(one), promotedFrom(other)];
    if (first && second) return second.order - first.order || other.seq - one.seq;
    return Number(first === undefined) - Number(second === undefined);
  });

/** How many of a deployment's newest intents are searched for a newer promotion. */
const maxSearchedIntents = 50;

/**
 * Why a promotion is not sent: the environment before serves another commit by now, or has not proven it any more, or
 * a newer one was promoted since. Undefined where nothing is in the way. @throws ServiceError, GitHubApiError
 */
export async function promotionObstacle(
  work: ReconcileContext,
  intent: UnsentIntent,
  from: PromotedFrom,
): Promise<SkipDecision | undefined> {
  const { control, store, githubApi } = work.context;
  const proven = await provenIn(from, work.context, () => readOptions(work));
  if ('code' in proven) return { kind: 'skip', ...proven };
  // A rollback of the next commit puts the proven one back, as another revision.
  if (!sameCommit(proven.commit, intent.commit))
    return { kind: 'skip', code: 'earlier-moved', name: from.name, serves: proven.revisionId };
  const last = await store.lastIntents(intent.deploymentId, maxSearchedIntents);
  const newer = last.find((each) => isSentAfter(each, from));
  // A person may go back to what the environment before serves again.
  if (newer && intent.cause.kind !== 'redeploy') return { kind: 'skip', code: 'newer-promoted', commit: newer.commit };
  const { pinsCommits, copiesBuilds } = await control.features(readOptions(work));
  if (pinsCommits === true || copiesBuilds === true || intent.sending.kind !== 'promote') return undefined;
  const head = await githubApi.head(intent.repository, intent.sending.repoRef);
  return sameCommit(head?.sha, intent.commit)
    ? undefined
    : { kind: 'skip', code: 'promoted-not-head', commit: intent.commit, head: head?.sha };
}

/** Whether the environment before is changing what it serves, so that it is known later what may be promoted. */
export async function isChanging(
  { store }: Pick<AppContext, 'store'>,
  { deploymentId }: PromotedFrom,
): Promise<boolean> {
  const open = await store.openIntents(deploymentId);
  const isBack = (intent: Intent) => intent.sending.kind === 'redeploy' && intent.state === 'requested';
  return runningOf(open) !== undefined || open.some((each) => each.state === 'undoing' || isBack(each));
}

/** Whether a revision that was proven later was sent to the service. */
const isSentAfter = (intent: Intent, { deploymentId, order }: PromotedFrom): boolean => {
  const other = promotedFrom(intent);
  return other?.deploymentId === deploymentId && other.order > order && intent.sentAt !== undefined;
};

/**
 * Whether another client than the App put an earlier build back into service, as far as the service records it: a
 * person did that in its console, and promotes again when they say so. @throws ServiceError
 */
export async function isRolledBackByOthers(
  work: ReconcileContext,
  { deploymentId }: IntentHeader,
  active: string | null,
): Promise<boolean> {
  const { control, records, store } = work.context;
  // A service that copies builds records how its revisions came about.
  if (active === null || !records || !(await control.features(readOptions(work))).copiesBuilds) return false;
  const own = await store.lastWithRevision(deploymentId, maxSearchedIntents);
  if (own.some((intent) => 'revisionId' in intent && intent.revisionId === active)) return false;
  const entry = await records.historyOf(deploymentId, active, readOptions(work));
  return entry?.cause.kind === 'rollback';
}
