import { ServiceError } from '../../src/contract/service-error.ts';
import { attempt } from '../../src/deploy/attempt.ts';
import { checkName } from './report.ts';
import { isOver } from './deadlines.ts';
import { ended, type End } from './outcomes.ts';
import type { Intent } from './intent.ts';
import { isRequestForHead, type Step } from './next-step.ts';
import { passesByItself, refusal, refusedByService, retryLater, type TransientError } from './transient-error.ts';
import { saveIntents, readOptions, reportsOf, type StepResult, type ReconcileContext } from './reconcile-context.ts';

/** How long past its deadline a revision that cannot be observed is followed (ms). */
const overdueMs = 60 * 60_000;

/** Another service failed in a step: retries later, or ends what cannot succeed. */
export async function handleTransientError(
  work: ReconcileContext,
  step: Exclude<Step, { kind: 'requeue' }>,
  open: readonly Intent[],
  error: TransientError,
): Promise<StepResult> {
  const concerned = step.kind === 'requests' ? open.filter(isRequestForHead) : [step.intent];
  const first = concerned[0];
  const now = work.context.clock.now();
  if (!first) return retryLater(work, error, now);
  const newest = Math.max(...concerned.map(({ createdAt }) => createdAt));
  const end =
    step.kind === 'requests' || step.kind === 'go-back'
      ? refusal(error, now - newest)
      : await endOfWatching(work, first, error);
  work.context.log.warn(`${step.kind} of deployment ${work.lease.deploymentId}: ${error.message}`);
  if (end) {
    return saveIntents(
      work,
      concerned.map((intent) => ended(intent, end, now)),
    );
  }
  await reportAtLeast(work, concerned);
  return retryLater(work, error, step.kind === 'requests' ? newest : first.updatedAt);
}

/** The outcome of a revision that can no longer be observed: the deployment is gone, or the time is over. */
async function endOfWatching(work: ReconcileContext, intent: Intent, error: TransientError): Promise<End | undefined> {
  if (!(error instanceof ServiceError)) return undefined;
  const { control, clock } = work.context;
  if (error.kind === 'missing') {
    const deployment = await attempt(control.getDeployment(intent.deploymentId, readOptions(work)));
    if (!deployment.ok && deployment.error.status === 404) {
      return {
        kind: 'refused',
        reason: `The deployment is gone: ${deployment.error.message}.`,
        advice: 'Create the deployment again, or take it out of the deploy file.',
      };
    }
  }
  const { id, updatedAt, terms } = intent;
  const graceMs = passesByItself(error) ? overdueMs : 0;
  const deadline = (intent.deadline ?? updatedAt + terms.timeoutMs) + graceMs;
  if (!isOver(clock, id, deadline, terms.timeoutMs + graceMs)) return undefined;
  if (!passesByItself(error)) return refusedByService(error);
  if (intent.state === 'sending') return undefined;
  return {
    kind: 'timed-out',
    reason: `What became of revision ${intent.revisionId ?? 'of this commit'} could not be seen: ${error.message}.`,
    advice: 'Look at the revision at the service; press Re-run to follow it or to build again.',
  };
}

/** A commit that waits for a service gets a check all the same. */
async function reportAtLeast(work: ReconcileContext, intents: readonly Intent[]): Promise<void> {
  const { store } = work.context;
  for (const intent of intents) {
    const { repository, commit, terms, state } = intent;
    if (state !== 'requested') continue;
    const reported = await store.reportOf(repository.repositoryId, commit, checkName(terms.deploymentName));
    if (!reported) await store.save(work.lease, { reports: reportsOf(work, intent) });
  }
}
