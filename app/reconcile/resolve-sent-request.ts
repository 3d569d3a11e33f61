import type { Revision } from '../../src/contract/control/revision.ts';
import { sameCommit } from '../../src/contract/control/repo-ref.ts';
import { findEffect } from '../../src/deploy/machine/steps/read-deployment.ts';
import { followMade } from './begin-following.ts';
import { mayContain } from './contained-commits.ts';
import { isExpired } from './deadlines.ts';
import { outcomes } from '../../src/deploy/words/outcomes.ts';
import { otherCommitOutcome, unknownEffect, withOutcome } from './outcomes.ts';
import { deploysCommit, requestAfter } from './deploy-request.ts';
import type { IntentIn, Sending } from './intent.ts';
import { request, resolveWithinMs } from './send.ts';
import { commitOfTarget, observeDeployment, nothingNew, readerOf, type DeploymentObservation } from './observation.ts';
import {
  endIntent,
  headOf,
  saveIntents,
  readOptions,
  requeueAfter,
  type StepResult,
  type ReconcileContext,
} from './reconcile-context.ts';
import { rolloutOf } from '../../src/deploy/machine/state.ts';

/** Poll interval for the outcome of a request (ms). */
const lookMs = 3_000;

/** For how long a service that heeds keys is taken to know one (ms). */
const keysLastMs = 6 * 24 * 60 * 60_000;

/**
 * Resolves a request without a response. A service that honours idempotency keys gets the same request again and
 * responds as the first time. Any other one is only observed, and never sent to again.
 */
export async function resolveSentRequest(work: ReconcileContext, intent: Sending): Promise<StepResult> {
  const { context } = work;
  const { idempotencyKeys } = await context.control.features(readOptions(work));
  // Idempotency keys expire: our service keeps them for 7 days.
  const isRemembered = context.clock.now() - intent.sentAt < keysLastMs;
  if (!idempotencyKeys || !isRemembered) return resolveByObservation(work, intent);
  const sends = intent.sends + 1;
  // A response that never names a revision counts as final.
  if (sends > 3 && isTimeOver(work, intent) && (await nothingNew(work, intent))) {
    return endIntent(work, intent, outcomes.noRevision('app'));
  }
  const again = { ...intent, sends };
  await saveIntents(work, [again]);
  return request(work, again);
}

type Seeking = IntentIn<'sending' | 'expecting'>;

const isTimeOver = ({ context }: ReconcileContext, { id, deadline, terms }: Seeking): boolean =>
  isExpired(context.clock, id, deadline, Math.max(resolveWithinMs, terms.timeoutMs));

/** Whether its revision may still be found: in its time, or where one that was made since does not report its commit. */
export function mayAppear(work: ReconcileContext, intent: Seeking, isUnreported: boolean, since: number): boolean {
  const { id, terms } = intent;
  const isOver = () => isExpired(work.context.clock, id, since + terms.timeoutMs, terms.timeoutMs);
  return !isTimeOver(work, intent) || (isUnreported && !isOver());
}

async function resolveByObservation(work: ReconcileContext, intent: Sending): Promise<StepResult> {
  const observation = await observeDeployment(work);
  const commit = deploysCommit(intent.sending) ? intent.commit : await commitOfTarget(work, intent);
  const seen = { deployment: observation.deployment, former: intent.former.latest };
  const { found, newer: made } = await findEffect({ commit }, seen, readerOf(work));
  if (found.kind === 'made') return followMade(work, intent, found.revision.id);
  if (mayAppear(work, intent, found.kind === 'may-be', intent.sentAt)) return requeueAfter(work, lookMs);
  return endUnresolved(work, intent, made, observation);
}

/** The time for looking is over, and no revision of this commit is seen. */
async function endUnresolved(
  work: ReconcileContext,
  intent: Sending,
  made: readonly Revision[],
  observation: DeploymentObservation,
): Promise<StepResult> {
  const head = intent.sending.kind === 'restate' ? await headOf(work, intent) : undefined;
  const ofHead = head && made.find((each) => sameCommit(each.source_revision_config.repo_commit_sha, head.sha));
  if (head && ofHead) {
    const contains = await mayContain(work, intent.repository, intent.commit, head.sha);
    const requests = [requestAfter(intent, head.sha, work.context.clock.now())];
    const end = otherCommitOutcome(intent, ofHead.id, head.sha, contains);
    const ended = { ...withOutcome(intent, end, work.context.clock.now()), revisionId: ofHead.id };
    const rollout = { ...rolloutOf(ofHead.id), builtCommit: head.sha };
    return saveIntents(work, [{ ...ended, rollout }], { requests });
  }
  if (intent.isAccepted && made.length === 0) return endIntent(work, intent, outcomes.noRevision('app'));
  const newest = observation.deployment.latest_revision_id ?? 'none';
  const why =
    made.length > 0
      ? `the newest revision is ${newest}, which is not of this commit`
      : `the newest revision is still ${newest}`;
  return endIntent(work, intent, unknownEffect(intent, why));
}
