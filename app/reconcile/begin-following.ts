import { revisionToRestore } from '../../src/deploy/rules/rollback.ts';
import { deadlineIn } from './deadlines.ts';
import { abandonedHold, searchedIntents } from './held-revision.ts';
import type { Bound, Following, IntentFields, Sending, UnsentIntent } from './intent.ts';
import type { DeploymentObservation } from './observation.ts';
import { saveIntents, continued, requeueAfter, type StepResult, type ReconcileContext } from './reconcile-context.ts';
import { rolloutOf } from '../../src/deploy/machine/state.ts';

/** Delay before a new revision is first observed (ms). */
const firstPollMs = 1_000;

/** Follows the revision that the request of an intent made. */
export async function followMade(work: ReconcileContext, intent: Sending, revisionId: string): Promise<StepResult> {
  await beginFollowing(work, { ...intent, revisionId, how: 'triggered' });
  return requeueAfter(work, firstPollMs, intent.id);
}

/** Follows a revision that is there without a request of this intent. */
export async function followFound(
  work: ReconcileContext,
  intent: UnsentIntent,
  revisionId: string,
  how: Bound['how'],
  { deployment }: DeploymentObservation,
): Promise<StepResult> {
  const before = await work.context.store.lastWithRevision(intent.deploymentId, searchedIntents);
  const others: IntentFields[] = before.filter(({ id }) => id !== intent.id);
  const maker = others.find((each) => each.revisionId === revisionId);
  // What was live before it: as the intent that made it recorded, else what is live now.
  const live = maker?.former?.live ?? revisionToRestore(revisionId, deployment.active_revision_id);
  const former = { ...(intent.state === 'expecting' && intent.former), ...(live ? { live } : {}) };
  const holdSeconds = abandonedHold(before, revisionId);
  const hold = holdSeconds === undefined ? {} : { holdSeconds };
  await beginFollowing(work, { ...intent, ...hold, revisionId, how, former });
  return continued;
}

/** Binds the intent to a revision: from now on it is followed by its id, whatever else becomes the newest. */
async function beginFollowing(
  work: ReconcileContext,
  intent: Omit<Following, 'state' | 'deadline' | 'rollout'>,
): Promise<void> {
  const { context } = work;
  const { id, revisionId, terms } = intent;
  const deadline = deadlineIn(context.clock, id, terms.timeoutMs);
  await saveIntents(work, [{ ...intent, state: 'following', rollout: rolloutOf(revisionId), deadline }]);
  await context.step?.('answer-stored', id);
}
