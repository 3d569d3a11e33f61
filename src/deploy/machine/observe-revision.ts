import type { CallOptions } from '../../contract/call-options.ts';
import type { Deployment } from '../../contract/control/deployment.ts';
import type { Revision } from '../../contract/control/revision.ts';
import { classOfRevisionStatus } from '../../contract/control/revision-status.ts';
import type { ControlService } from '../../contract/control/service.ts';
import { type RevisionObservation, rolloutAfter } from '../rules/rollout.ts';
import type { Rollout } from '../rules/rollout-types.ts';
import { tryCall } from '../smoke/try-call.ts';

interface Observer {
  deploymentId: string;
  control: Pick<ControlService, 'getDeployment' | 'getRevision'>;
  options: () => CallOptions;
  now: () => number;
  /** What of the message may be shown. Called at every look, with the deployment where that is read. */
  shown: (seen: SeenMessage) => Promise<string | undefined> | string | undefined;
}

interface SeenMessage {
  status: string;
  message: string | null | undefined;
  /** The deployment, with its secrets. It is read only where it says whether the revision serves. */
  whole: Deployment | undefined;
}

/** The rollout after one look, and what the service says of it. */
interface ObservedRevision {
  rollout: Rollout;
  revision: Revision;
  message: string | undefined;
}

/** Looks once at the revision of a rollout by its id. @throws ServiceError */
export async function observeRevision(before: Rollout, by: Observer): Promise<ObservedRevision> {
  const { control, options, now, deploymentId } = by;
  const revision = await control.getRevision(deploymentId, before.revisionId, options());
  const known = classOfRevisionStatus(revision.status);
  const isFinished = known === 'live' || known === 'superseded';
  const whole = isFinished ? await control.getDeployment(deploymentId, options()) : undefined;
  const at = now();
  const deployment = whole && (await serving(whole, before.revisionId, by));
  const message = await by.shown({ status: revision.status, message: revision.status_message, whole });
  const seen = { at, revision: { ...revision, status_message: message }, ...(deployment && { deployment }) };
  return { rollout: rolloutAfter(before, seen), revision, message };
}

/** An active revision that is neither this one nor the newest: its creation time says whether it is older or newer. */
async function serving(
  { active_revision_id: active, latest_revision_id: latest }: Deployment,
  revisionId: string,
  { control, options, deploymentId }: Observer,
): Promise<NonNullable<RevisionObservation['deployment']>> {
  const reported = { activeRevisionId: active, latestRevisionId: latest };
  if (!active || active === revisionId || active === latest) return reported;
  const other = await tryCall(control.getRevision(deploymentId, active, options()));
  return other.ok ? { ...reported, activeCreatedAt: other.value.created_at } : reported;
}
