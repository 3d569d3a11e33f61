import { defaultConfigPath } from '../../src/deploy/file/deploy-file.ts';
import type { LaterTarget, Targets } from '../context.ts';
import { hasOwnCheck } from './contained-commits.ts';
import { promotionRequest } from './promotion-request.ts';
import { isExpired } from './deadlines.ts';
import type { Ended, Intent, PromotedTo } from './intent.ts';
import { promotesKey } from './next-step.ts';
import {
  continued,
  reportsOf,
  requeueAfter,
  saveIntents,
  type ReconcileContext,
  type StepResult,
} from './reconcile-context.ts';
import { promotionAfter } from './promotion-after.ts';
import { isRetryable, isTransientError, retryLater } from './transient-error.ts';

/** How long a refused read is tried again (ms): the App may get a permission back. */
const patienceMs = 10 * 60_000;

/**
 * Requests a proven commit of the deployments of the next environment, as the deploy file orders them now. The queue
 * remembers it until every request is stored: each is made once for a revision, however often this runs.
 */
export async function promoteProven(work: ReconcileContext, intentId: string): Promise<StepResult> {
  const { context } = work;
  const intent = await context.store.intent(intentId);
  if (intent?.state !== 'ended' || promotionAfter(intent, intent.end) !== 'promote')
    return recordPromotions(work, undefined, []);
  const since = Math.max(intent.end.at, intent.waitedUntil ?? 0);
  const isLate = isExpired(context.clock, intent.id, since + patienceMs, patienceMs);
  try {
    const { targets, later = [], refused } = await context.targets.targetsOf(intent.repository, intent.branch);
    const unread = refused.find(({ isFailure }) => isFailure === true);
    if (unread && !isLate) return deferred(requeueAfter(work, retryMs));
    const next = later.filter(({ terms }) => terms.promotedFrom.deploymentId === intent.deploymentId);
    const promoted = notPromoted(intent, next, refused, unread?.why ?? mistakeIn(targets, intent));
    for (const target of next) promoted.push(await promoteTo(work, intent, target));
    return await recordPromotions(work, intent, promoted);
  } catch (error) {
    if (!isTransientError(error)) throw error;
    if (!isRetryable(error) && isLate)
      return recordPromotions(work, intent, notPromoted(intent, [], [], error.message));
    // What fails in passing is not refused: a refusal after it is tried again as long as any.
    if (isRetryable(error)) await saveIntents(work, [], { also: [{ ...intent, waitedUntil: context.clock.now() }] });
    context.log.warn(`what follows from intent ${intent.id} could not be read: ${error.message}`);
    return deferred(retryLater(work, error, intent.end.at));
  }
}

/** Where the whole file has a mistake, no deployment of it is known to follow. */
const mistakeIn = (targets: Targets['targets'], { deploymentId }: Ended): string | undefined =>
  targets.some((each) => each.deploymentId === deploymentId && each.terms.unread)
    ? 'the deploy file of the default branch has a mistake'
    : undefined;

/** How soon an unread file is read again (ms). */
const retryMs = 30_000;

const deferred = (later: StepResult): StepResult => (later.kind === 'requeue' ? { ...later, of: promotesKey } : later);

/** The deployments that were to follow, and are not there to be promoted to. */
function notPromoted(
  { terms: { promotesTo = [] } }: Ended,
  next: readonly LaterTarget[],
  refused: Targets['refused'],
  whyElse = 'the deploy file does not order it after this one any more',
): PromotedTo[] {
  const found = next.map(({ terms }) => terms.deploymentName);
  // A mistake of the whole file is refused under the name of the file.
  const whyOf = (name: string) =>
    refused.find((each) => each.deployment === name || each.deployment === defaultConfigPath)?.why;
  return promotesTo
    .filter((name) => !found.includes(name))
    .map((deployment) => ({ deployment, code: 'refused', why: whyOf(deployment) ?? whyElse }));
}

async function promoteTo(work: ReconcileContext, intent: Ended, target: LaterTarget): Promise<PromotedTo> {
  const { store, clock } = work.context;
  const deployment = target.terms.deploymentName;
  if (target.terms.gate?.hold) return { deployment, code: 'held' };
  const { revisionId } = intent;
  if (revisionId === undefined) throw new Error('A proven deploy has no revision.');
  const { repository, branch, commit } = intent;
  const from = { ...target.terms.promotedFrom, revisionId, order: intent.seq };
  const cause = { kind: 'promotion', key: `${from.deploymentId}:${revisionId}`, at: clock.now() } as const;
  await store.request(promotionRequest(target, { repository, branch, commit, cause, from }));
  return { deployment, code: 'requested' };
}

/** Stores what follows from a proven deploy; its check shows it, unless the check is about a newer request. */
async function recordPromotions(
  work: ReconcileContext,
  intent: Ended | undefined,
  promoted: readonly PromotedTo[],
): Promise<StepResult> {
  if (!intent || promoted.length === 0) return saveIntents(work, [], { promotes: null });
  const marked: Intent = { ...intent, promoted };
  const reports = (await hasOwnCheck(work, intent)) ? reportsOf(work, marked) : [];
  await saveIntents(work, [], { promotes: null, also: [marked], reports });
  return continued;
}
