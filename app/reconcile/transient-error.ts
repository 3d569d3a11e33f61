import { isTransient as serviceMayPass, ServiceError } from '../../src/contract/service-error.ts';
import { adviceOn } from '../../src/deploy/words/advice-on-errors.ts';
import { GitHubApiError, InstallationPaused } from '../github/github-api.ts';
import { tryCall } from '../../src/deploy/smoke/try-call.ts';
import { triedSince } from './await-gates.ts';
import { isExpired } from './deadlines.ts';
import type { Intent, IntentFields } from './intent.ts';
import { isRequestForCommit, type ActiveKind, type StepOf } from './next-step.ts';
import { withOutcome, type NewIntentOutcome } from './outcomes.ts';
import { checkName } from './report.ts';
import {
  saveIntents,
  readOptions,
  reportsOf,
  requeueAfter,
  type StepResult,
  type ReconcileContext,
} from './reconcile-context.ts';

/** A failure of one of the other parties: expected, and dealt with by looking again later or by an end. */
export type TransientError = ServiceError | GitHubApiError | InstallationPaused;

export const isTransientError = (error: unknown): error is TransientError =>
  error instanceof ServiceError || error instanceof GitHubApiError || error instanceof InstallationPaused;

/** Shortest and longest time until the next try (ms), and how it grows with what has been waited already. */
const leastMs = 4_000;
const maxMs = 5 * 60_000;
const share = 0.3;

/** The longest `Retry-After` that is honoured (ms): a wrong one must not stop a queue. */
const maxRetryAfterMs = 15 * 60_000;

/** Grace period before a refused read is final (ms): permissions apply a moment after an installation. */
const refusedMs = 10 * 60_000;

/** True if the same call may succeed later. */
export function isRetryable(error: TransientError): boolean {
  if (error instanceof InstallationPaused) return true;
  if (error instanceof GitHubApiError) {
    const { status } = error;
    return status === undefined || status >= 500 || status === 429 || status === 408;
  }
  return serviceMayPass(error);
}

/** Looks again later: the longer it has failed since `since` (ms since the epoch), the later. */
export function retryLater(work: ReconcileContext, error: TransientError, since: number): StepResult {
  if (error instanceof InstallationPaused) return { kind: 'requeue', until: error.until };
  const waited = Math.max(0, work.context.clock.now() - since);
  const requested = error instanceof ServiceError ? Math.min(error.retryAfterMs ?? 0, maxRetryAfterMs) : 0;
  return requeueAfter(work, Math.max(requested, Math.min(maxMs, Math.max(leastMs, waited * share))));
}

/** Why a request fails for good, if the other service refuses it; undefined if it may still succeed. */
function refusal(error: TransientError, waitedMs: number): NewIntentOutcome | undefined {
  if (isRetryable(error) || error instanceof InstallationPaused) return undefined;
  if (error instanceof GitHubApiError) {
    if (waitedMs < refusedMs) return undefined;
    return {
      kind: 'refused',
      reason: `GitHub does not let the App read the branch: ${error.message}.`,
      advice: 'Check that the App is installed on this repository with the permissions it requests.',
    };
  }
  return refusedByService(error);
}

export const refusedByService = (error: ServiceError): NewIntentOutcome => ({
  kind: 'refused',
  reason: `The service refused: ${error.message}.`,
  advice: adviceOn(error, 'app'),
});

/** How long past its deadline a revision that cannot be observed is followed (ms). */
const overdueMs = 60 * 60_000;

/** Another service failed in a step: retries later, or ends what cannot succeed. */
export async function handleTransientError(
  work: ReconcileContext,
  step: StepOf<Exclude<ActiveKind, 'promote'>>,
  open: readonly Intent[],
  error: TransientError,
): Promise<StepResult> {
  const concerned = step.kind === 'requests' ? open.filter(isRequestForCommit) : [step.intent];
  const first = concerned[0];
  const now = work.context.clock.now();
  if (!first) return retryLater(work, error, now);
  const newest = Math.max(...concerned.map(({ createdAt }) => createdAt));
  // What still waits, for a reviewer for example, is not given up.
  const tried = concerned.filter((intent) => triedSince(intent) <= now);
  const end =
    step.kind === 'requests' || step.kind === 'roll-back' || step.kind === 'measure'
      ? tried.length > 0
        ? refusal(error, now - Math.max(...tried.map(triedSince)))
        : undefined
      : await endOfWatching(work, first, error);
  work.context.log.warn(`${step.kind} of deployment ${work.lease.deploymentId}: ${error.message}`);
  if (end) {
    return saveIntents(
      work,
      tried.map((intent) => withOutcome(intent, end, now)),
    );
  }
  await reportAtLeast(work, concerned);
  return retryLater(work, error, step.kind === 'requests' ? newest : first.updatedAt);
}

/** The outcome of a revision that can no longer be observed: the deployment is gone, or the time is over. */
async function endOfWatching(
  work: ReconcileContext,
  intent: IntentFields,
  error: TransientError,
): Promise<NewIntentOutcome | undefined> {
  if (!(error instanceof ServiceError)) return undefined;
  const { control, clock } = work.context;
  if (error.kind === 'missing') {
    const deployment = await tryCall(control.getDeployment(intent.deploymentId, readOptions(work)));
    if (!deployment.ok && deployment.error.status === 404) {
      return {
        kind: 'refused',
        reason: `The deployment is gone: ${deployment.error.message}.`,
        advice: 'Create the deployment again, or take it out of the deploy file.',
      };
    }
  }
  const { id, updatedAt, terms } = intent;
  const graceMs = isRetryable(error) ? overdueMs : 0;
  const deadline = (intent.deadline ?? updatedAt + terms.timeoutMs) + graceMs;
  if (!isExpired(clock, id, deadline, terms.timeoutMs + graceMs)) return undefined;
  if (!isRetryable(error)) return refusedByService(error);
  if (intent.state === 'sending') return undefined;
  return {
    kind: 'timed-out',
    reason: `The state of revision ${intent.revisionId ?? 'of this commit'} could not be read: ${error.message}.`,
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
