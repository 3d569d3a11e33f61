import type { Deployment } from '../../src/contract/control/deployment.ts';
import type { Revision } from '../../src/contract/control/revision.ts';
import type { CallOptions } from '../../src/contract/call-options.ts';
import type { ControlService } from '../../src/contract/control/service.ts';
import { isNotOffered } from '../../src/contract/service-error.ts';
import { newerThan } from '../../src/deploy/rules/new-revisions.ts';
import { phaseOf } from '../../src/deploy/rules/plan-rebuild.ts';
import type { RevisionSummary } from '../../src/deploy/rules/trigger-types.ts';
import { tryCall } from '../../src/deploy/smoke/try-call.ts';
import type { Intent } from './intent.ts';
import { readOptions, type ReconcileContext } from './reconcile-context.ts';

/** The observed state of a deployment. */
export interface DeploymentObservation {
  deployment: Deployment;
  live: RevisionSummary | undefined;
  /** The newest revision, if it is not the live one. */
  latest: RevisionSummary | undefined;
}

/** Looks at the deployment, its live and its newest revision. @throws ServiceError */
export async function observeDeployment(work: ReconcileContext): Promise<DeploymentObservation> {
  const { control } = work.context;
  const deployment = await control.getDeployment(work.lease.deploymentId, readOptions(work));
  const { active_revision_id: active, latest_revision_id: newest } = deployment;
  const newestSeen = newest
    ? observedRevisionOf(await control.getRevision(deployment.id, newest, readOptions(work)), active)
    : undefined;
  const live = active && active !== newest ? await liveOne(work, deployment.id, active) : undefined;
  // The status of a newest revision may lag behind the deployment, which already serves it: report it as in progress.
  return newestSeen?.phase === 'live'
    ? { deployment, live: newestSeen, latest: undefined }
    : { deployment, live, latest: newestSeen };
}

/** A service may no longer return the revision that is live. */
async function liveOne(work: ReconcileContext, deploymentId: string, id: string): Promise<RevisionSummary> {
  const read = await findRevision(work.context.control, deploymentId, id, readOptions(work));
  return { id, commit: read && observedRevisionOf(read, id).commit, phase: 'live' };
}

/** A revision; undefined if the service no longer returns it. @throws ServiceError */
export async function findRevision(
  control: Pick<ControlService, 'getRevision'>,
  deploymentId: string,
  id: string,
  options?: CallOptions,
): Promise<Revision | undefined> {
  const read = await tryCall(control.getRevision(deploymentId, id, options));
  if (!read.ok && read.error.kind !== 'missing') throw read.error;
  return read.ok ? read.value : undefined;
}

/** A revision as deciding sees it. */
export const observedRevisionOf = (revision: Revision, active: string | null): RevisionSummary => ({
  id: revision.id,
  commit: revision.source_revision_config.repo_commit_sha ?? undefined,
  phase: phaseOf(revision, active),
});

/**
 * The revisions that were made since `former` was the newest, newest first; where the service does not list them, the
 * newest one alone. @throws ServiceError
 */
export async function madeSince(
  work: ReconcileContext,
  observation: DeploymentObservation,
  former: string | null,
): Promise<readonly RevisionSummary[]> {
  const newest = observation.latest ?? observation.live;
  if (!newest || newest.id === former) return [];
  const { id, active_revision_id: active } = observation.deployment;
  const page = await tryCall(work.context.control.listRevisions(id, { limit: 50 }, readOptions(work)));
  if (!page.ok && !isNotOffered(page.error)) throw page.error;
  if (!page.ok) return [newest];
  const listed = page.value.resources.map((revision) => observedRevisionOf(revision, active));
  // Unless the former one is listed, it is unknown how many are new.
  return newerThan(former, listed) ?? [newest];
}

/** The commit of the old revision to redeploy, if the service returns it. @throws ServiceError */
export async function commitOfTarget(
  work: ReconcileContext,
  { deploymentId, sending }: Intent,
): Promise<string | undefined> {
  if (sending.kind !== 'redeploy') return undefined;
  const target = await findRevision(work.context.control, deploymentId, sending.revisionId, readOptions(work));
  return target && observedRevisionOf(target, null).commit;
}
