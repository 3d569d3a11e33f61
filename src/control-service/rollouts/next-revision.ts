import { runningStatuses } from '../revisions/states.ts';
import type { ControlStore } from '../store/store.ts';
import type { RevisionRecord } from '../store/tables.ts';

/** The status from which an interrupted step starts again. */
const beginAgainAt = { BUILDING: 'AWAITING_BUILD', DEPLOYING: 'AWAITING_DEPLOY' } as const;

/**
 * The revision of a deployment to carry out now: one that was interrupted by a stop, else the newest that waits. Only one
 * process carries out revisions, so one that runs in the database runs nowhere else.
 */
export async function nextRevision(
  store: Pick<ControlStore, 'listRevisions' | 'setStatus' | 'claimNextRevision'>,
  deploymentId: string,
): Promise<RevisionRecord | undefined> {
  const [started] = await store.listRevisions(deploymentId, { limit: 1, statuses: runningStatuses });
  // A revision that a listener has claimed runs in its cluster.
  const isOurs = started?.source_config.listener_id == null;
  if (!started || !isOurs) return store.claimNextRevision(deploymentId);
  const { id, status } = started;
  if (status !== 'BUILDING' && status !== 'DEPLOYING') return started;
  const message = 'Restarted: the service was stopped in the middle of it.';
  return store.setStatus(id, [status], beginAgainAt[status], { message });
}
