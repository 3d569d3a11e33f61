import type { Deployment } from '../../src/contract/control/deployment.ts';
import type { ServiceError } from '../../src/contract/service-error.ts';
import {
  decideWhenToTest,
  sendChange,
  type Change,
  type SendResult,
} from '../../src/deploy/machine/steps/send-change.ts';
import { tryCall } from '../../src/deploy/smoke/try-call.ts';
import { deploysCommit } from './deploy-request.ts';
import { promotedFrom } from './promotion.ts';
import { checksBefore } from './await-checks.ts';
import { triedSince } from './await-gates.ts';
import { followMade } from './begin-following.ts';
import type { Former, IntentIn, Sending, UnsentIntent } from './intent.ts';
import { comparingTests, withNotes } from './live-answers.ts';
import { beginMeasuring, measuredBaselines, notesOfLive, withLiveAnswers } from './measure-live.ts';
import { nothingNew } from './observation.ts';
import type { QueueChanges } from './store.ts';
import { isRetryable, refusedByService, retryLater } from './transient-error.ts';
import {
  endIntent,
  readOptions,
  requeueAfter,
  saveIntents,
  type StepResult,
  type ReconcileContext,
} from './reconcile-context.ts';

/** Timeout of a write, and of resolving its outcome (ms). */
export const resolveWithinMs = 60_000;
/** How long after it was stored a request may still go out (ms). */
const lateMs = 20_000;
/** How long a request may continue after shutdown begins (ms): an aborted one may have taken effect. */
const graceMs = 3_000;

/** The service's latest and live revisions, as an intent keeps them. */
export const formerOf = ({ latest_revision_id, active_revision_id }: Deployment): Former => ({
  latest: latest_revision_id,
  live: active_revision_id,
});

/**
 * Stores that the request goes out, with what stood before it, and sends it. Where the revision will not be held, and
 * tests compare it with the live one, that one is measured before.
 */
export async function sendFor(
  work: ReconcileContext,
  intent: UnsentIntent,
  deployment: Deployment,
  deploymentQueue: QueueChanges = {},
): Promise<StepResult> {
  const { context } = work;
  const { holdSeconds, note } = await verificationOf(work, intent, deployment.active_revision_id);
  const verified = withNotes(intent, note ? [note] : []);
  const answered = holdSeconds === undefined ? await withLiveAnswers(work, verified, deployment) : verified;
  if (answered.state === 'measuring') return beginMeasuring(work, answered);
  const pin = await pinOf(work, answered);
  const sentAt = context.clock.now();
  const sending: Sending = {
    ...withNotes(answered, notesOfLive(answered, deployment)),
    state: 'sending',
    former: formerOf(deployment),
    sentAt,
    sends: (intent.sends ?? 0) + 1,
    deadline: sentAt + resolveWithinMs,
    ...(holdSeconds === undefined ? {} : { holdSeconds }),
    ...pin,
  };
  const baselines = measuredBaselines(sending, deployment);
  await saveIntents(work, [sending], { ...deploymentQueue, baselines });
  await context.step?.('before-send', intent.id);
  // After a long pause the lease may belong to another process. Nothing has been sent yet.
  const isLate = work.signal.aborted || context.clock.now() - sentAt > lateMs;
  return isLate ? saveIntents(work, [unsent(sending)]) : request(work, sending);
}

