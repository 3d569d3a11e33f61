import type { Deployment } from '../../src/contract/control/deployment.ts';
import type { ServiceError } from '../../src/contract/service-error.ts';
import { sendChange, type Change, type SendResult } from '../../src/deploy/machine/steps/send-change.ts';
import { afterTraffic } from '../../src/deploy/rules/verification.ts';
import { beginFollowing } from './begin-following.ts';
import { verificationOf, withVerification } from './verification.ts';
import type { Intent } from './intent.ts';
import { comparingTests } from './live-answers.ts';
import { beginMeasuring, measuredBaselines, withLiveAnswers, withNotesOfLive } from './measure-live.ts';
import { nothingNew } from './observation.ts';
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
  const { context } = work;
  const sent = await send(work, intent);
  await context.step?.('sent', intent.id);
  switch (sent.kind) {
    case 'made':
      return beginFollowing(work, intent, sent.revisionId, 'triggered');
    case 'accepted':
      // A service may list its new revision a little later; a later step resolves it.
      if (!intent.isAccepted) await saveIntents(work, [{ ...intent, isAccepted: true }]);
      return requeueAfter(work, 1_000, intent.id);
    case 'lost':
      return later(work, intent, sent.error);
    case 'hold-refused': {
      const verification = afterTraffic(intent.terms.verify, sent.why);
      const unheld: Intent = { ...withVerification(intent, verification), unheld: true };
      if (comparingTests(intent).length > 0) return saveIntents(work, [unsent(unheld)]);
      await saveIntents(work, [unheld]);
      return request(work, unheld);
    }
    case 'overtaken':
      // Decide again from the current state.
      return saveIntents(work, [unsent(intent)]);
    case 'refused':
      if (!isRetryable(sent.error)) return endIntent(work, intent, refusedByService(sent.error));
      // A refusal that may pass says nothing about the request before it, which may have taken effect.
      if ((intent.sends ?? 1) > 1 && !(await nothingNew(work, intent))) return later(work, intent, sent.error);
      // The request had no effect: do not show it as possibly running.
      await saveIntents(work, [unsent(intent)]);
      return retryLater(work, sent.error, intent.createdAt);
  }
}

/** Resolves later what became of the request of an intent, which stays as it is. */
function later(work: ReconcileContext, intent: Intent, error: ServiceError): StepResult {
  const result = retryLater(work, error, intent.sentAt ?? work.context.clock.now());
  return result.kind === 'requeue' ? { ...result, of: intent.id } : result;
}

/** Goes back to deciding: what was sent did nothing. Keeps `sentAt`: GitHub shows a deployment, which needs an outcome. */
function unsent(intent: Intent): Intent {
  const { deadline: _, formerLatestRevisionId: _latest, formerLiveRevisionId: _live, isAccepted: __, ...rest } = intent;
  return { ...rest, state: 'requested', sends: Math.max(0, (intent.sends ?? 1) - 1) };
}

function send({ context, signal }: ReconcileContext, intent: Intent): Promise<SendResult> {
  const { deploymentId, sending, id: key, formerLatestRevisionId: former = null, holdSeconds } = intent;
  const { control, clock } = context;
  const by = { control, clock, signal, graceMs, withinMs: resolveWithinMs - 5_000 };
  const change: Change =
    sending.kind === 'redeploy'
      ? { ...sending, deploymentId }
      : { kind: 'patch', deploymentId, request: { source_revision_config: { repo_ref: sending.repoRef } } };
  return sendChange(change, { former, key, holdSeconds }, by);
}
