import { sameCommit } from '../../src/planning/commit.ts';
import { decideRollback } from '../../src/planning/rollback.ts';
import type { Verdict } from '../../src/planning/verdict-types.ts';
import { tryCall } from '../../src/deploy/try-call.ts';
import { reportVerdict } from '../verify/report-verdict.ts';
import { withOutcome, verifiedOutcome, untestedOutcome, unverifiedOutcome, reasonOfWrongAnswer } from './outcomes.ts';
import { requestAfter, requestLike, type Intent, type DeployRequest } from './intent.ts';
import { markContained, mayContain } from './contained-commits.ts';
import { observeDeployment, type DeploymentObservation } from './observation.ts';
import {
  endIntent,
  headOf,
  readOptions,
  reportsOf,
  saveIntents,
  type StepResult,
  type ReconcileContext,
} from './reconcile-context.ts';

/** Sets the outcome of a revision that went live and was tested. */
export async function conclude(work: ReconcileContext, intent: Intent): Promise<StepResult> {
  const { verdict } = intent;
  if (!verdict) throw new Error(`intent ${intent.id} is concluded without a verdict`);
  await work.context.step?.('before-conclusion', intent.id);
  if (verdict.kind === 'failed') return handleFailedTests(work, intent, verdict);
  const observation = await observeDeployment(work);
  if (observation.deployment.active_revision_id !== intent.revisionId) return replaced(work, intent, observation);
  await reportVerdict(work, intent, verdict);
  const now = work.context.clock.now();
  const isUnasked = verdict.kind === 'none' && intent.terms.unread === true;
  if (verdict.kind === 'unproven' || isUnasked) {
    const done = withOutcome(intent, isUnasked ? untestedOutcome(intent) : unverifiedOutcome(intent, verdict), now);
    return saveIntents(work, [done], { requests: await requestRolledBackHead(work, done) });
  }
  const done = withOutcome(intent, verifiedOutcome(intent, verdict), now);
  const live = done.sending.kind === 'restate' ? done.commit : observation.live?.commit;
  const contained = live === undefined ? undefined : await markContained(work, done, live);
  const { rolledBackCommit } = await work.context.store.deploymentQueue(intent.deploymentId);
  const isForgiven = done.sending.kind === 'restate' && sameCommit(rolledBackCommit, done.commit);
  return saveIntents(work, [done], {
    requests: await requestRolledBackHead(work, done),
    ...(isForgiven ? { rolledBackCommit: null } : {}),
    also: contained?.intents ?? [],
    reports: (contained?.reported ?? []).flatMap((each) => reportsOf(work, each)),
  });
}

/** A failed smoke test: rolls back if configured and possible, else reports the failure. */
async function handleFailedTests(work: ReconcileContext, intent: Intent, verdict: Verdict): Promise<StepResult> {
  const { context } = work;
  // A newer revision may serve by now, and the responses may be its own. The rollback does not wait for the report.
  const current = await tryCall(context.control.getDeployment(intent.deploymentId, readOptions(work)));
  if (current.ok && current.value.active_revision_id === intent.revisionId)
    work.reporting = reportVerdict(work, intent, verdict);
  const said = reasonOfWrongAnswer(intent, verdict);
  if (intent.cause.kind === 'failure') return endIntent(work, intent, { kind: 'broken', reason: `${said}.` });
  const decision = decideRollback({
    onFailure: intent.sending.kind === 'restate' ? intent.terms.onFailure : 'keep',
    revisionId: intent.revisionId,
    formerLive: intent.formerLiveRevisionId,
  });
  const known = await context.store.intentsOf(intent.deploymentId, intent.commit);
  const isTried = known.some(({ cause }) => cause.kind === 'failure' && cause.key === intent.id);
  if (decision.kind === 'restore' && !isTried) {
    const request = requestLike(intent, {
      commit: intent.commit,
      sending: { kind: 'redeploy', revisionId: decision.revisionId },
      cause: { kind: 'failure', key: intent.id, at: context.clock.now() },
    });
    return saveIntents(work, [intent], { requests: [request] });
  }
  const why = decision.kind === 'impossible' ? ' Not rolled back: no revision is known that was live before.' : '';
  const advice = 'Correct the agent and push, or press Rollback where a former revision is known.';
  return endIntent(work, intent, { kind: 'broken', reason: `${said}. It is live.${why}`, advice });
}

/** Another revision is live by now: the verdict is not about it. */
async function replaced(
  work: ReconcileContext,
  intent: Intent,
  { deployment, live }: DeploymentObservation,
): Promise<StepResult> {
  const by = deployment.active_revision_id ?? 'none';
  const commit = live?.commit;
  const contains = commit && (await mayContain(work, intent.repository, intent.commit, commit));
  return endIntent(work, intent, {
    kind: 'superseded',
    reason: `Revision ${intent.revisionId} was live, but revision ${by} replaced it before its smoke tests ended.`,
    ...(commit ? { by: { commit, contains: contains || undefined } } : {}),
  });
}

/** Requests a head that a person rolled back: it is not built, and its check, which may still be green, says why. */
async function requestRolledBackHead(work: ReconcileContext, done: Intent): Promise<DeployRequest[]> {
  if (done.cause.kind !== 'rollback') return [];
  const { rolledBackCommit: rolledBack } = await work.context.store.deploymentQueue(done.deploymentId);
  if (rolledBack === undefined) return [];
  const head = await headOf(work, done);
  if (!head || !sameCommit(head.sha, rolledBack)) return [];
  return [requestAfter(done, head.sha, work.context.clock.now())];
}
