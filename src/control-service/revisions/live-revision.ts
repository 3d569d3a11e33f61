import type { Clock } from '../../clock.ts';
import { lockDeployment, refreshStatus, step } from './work-repository.ts';
import type { ControlDatabase } from '../store/tables.ts';

/** Sets a live revision's message about its agent; null clears it. */
export async function noteLive(
  db: ControlDatabase,
  clock: Clock,
  revisionId: string,
  message: string | null,
): Promise<void> {
  await db
    .updateTable('revisions')
    .set({ status_message: message, updated_at: new Date(clock.now()) })
    .where('id', '=', revisionId)
    .where('status', '=', 'DEPLOYED')
    .where('status_message', 'is distinct from', message)
    .execute();
}

/**
 * Ends the live revision of a deployment after a crash loop: DEPLOYED becomes DEPLOY_FAILED, and no revision is active.
 * Changes nothing where another one is live by now.
 */
export async function giveUp(
  db: ControlDatabase,
  clock: Clock,
  deploymentId: string,
  revisionId: string,
  message: string,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const deployment = await lockDeployment(trx, deploymentId);
    if (deployment?.active_revision_id !== revisionId) return;
    const now = new Date(clock.now());
    await step(trx, now, revisionId, 'DEPLOY_FAILED', { message });
    await trx
      .updateTable('deployments')
      .set({ active_revision_id: null, updated_at: now })
      .where('id', '=', deploymentId)
      .execute();
    await refreshStatus(trx, now, deployment);
  });
}
