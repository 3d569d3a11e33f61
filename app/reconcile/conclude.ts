import { sameCommit } from '../../src/deploy/rules/commit.ts';
import { outcomes } from '../../src/deploy/words/outcomes.ts';
import { decideRollback } from '../../src/deploy/rules/rollback.ts';
import { attributeVerdict } from '../../src/deploy/rules/verdict-subject.ts';
import { tryCall } from '../../src/deploy/smoke/try-call.ts';
import { reportVerdict } from '../verify/report-verdict.ts';
import { withOutcome, liveOutcome, untestedOutcome } from './outcomes.ts';
import { requestAfter, requestLike, type DeployRequest } from './deploy-request.ts';
import type { Concluding, Ended } from './intent.ts';
import { markContained, mayContain } from './contained-commits.ts';
import { baselinesOf } from './live-answers.ts';
import { observeDeployment, type DeploymentObservation } from './observation.ts';
import {
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
  // Before traffic nothing else answered, and the verdict was reported then.
  const isReported = intent.verified === 'before-traffic';
  const active = observation?.deployment.active_revision_id;
  // A verdict that was found before is true still; a rollback would take back what serves now.
  const isSettled = isReported && verdict.kind !== 'failed';
  if (observation && !isSettled && active !== intent.revisionId) return replaced(work, intent, observation);
  if (!observation || verdict.kind === 'failed')
    return handleFailedTests(work, intent, { isVerdictDue: !!observation && !isReported, isTried: !!back });
  if (!isReported) await reportVerdict(work, intent);
  const now = work.context.clock.now();
  const answers = (intent.compared ?? []).map((each) => ({ ...each, takenAt: now }));
  const baselines = baselinesOf(intent, intent.revisionId, answers, observation.deployment);
  const isUnasked = verdict.kind === 'none' && intent.terms.unread === true;
  if (verdict.kind === 'unproven' || isUnasked) {
    const done = withOutcome(intent, isUnasked ? untestedOutcome(intent) : liveOutcome(intent), now);
    return saveIntents(work, [done], { requests: await requestRolledBackHead(work, done), baselines });
  }
  const done = withOutcome(intent, liveOutcome(intent), now);
  const live = done.sending.kind === 'restate' ? done.commit : observation.live?.commit;
  const contained = live === undefined ? undefined : await markContained(work, done, live);
  const { rolledBackCommit } = await work.context.store.deploymentQueue(intent.deploymentId);
  const isForgiven = done.sending.kind === 'restate' && sameCommit(rolledBackCommit, done.commit);
  return saveIntents(work, [done], {
    requests: await requestRolledBackHead(work, done),
    baselines,
    ...(isForgiven ? { rolledBackCommit: null } : {}),
    also: contained?.intents ?? [],
    reports: (contained?.reported ?? []).flatMap((each) => reportsOf(work, each)),
  });
}

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

/**
 * A failed smoke test: rolls back if configured and possible, else ends the intent. The report of a verdict that is
 * about the revision does not delay the rollback.
 */
async function handleFailedTests(
  work: ReconcileContext,
  intent: Concluding,
  { isVerdictDue, isTried }: { isVerdictDue: boolean; isTried: boolean },
): Promise<StepResult> {
  const now = work.context.clock.now();
  const decision = decideRollback({
    onFailure: intent.sending.kind === 'restate' ? intent.terms.onFailure : 'keep',
    revisionId: intent.revisionId,
    formerLive: intent.former.live,
  });
  if (decision.kind === 'restore' && !isTried) {
    const request = requestLike(intent, {
      commit: intent.commit,
      sending: { kind: 'redeploy', revisionId: decision.revisionId },
      cause: { kind: 'failure', key: intent.id, at: now },
    });
    const undoing = { ...intent, state: 'undoing', ...(isVerdictDue ? { verdictDueAt: now } : {}) } as const;
    return saveIntents(work, [undoing], { requests: [request] });
  }
  if (isVerdictDue) await reportVerdict(work, intent);
  const { revisionId, verdict } = intent;
  const isImpossible = decision.kind === 'impossible' && intent.cause.kind !== 'failure';
  const undo = isImpossible
    ? ({ kind: 'not-undone', why: 'no revision is known that was live before.' } as const)
    : undefined;
  return endIntent(work, intent, outcomes.wrong({ revisionId, verdict }, 'app', undo));
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
  const head = await headOf(work, done);
  if (!head || !sameCommit(head.sha, rolledBack)) return [];
  return [requestAfter(done, head.sha, work.context.clock.now())];
}
