import { sameCommit } from '../../src/contract/control/repo-ref.ts';
import { outcomes } from '../../src/deploy/words/outcomes.ts';
import { attributeVerdict } from '../../src/deploy/rules/verdict-subject.ts';
import { tryCall } from '../../src/deploy/smoke/try-call.ts';
import { reportVerdict } from '../verify/report-verdict.ts';
import { liveOutcome, untestedOutcome, withOutcome, wrongOutcome } from './outcomes.ts';
import { afterTests } from './next.ts';
import { deploysCommit, requestAfter, requestLike, type DeployRequest } from './deploy-request.ts';
import type { Concluding, Ended } from './intent.ts';
import { markContained, mayContain } from './contained-commits.ts';
import { baselinesOf } from './live-answers.ts';
import { promotionAfter } from './promotion-after.ts';
import { observeDeployment, type DeploymentObservation } from './observation.ts';
import {
  continued,
  endIntent,
  headOf,
  reportsOf,
  saveIntents,
  type StepResult,
  type ReconcileContext,
} from './reconcile-context.ts';
import { isExpired } from './deadlines.ts';
import { isRetryable } from './transient-error.ts';

/** Sets the outcome of a revision that went live and was tested. */
export async function conclude(work: ReconcileContext, intent: Concluding): Promise<StepResult> {
  const { verdict } = intent;
  await work.context.step?.('before-conclusion', intent.id);
  const known = verdict.kind === 'failed' ? await work.context.store.intentsOf(intent.deploymentId, intent.commit) : [];
  const back = known.find(({ cause }) => cause.kind === 'failure' && cause.key === intent.id);
  // Requested by a version that stored no state of its own for this.
  if (back && back.state !== 'ended') return saveIntents(work, [{ ...intent, state: 'undoing' }]);
  const observation = await observeTested(work, intent);
  const next = afterTests(intent, observation?.deployment.active_revision_id, back !== undefined);
  if (next.kind === 'restore') return restore(work, intent, next);
  if (next.isVerdictDue) await reportVerdict(work, intent);
  if (next.kind === 'wrong') return endIntent(work, intent, wrongOutcome(intent, next.isImpossible));
  if (!observation) return continued;
  return next.kind === 'replaced' ? replaced(work, intent, observation) : endLive(work, intent, observation, next.kind);
}

/** The outcome of a revision that serves as it should, as far as its tests tell, and what follows from it. */
async function endLive(
  work: ReconcileContext,
  intent: Concluding,
  { deployment, live }: DeploymentObservation,
  kind: 'live' | 'untested',
): Promise<StepResult> {
  const { clock, store } = work.context;
  const now = clock.now();
  const answers = (intent.compared ?? []).map((each) => ({ ...each, takenAt: now }));
  const baselines = baselinesOf(intent, intent.revisionId, answers, deployment);
  const done = withOutcome(intent, kind === 'untested' ? untestedOutcome(intent) : liveOutcome(intent), now);
  const requests = await requestRolledBackHead(work, done);
  if (done.end.kind === 'unproven') return saveIntents(work, [done], { requests, baselines });
  const isOfCommit = deploysCommit(done.sending);
  const commit = isOfCommit ? done.commit : live?.commit;
  const contained = commit === undefined ? undefined : await markContained(work, done, commit);
  const { rolledBackCommit } = await store.deploymentQueue(intent.deploymentId);
  const isForgiven = isOfCommit && sameCommit(rolledBackCommit, done.commit);
  return saveIntents(work, [done], {
    requests,
    baselines,
    ...(isPromoted(done) ? { promotes: done.id } : {}),
    ...(isForgiven ? { rolledBackCommit: null } : {}),
    also: contained?.intents ?? [],
    reports: (contained?.reported ?? []).flatMap((each) => reportsOf(work, each)),
  });
}

/** Whether deployments of the next environment get what was proven. */
const isPromoted = (done: Ended): boolean =>
  (done.terms.promotesTo ?? []).length > 0 && promotionAfter(done, done.end) === 'promote';

/**
 * The deployment after the tests, before anything follows from them; it is read again later if that fails. A failed
 * test has to come to an end without it: then it is undefined. @throws ServiceError
 */
async function observeTested(
  work: ReconcileContext,
  { id, updatedAt, terms, verdict }: Concluding,
): Promise<DeploymentObservation | undefined> {
  const read = await tryCall(observeDeployment(work));
  if (read.ok) return read.value;
  const isOpen = !isExpired(work.context.clock, id, updatedAt + terms.timeoutMs, terms.timeoutMs);
  if (verdict.kind !== 'failed' || (isOpen && isRetryable(read.error))) throw read.error;
  return undefined;
}

/** Requests a rollback. The report of the verdict does not delay it. */
function restore(
  work: ReconcileContext,
  intent: Concluding,
  { revisionId, isVerdictDue }: { revisionId: string; isVerdictDue: boolean },
): Promise<StepResult> {
  const { id, commit } = intent;
  const now = work.context.clock.now();
  const request = requestLike(intent, {
    commit,
    sending: { kind: 'redeploy', revisionId },
    cause: { kind: 'failure', key: id, at: now },
  });
  const undoing = { ...intent, state: 'undoing', ...(isVerdictDue ? { verdictDueAt: now } : {}) } as const;
  return saveIntents(work, [undoing], { requests: [request] });
}

/** Another revision is live by now: the verdict is not about it. */
async function replaced(
  work: ReconcileContext,
  intent: Concluding,
  { deployment: { active_revision_id: active }, live }: DeploymentObservation,
): Promise<StepResult> {
  const { revisionId: tested } = intent;
  const commit = live?.commit;
  const contains = commit && (await mayContain(work, intent.repository, intent.commit, commit));
  const end = {
    ...outcomes.replaced({ revisionId: tested, active }, 'app'),
    ...(commit ? { by: { commit, contains: contains || undefined } } : {}),
  };
  return endIntent(work, { ...intent, verdict: attributeVerdict(intent.verdict, { tested, active }) }, end);
}

/** Requests a head that a person rolled back: it is not built, and its check, which may still be green, says why. */
async function requestRolledBackHead(work: ReconcileContext, done: Ended): Promise<DeployRequest[]> {
  if (done.cause.kind !== 'rollback') return [];
  const { rolledBackCommit: rolledBack } = await work.context.store.deploymentQueue(done.deploymentId);
  if (rolledBack === undefined) return [];
  if (done.terms.promotedFrom) return requestRolledBackPromotion(work, done, rolledBack);
  const head = await headOf(work, done);
  if (!head || !sameCommit(head.sha, rolledBack)) return [];
  return [requestAfter(done, head.sha, work.context.clock.now())];
}

/** The same where the environment before proved the commit: its promotion is requested again, and not done. */
async function requestRolledBackPromotion(
  work: ReconcileContext,
  done: Ended,
  rolledBack: string,
): Promise<DeployRequest[]> {
  const intents = await work.context.store.intentsOf(done.deploymentId, rolledBack);
  const promoted = intents.findLast(({ sending }) => sending.kind === 'promote');
  if (!promoted) return [];
  const cause = { kind: 'promotion', key: `after-${done.id}`, at: work.context.clock.now() } as const;
  return [requestLike(done, { commit: promoted.commit, sending: promoted.sending, cause })];
}