/** Sends the request of an intent that is stored as `sending`, and handles the response. */
export async function request(work: ReconcileContext, intent: Sending): Promise<StepResult> {
  const { context } = work;
  const sent = await send(work, intent);
  await context.step?.('sent', intent.id);
  switch (sent.kind) {
    case 'made':
      return followMade(work, intent, sent.revisionId);
    case 'accepted':
      // A service may list its new revision a little later; a later step resolves it.
      if (!intent.isAccepted) await saveIntents(work, [{ ...intent, isAccepted: true }]);
      return requeueAfter(work, 1_000, intent.id);
    case 'lost':
      return later(work, intent, sent.error);
    case 'hold-refused': {
      const { note } = sent.verification;
      const { holdSeconds: _, ...rest } = withNotes(intent, note ? [note] : []);
      const unheld: Sending = { ...rest, unheld: true };
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
      if (intent.sends > 1 && !(await nothingNew(work, intent))) return later(work, intent, sent.error);
      // The request had no effect: do not show it as possibly running.
      await saveIntents(work, [unsent(intent)]);
      return retryLater(work, sent.error, intent.createdAt);
  }
}

/** Resolves later what became of the request of an intent, which stays as it is. */
function later(work: ReconcileContext, intent: Sending, error: ServiceError): StepResult {
  const result = retryLater(work, error, intent.sentAt);
  return result.kind === 'requeue' ? { ...result, of: intent.id } : result;
}

/** Goes back to deciding: what was sent did nothing. Keeps `sentAt`: GitHub shows a deployment, which needs an outcome. */
const unsent = (intent: Sending): IntentIn<'requested'> => ({
  ...intent,
  state: 'requested',
  sends: Math.max(0, intent.sends - 1),
});

function send({ context, signal }: ReconcileContext, intent: Sending): Promise<SendResult> {
  const { id: key, holdSeconds, pinsCommit, copiesBuild, terms } = intent;
  const { latest: former = null } = intent.former;
  const { control, clock } = context;
  const by = { control, clock, signal, graceMs, withinMs: resolveWithinMs - 5_000 };
  const commit = pinsCommit ? intent.commit : undefined;
  const buildOf = copiesBuild ? promotedFrom(intent)?.revisionId : undefined;
  return sendChange(changeOf(intent), { former, key, holdSeconds, commit, buildOf, verify: terms.verify }, by);
}

function changeOf({ deploymentId, sending }: Sending): Change {
  switch (sending.kind) {
    case 'redeploy':
      return { ...sending, deploymentId };
    case 'restate':
    case 'promote':
      return { kind: 'patch', deploymentId, request: { source_revision_config: { repo_ref: sending.repoRef } } };
    case 'test':
      throw new Error('A test of the live revision sends no change.');
  }
}

/**
 * What the service is told of the commit: one that a person confirmed, whose checks have passed, or that was proven, must
 * not become another, to which the branch moves before the build. A service that pins no commits builds the head.
 */
async function pinOf(
  work: ReconcileContext,
  intent: UnsentIntent,
): Promise<Pick<Sending, 'pinsCommit' | 'copiesBuild'>> {
  const isPromotion = intent.sending.kind === 'promote';
  const isMeant =
    intent.cause.isPinned === true || checksBefore(intent) !== undefined || intent.approvals !== undefined;
  if (!isPromotion && (intent.sending.kind !== 'restate' || !isMeant)) return {};
  const { control, clock } = work.context;
  const features = await tryCall(control.features(readOptions(work)));
  if (!features.ok) {
    const isNeeded = isPromotion || intent.cause.isPinned === true || intent.approvals !== undefined;
    if (isNeeded || clock.now() - triedSince(intent) < patienceMs) throw features.error;
    return {};
  }
  const { pinsCommits, copiesBuilds } = features.value;
  return {
    ...(pinsCommits === true ? { pinsCommit: true } : {}),
    ...(isPromotion && copiesBuilds === true ? { copiesBuild: true } : {}),
  };
}

/** How long it is tried to read what the service offers (ms), before a revision goes live without a hold. */
const patienceMs = 10 * 60_000;

/**
 * When the revision of a request is tested. One that goes back to an old revision is not held: it is to serve soon.
 *
 * @param live the revision that serves, which alone has conversations.
 */
function verificationOf(
  work: ReconcileContext,
  intent: UnsentIntent,
  live: string | null,
): ReturnType<typeof decideWhenToTest> {
  const { sending, terms, unheld } = intent;
  const { control, clock } = work.context;
  const [isUnheld, isReplacing] = [unheld === true || !deploysCommit(sending), live !== null];
  const onUnavailable = clock.now() - triedSince(intent) < patienceMs ? 'throw' : 'after-traffic';
  const features = () => control.features(readOptions(work));
  return decideWhenToTest({ terms, isUnheld, isReplacing, features, onUnavailable });
}
