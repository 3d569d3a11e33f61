import { rollbackObstacle } from '../../src/deploy/rules/rollback.ts';
import { waitFor } from '../../src/deploy/rules/trigger.ts';
import type { SkipReason } from '../../src/deploy/rules/trigger-types.ts';
import { sameCommit } from '../../src/contract/control/repo-ref.ts';
import { withDecisionOutcome } from './outcomes.ts';
import { waitedTooLong, waitForAnother } from './decide-request.ts';
import type { IntentFields, Undecided } from './intent.ts';
import { sendFor } from './send.ts';
import { commitOfTarget, observeDeployment, type DeploymentObservation } from './observation.ts';
import type { QueueChanges } from './store.ts';
import { saveIntents, type StepResult, type ReconcileContext } from './reconcile-context.ts';

/** Decides whether to redeploy an old revision, for our own rollback or a person's, and requests it. */
export async function requestRollback(
  work: ReconcileContext,
  intent: Undecided,
  revisionId: string,
): Promise<StepResult> {
  const { cause } = intent;
  const observation = await observeDeployment(work);
  const onItsWay = observation.latest?.phase === 'on-its-way' ? observation.latest : undefined;
  if (cause.kind === 'failure') {
    const broken: IntentFields | undefined = await work.context.store.intent(cause.key);
    const active = observation.deployment.active_revision_id;
    const obstacle = rollbackObstacle(broken?.revisionId, { active, onItsWay: onItsWay?.id });
    return obstacle ? skip(work, intent, obstacle) : send(work, intent, observation);
  }
  if (cause.kind === 'rollback' && observation.live?.id === revisionId && !onItsWay) {
    return skip(work, intent, { code: 'serves-already', revisionId });
  }
  if (!onItsWay) return send(work, intent, observation);
  if (!waitedTooLong(work, intent, onItsWay.id))
    return waitForAnother(work, intent, waitFor(onItsWay), onItsWay.commit);
  return send(work, { ...intent, overdueFor: onItsWay.id }, observation);
}

async function send(
  work: ReconcileContext,
  intent: Undecided,
  observation: DeploymentObservation,
): Promise<StepResult> {
  const code = intent.cause.kind === 'failure' ? 'failure' : 'rollback';
  const deploymentQueue = await queueAfter(work, intent, observation);
  return sendFor(work, { ...intent, decision: { kind: 'trigger', code } }, observation.deployment, deploymentQueue);
}

/** A person's rollback holds what was live before; a redeploy resumes pushes. */
async function queueAfter(
  work: ReconcileContext,
  intent: Undecided,
  { live }: DeploymentObservation,
): Promise<QueueChanges> {
  if (intent.cause.kind === 'redeploy') return { held: null, rolledBackCommit: null };
  if (intent.cause.kind !== 'rollback' || !live?.commit) return {};
  // Both revisions may be of one commit: then that commit is not rolled back.
  const isSame = sameCommit(live.commit, await commitOfTarget(work, intent));
  return isSame ? {} : { rolledBackCommit: live.commit };
}

const skip = (work: ReconcileContext, intent: Undecided, reason: SkipReason): Promise<StepResult> =>
  saveIntents(work, [withDecisionOutcome(intent, 'skipped', { kind: 'skip', ...reason }, work.context.clock.now())]);
