import type { ControlService } from '../../../contract/control/service.ts';
import { phaseOf } from '../../rules/plan-rebuild.ts';
import type { Rollout } from '../../rules/rollout-types.ts';
import { findRevision, type Reader } from './read-deployment.ts';

/** What took the place of a superseded revision, as far as it is known. */
interface Successor {
  id?: string | undefined;
  commit?: string | undefined;
  /** It is on its way, and does not report its commit yet. */
  mayReport: boolean;
}

/** Looks for what took the place of a superseded revision. @throws ServiceError */
export async function successorOf(
  deploymentId: string,
  { revisionId, by }: Extract<Rollout, { kind: 'superseded' }>,
  { control, options }: Reader & { control: Pick<ControlService, 'getDeployment'> },
): Promise<Successor> {
  const id = by ?? (await control.getDeployment(deploymentId, options())).latest_revision_id;
  if (!id || id === revisionId) return { mayReport: false };
  const revision = await findRevision(deploymentId, id, { control, options });
  const commit = revision?.source_revision_config.repo_commit_sha ?? undefined;
  return { id, commit, mayReport: !commit && !!revision && phaseOf(revision, null) === 'on-its-way' };
}
