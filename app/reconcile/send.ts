import type { Deployment } from '../../src/contract/control/deployment.ts';
import type { ChangeOptions } from '../../src/contract/control/service.ts';
import { tryCall, type CallResult } from '../../src/deploy/smoke/try-call.ts';
import { withGrace } from '../../src/deploy/machine/deadlines.ts';
import { verificationAfterRefusal } from '../../src/deploy/rules/verification.ts';
import { beginFollowing } from './begin-following.ts';
import { verificationOf, withVerification } from './verification.ts';
import type { Intent } from './intent.ts';
import { comparingTests } from './live-answers.ts';
import { beginMeasuring, measuredBaselines, withLiveAnswers, withNotesOfLive } from './measure-live.ts';
import type { QueueChanges } from './store.ts';
import { isRetryable, refusedByService, retryLater } from './transient-error.ts';
import { endIntent, requeueAfter, saveIntents, type StepResult, type ReconcileContext } from './reconcile-context.ts';

/** Timeout of a write, and of resolving its outcome (ms). */
export const resolveWithinMs = 60_000;
/** How long after it was stored a request may still go out (ms). */
const lateMs = 20_000;
/** How long a request may continue after shutdown begins (ms): an aborted one may have taken effect. */
const graceMs = 3_000;

/** The service's latest and live revisions, as an intent keeps them. */
export const formerOf = ({ latest_revision_id, active_revision_id }: Deployment) => ({
  formerLatestRevisionId: latest_revision_id,
  formerLiveRevisionId: active_revision_id,
});

/**
 * Stores that the request goes out, with what stood before it, and sends it. Where the revision will not be held, and
 * tests compare it with the live one, that one is measured before.
 */
export async function sendFor(
  work: ReconcileContext,
  intent: Intent,
  deployment: Deployment,
  deploymentQueue: QueueChanges = {},
): Promise<StepResult> {
  const { context } = work;
  const verified = intent.unheld
    ? intent
    : withVerification(intent, await verificationOf(work, intent, deployment.active_revision_id));
  const answers = await withLiveAnswers(work, verified, deployment);
  if (answers?.state === 'measuring') return beginMeasuring(work, answers);
  const sentAt = context.clock.now();
  const sending: Intent = {
    ...withNotesOfLive(answers ?? verified, deployment),
    state: 'sending',
    ...formerOf(deployment),
    sentAt,
    sends: (intent.sends ?? 0) + 1,
    deadline: sentAt + resolveWithinMs,
  };
  const baselines = measuredBaselines(sending, deployment);
  await saveIntents(work, [sending], { ...deploymentQueue, baselines });
  await context.step?.('before-send', intent.id);
  // After a long pause the lease may belong to another process. Nothing has been sent yet.
  const isLate = work.signal.aborted || context.clock.now() - sentAt > lateMs;
  return isLate ? saveIntents(work, [unsent(sending)]) : request(work, sending);
}

/** Sends the request of an intent that is stored as `sending`, and handles the response. */
export async function request(work: ReconcileContext, intent: Intent): Promise<StepResult> {
  const answered = await ask(work, intent);
  await work.context.step?.('sent', intent.id);
  if (answered.ok) {
    const made = madeBy(intent, answered.value);
    // A service may list its new revision a little later; a later step resolves it.
    return made === undefined ? requeueAfter(work, 1_000, intent.id) : beginFollowing(work, intent, made, 'triggered');
  }
  const { error } = answered;
  if (error.effect === 'unknown') {
    const result = retryLater(work, error, intent.sentAt ?? work.context.clock.now());
    return result.kind === 'requeue' ? { ...result, of: intent.id } : result;
  }
  const instead = intent.holdSeconds === undefined ? undefined : verificationAfterRefusal(intent.terms.verify, error);
  if (instead) {
    // The service can't hold this revision, and has made none: the same request goes out without a hold.
    const unheld: Intent = { ...withVerification(intent, instead), unheld: true };
    if (comparingTests(intent).length > 0) return saveIntents(work, [unsent(unheld)]);
    await saveIntents(work, [unheld]);
    return request(work, unheld);
  }
  // Another client made a revision in the meantime: decide again from the current state.
  if (error.status === 412) return saveIntents(work, [unsent(intent)]);
  if (isRetryable(error)) {
    // The request had no effect: do not show it as possibly running.
    await saveIntents(work, [unsent(intent)]);
    return retryLater(work, error, intent.createdAt);
  }
  return endIntent(work, intent, refusedByService(error));
}

/** Goes back to deciding: what was sent did nothing. Keeps `sentAt`: GitHub shows a deployment, which needs an outcome. */
function unsent(intent: Intent): Intent {
  const { deadline: _deadline, formerLatestRevisionId: _latest, formerLiveRevisionId: _live, ...rest } = intent;
  return { ...rest, state: 'requested', sends: Math.max(0, (intent.sends ?? 1) - 1) };
}

/** The revision that a response reports; an old revision may itself become current again. */
function madeBy({ sending, formerLatestRevisionId }: Intent, answer: Deployment): string | undefined {
  const { latest_revision_id: latest } = answer;
  if (latest && latest !== formerLatestRevisionId) return latest;
  return sending.kind === 'redeploy' ? sending.revisionId : undefined;
}

function ask({ context, signal }: ReconcileContext, intent: Intent): Promise<CallResult<Deployment>> {
  const { deploymentId, sending, id, formerLatestRevisionId, holdSeconds } = intent;
  const deadline = context.clock.now() + resolveWithinMs - 5_000;
  return withGrace(context.clock, graceMs, signal, (late) => {
    const options: ChangeOptions = {
      signal: late,
      deadline,
      idempotencyKey: id,
      ifLatest: formerLatestRevisionId ?? undefined,
      holdSeconds,
    };
    return tryCall(
      sending.kind === 'restate'
        ? context.control.patchDeployment(
            deploymentId,
            { source_revision_config: { repo_ref: sending.repoRef } },
            options,
          )
        : context.control.redeployRevision(deploymentId, sending.revisionId, options),
    );
  });
}
