import { mayPass as serviceMayPass, ServiceError } from '../../src/contract/service-error.ts';
import { GitHubApiError, InstallationPaused } from '../github/github-api.ts';
import type { End } from './outcomes.ts';
import { requeueAfter, type StepResult, type ReconcileContext } from './reconcile-context.ts';

/** A failure of one of the other parties: expected, and dealt with by looking again later or by an end. */
export type TransientError = ServiceError | GitHubApiError | InstallationPaused;

export const isTransientError = (error: unknown): error is TransientError =>
  error instanceof ServiceError || error instanceof GitHubApiError || error instanceof InstallationPaused;

/** Shortest and longest time until the next try (ms), and how it grows with what has been waited already. */
const leastMs = 4_000;
const mostMs = 5 * 60_000;
const share = 0.3;

/** The longest `Retry-After` that is honoured (ms): a wrong one must not stop a queue. */
const longestRetryAfterMs = 15 * 60_000;

/** Grace period before a refused read is final (ms): permissions apply a moment after an installation. */
const refusedMs = 10 * 60_000;

/** True if the same call may succeed later. */
export function passesByItself(error: TransientError): boolean {
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
  const requested = error instanceof ServiceError ? Math.min(error.retryAfterMs ?? 0, longestRetryAfterMs) : 0;
  return requeueAfter(work, Math.max(requested, Math.min(mostMs, Math.max(leastMs, waited * share))));
}

/** Why a request fails for good, if the other service refuses it; undefined if it may still succeed. */
export function refusal(error: TransientError, waitedMs: number): End | undefined {
  if (passesByItself(error) || error instanceof InstallationPaused) return undefined;
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

export const refusedByService = (error: ServiceError): End => ({
  kind: 'refused',
  reason: `The service refused: ${error.message}.`,
  advice: adviceOnTransientError(error),
});

/** What the operator of the App can do about a refusal of the service. */
function adviceOnTransientError({ kind, status, operation }: ServiceError): string {
  switch (kind) {
    case 'unauthorized':
      return status === 403
        ? 'Check what LANDFALL_API_KEY may do, and LANDFALL_TENANT_ID: a key of an organisation needs it.'
        : 'Check LANDFALL_API_KEY: the service does not accept this key.';
    case 'missing':
      return operation.includes('redeploy')
        ? 'This service does not deploy an old revision again: revert the commit and push it.'
        : 'Check that the deployment still exists, and LANDFALL_BASE_URL with its path prefix.';
    case 'conflict':
      return 'Look at what changes the deployment at the same time, and press Re-run.';
    case 'rejected':
      return 'Correct what the service names, and press Re-run.';
    default:
      return 'Check LANDFALL_BASE_URL and the network, and press Re-run.';
  }
}
