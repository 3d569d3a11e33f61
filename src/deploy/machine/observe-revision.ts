import type { CallOptions } from '../../contract/call-options.ts';
import type { Deployment } from '../../contract/control/deployment.ts';
import type { Revision } from '../../contract/control/revision.ts';
import { classOfRevisionStatus } from '../../contract/control/revision-status.ts';
import type { ControlService } from '../../contract/control/service.ts';
import type { RevisionObservation } from '../rules/rollout.ts';
import { tryCall } from '../smoke/try-call.ts';

interface FollowedRevision {
  deploymentId: string;
  revisionId: string;
  control: Pick<ControlService, 'getDeployment' | 'getRevision'>;
  options: () => CallOptions;
  now: () => number;
}

/** One look at a revision. The deployment is read only where it says whether the revision serves. */
interface ObservedRevision extends RevisionObservation {
  revision: Revision;
  /** As the service reports it, with its secrets. */
  whole?: Deployment;
}

/** Looks once at a revision by its id. @throws ServiceError */
export async function observeRevision(followed: FollowedRevision): Promise<ObservedRevision> {
  const { control, options, now, deploymentId, revisionId } = followed;
  const revision = await control.getRevision(deploymentId, revisionId, options());
  const known = classOfRevisionStatus(revision.status);
  if (known !== 'live' && known !== 'superseded') return { at: now(), revision };
  const whole = await control.getDeployment(deploymentId, options());
  return { at: now(), revision, whole, deployment: await serving(whole, followed) };
}

/** An active revision that is neither this one nor the newest: its creation time says whether it is older or newer. */
async function serving(
  { active_revision_id: active, latest_revision_id: latest }: Deployment,
  { control, options, deploymentId, revisionId }: FollowedRevision,
): Promise<NonNullable<RevisionObservation['deployment']>> {
  const reported = { activeRevisionId: active, latestRevisionId: latest };
  if (!active || active === revisionId || active === latest) return reported;
  const other = await tryCall(control.getRevision(deploymentId, active, options()));
  return other.ok ? { ...reported, activeCreatedAt: other.value.created_at } : reported;
}
