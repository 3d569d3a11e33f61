import { revisionToRestore } from '../../src/deploy/rules/rollback.ts';
import { rolloutOf } from '../../src/deploy/rules/rollout.ts';
import { deadlineIn } from './deadlines.ts';
import { abandonedHold } from './held-revision.ts';
import type { Intent } from './intent.ts';
import type { DeploymentObservation } from './observation.ts';
import { saveIntents, continued, requeueAfter, type StepResult, type ReconcileContext } from './reconcile-context.ts';

/** Delay before a new revision is first observed (ms). */
const firstPollMs = 1_000;

/** Binds the intent to a revision: from now on it is followed by its id, whatever else becomes the newest. */
export async function beginFollowing(
  work: ReconcileContext,
  intent: Intent,
  revisionId: string,
  how: NonNullable<Intent['how']>,
  observation?: DeploymentObservation,
): Promise<StepResult> {
  const { context } = work;
  const { holdSeconds: requested, ...rest } = intent;
  const holdSeconds = how === 'triggered' ? requested : await abandonedHold(work, intent.deploymentId, revisionId);
  const following: Intent = {
    ...rest,
    ...(holdSeconds === undefined ? {} : { holdSeconds }),
    ...(observation && how !== 'triggered' ? await formerOf(work, intent, revisionId, observation) : {}),
    state: 'following',
    revisionId,
    how,
    rollout: rolloutOf(revisionId),
    deadline: deadlineIn(context.clock, intent.id, intent.terms.timeoutMs),
  };
  await saveIntents(work, [following]);
  await context.step?.('answer-stored', intent.id);
  return how === 'triggered' ? requeueAfter(work, firstPollMs, intent.id) : continued;
}

/** What was live before an adopted revision: as its intent recorded, else what is live now. */
async function formerOf(
  { context }: ReconcileContext,
  intent: Intent,
  revisionId: string,
  { deployment }: DeploymentObservation,
): Promise<Pick<Intent, 'formerLatestRevisionId' | 'formerLiveRevisionId'>> {
  const before = await context.store.lastWithRevision(intent.deploymentId, 30);
  const maker = before.find((each) => each.id !== intent.id && each.revisionId === revisionId);
  if (maker?.formerLiveRevisionId) return { formerLiveRevisionId: maker.formerLiveRevisionId };
  const former = revisionToRestore(revisionId, deployment.active_revision_id);
  return former ? { formerLiveRevisionId: former } : {};
}
