import type { Revision } from '../../src/contract/control/revision.ts';
import { sameCommit } from '../../src/deploy/rules/commit.ts';
import { findMade } from '../../src/deploy/rules/find-made.ts';
import { beginFollowing } from './begin-following.ts';
import { mayContain } from './contained-commits.ts';
import { isExpired } from './deadlines.ts';
import { outcomes } from '../../src/deploy/words/outcomes.ts';
import { otherCommitOutcome, unknownEffect } from './outcomes.ts';
import { requestAfter, type Intent } from './intent.ts';
import { request, resolveWithinMs } from './send.ts';
import { commitOfTarget, observeDeployment, madeSince, nothingNew, type DeploymentObservation } from './observation.ts';
import {
  endIntent,
  headOf,
  saveIntents,
  readOptions,
  requeueAfter,
  type StepResult,
  type ReconcileContext,
} from './reconcile-context.ts';

/** Poll interval for the outcome of a request (ms). */
const lookMs = 3_000;

/** For how long a service that heeds keys is taken to know one (ms). */
const keysLastMs = 6 * 24 * 60 * 60_000;

/**
 * Resolves a request without a response. A service that honours idempotency keys gets the same request again and
 * responds as the first time. Any other one is only observed, and never sent to again.
 */
export async function resolveSentRequest(work: ReconcileContext, intent: Intent): Promise<StepResult> {
  const { context } = work;
  const { idempotencyKeys } = await context.control.features(readOptions(work));
  // Idempotency keys expire: our service keeps them for 7 days.
  const isRemembered = context.clock.now() - (intent.sentAt ?? 0) < keysLastMs;
  if (!idempotencyKeys || !isRemembered) return resolveByObservation(work, intent);
  const sends = (intent.sends ?? 1) + 1;
  // A response that never names a revision counts as final.
  if (sends > 3 && isTimeOver(work, intent) && (await nothingNew(work, intent))) {
    return endIntent(work, intent, outcomes.noRevision('app'));
  }
  const again: Intent = { ...intent, sends };
  await saveIntents(work, [again]);
  return request(work, again);
}

const isTimeOver = ({ context }: ReconcileContext, { id, deadline, sentAt = 0, terms }: Intent): boolean =>
  isExpired(context.clock, id, deadline ?? sentAt + resolveWithinMs, Math.max(resolveWithinMs, terms.timeoutMs));

async function resolveByObservation(work: ReconcileContext, intent: Intent): Promise<StepResult> {
  const observation = await observeDeployment(work);
  const made = await madeSince(work, observation, intent.formerLatestRevisionId ?? null);
  const wanted = intent.sending.kind === 'restate' ? intent.commit : await commitOfTarget(work, intent);
  const found = findMade({ commit: wanted }, { deployment: observation.deployment, newer: made });
  if (found.kind === 'made') return beginFollowing(work, intent, found.revision.id, 'triggered');
  const { id, sentAt, terms } = intent;
  const mayReport =
    found.kind === 'may-be' &&
    (sentAt === undefined || !isExpired(work.context.clock, id, sentAt + terms.timeoutMs, terms.timeoutMs));
  if (!isTimeOver(work, intent) || mayReport) return requeueAfter(work, lookMs);
  return endUnresolved(work, intent, made, observation);
}

/** The time for looking is over, and no revision of this commit is seen. */
async function endUnresolved(
  work: ReconcileContext,
  intent: Intent,
  made: readonly Revision[],
  observation: DeploymentObservation,
): Promise<StepResult> {
  const head = intent.sending.kind === 'restate' ? await headOf(work, intent) : undefined;
  const ofHead = head && made.find((each) => sameCommit(each.source_revision_config.repo_commit_sha, head.sha));
  if (head && ofHead) {
    const contains = await mayContain(work, intent.repository, intent.commit, head.sha);
    const bound: Intent = { ...intent, revisionId: ofHead.id, builtCommit: head.sha };
    const requests = [requestAfter(bound, head.sha, work.context.clock.now())];
    return endIntent(work, bound, otherCommitOutcome(bound, head.sha, contains), { requests });
  }
  if (intent.isAccepted && made.length === 0) return endIntent(work, intent, outcomes.noRevision('app'));
  const newest = observation.deployment.latest_revision_id ?? 'none';
  const why =
    made.length > 0
      ? `the newest revision is ${newest}, which is not of this commit`
      : `the newest revision is still ${newest}`;
  return endIntent(work, intent, unknownEffect(intent, why));
}
