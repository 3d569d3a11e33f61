import type { Deployment } from '../../src/contract/control/deployment.ts';
import type { Revision } from '../../src/contract/control/revision.ts';
import {
  commitOf,
  findRevision,
  observedRevisionOf,
  readRevisions,
  type Reader,
} from '../../src/deploy/machine/steps/read-deployment.ts';
import type { IntentHeader, Sending } from './intent.ts';
import { readOptions, type ReconcileContext } from './reconcile-context.ts';

type ObservedRevision = ReturnType<typeof observedRevisionOf>;

/** The observed state of a deployment. */
export interface DeploymentObservation {
  deployment: Deployment;
  live: ObservedRevision | undefined;
  /** The newest revision, if it is not the live one. */
  latest: ObservedRevision | undefined;
  /** The live one, as the service returns it. */
  liveRevision: Revision | undefined;
}

export const readerOf = (work: ReconcileContext): Reader => ({
  control: work.context.control,
  options: () => readOptions(work),
});

/** Looks at the deployment, its live and its newest revision. @throws ServiceError */
export async function observeDeployment(work: ReconcileContext): Promise<DeploymentObservation> {
  const deployment = await work.context.control.getDeployment(work.lease.deploymentId, readOptions(work));
  const seen = await readRevisions(deployment, readerOf(work));
  const latest = seen.latest && observedRevisionOf(seen.latest, deployment.active_revision_id);
  const liveRevision = seen.live?.revision;
  // The status of a newest revision may lag behind the deployment, which already serves it: report it as in progress.
  if (latest?.phase === 'live') return { deployment, live: latest, latest: undefined, liveRevision };
  const other = seen.live && seen.live.id !== latest?.id ? seen.live : undefined;
  const live = other && { id: other.id, commit: commitOf(other.revision), phase: 'live' as const };
  return { deployment, live, latest, liveRevision };
}

/** Whether the service has made nothing since an intent was sent. @throws ServiceError where it does not respond. */
export async function nothingNew(work: ReconcileContext, { former }: Sending): Promise<boolean> {
  const { deployment } = await observeDeployment(work);
  return deployment.latest_revision_id === (former.latest ?? null);
}

/** The commit of the old revision to redeploy, if the service returns it. @throws ServiceError */
export async function commitOfTarget(
  work: ReconcileContext,
  { deploymentId, sending }: IntentHeader,
): Promise<string | undefined> {
  if (sending.kind !== 'redeploy') return undefined;
  return commitOf(await findRevision(deploymentId, sending.revisionId, readerOf(work)));
}
