import type { Clock } from '../../../kit/clock.ts';
import { unfinishedStatuses } from '../revisions/states.ts';
import { inTransaction } from '../store/statements.ts';
import { findClaim } from '../listeners/work-repository.ts';
import { lockDeployment, refreshStatus, moveTo } from '../revisions/work-repository.ts';
import type { ControlDatabase, DeploymentRecord } from '../store/tables.ts';

export interface RequestedDeletion {
  /** The ids of the revisions in progress that it interrupts. */
  interrupted: string[];
  /** False where the same was requested before: then nothing has changed. */
  isNew: boolean;
}

export const deletionStore = (db: ControlDatabase, clock: Clock) => ({
  /**
   * Requests a deletion: the deployment can't be changed any more, and revisions in progress are interrupted. A
   * repetition can only add the tracing project, or abandon the cluster of its listener (`withoutListener`). Undefined
   * where there is no such deployment.
   */
  async requestDeletion(
    tenantId: string,
    id: string,
    { deleteTracingProject, withoutListener = false }: { deleteTracingProject: boolean; withoutListener?: boolean },
  ): Promise<RequestedDeletion | undefined> {
    return inTransaction(db, async (trx) => {
      const deployment = await lockDeployment(trx, id, tenantId);
      if (!deployment) return undefined;
      const now = new Date(clock.now());
      const unfinished = await trx
        .selectFrom('revisions')
        .select('id')
        .where('deployment_id', '=', id)
        .where('status', 'in', unfinishedStatuses)
        .execute();
      const message = 'Its deployment is being deleted.';
      for (const revision of unfinished) await moveTo(trx, now, revision.id, 'INTERRUPTED', { message });
      const abandonsCluster = withoutListener && deployment.listener_id !== null && deployment.deletion !== 'stopped';
      const initialState = abandonsCluster || (await hasNoClaim(trx, deployment)) ? 'stopped' : 'asked';
      const deletion = abandonsCluster || deployment.deletion === 'none' ? initialState : deployment.deletion;
      await trx
        .updateTable('deployments')
        .set({
          deletion,
          delete_tracing_project: deployment.delete_tracing_project || deleteTracingProject,
          ...(abandonsCluster ? { active_revision_id: null } : {}),
        })
        .where('id', '=', id)
        .execute();
      await refreshStatus(trx, now, { ...deployment, deletion });
      const isNew =
        abandonsCluster ||
        deployment.deletion === 'none' ||
        (deleteTracingProject && !deployment.delete_tracing_project);
      return { interrupted: unfinished.map((revision) => revision.id), isNew };
    });
  },

  /** The deployments whose deletion this service can continue. Excludes those that a listener still has to remove. */
  async deletionsToCarryOut(): Promise<string[]> {
    const found = await db
      .selectFrom('deployments')
      .select('id')
      .where('deletion', '<>', 'none')
      .where((where) => where.or([where('deletion', '=', 'stopped'), where('listener_id', 'is', null)]))
      .execute();
    return found.map(({ id }) => id);
  },

  /** Records that nothing of a deployment runs any more. False where no deletion was requested, or it was recorded. */
  async noteStopped(id: string): Promise<boolean> {
    return inTransaction(db, async (trx) => {
      const deployment = await lockDeployment(trx, id);
      if (deployment?.deletion !== 'asked') return false;
      await trx
        .updateTable('deployments')
        .set({ deletion: 'stopped', active_revision_id: null, deletion_problem: null })
        .where('id', '=', id)
        .execute();
      await refreshStatus(trx, new Date(clock.now()), { ...deployment, deletion: 'stopped' });
      return true;
    });
  },

  async noteDeletionProblem(id: string, problem: string): Promise<void> {
    await db
      .updateTable('deployments')
      .set({ deletion_problem: problem, updated_at: new Date(clock.now()) })
      .where('id', '=', id)
      .where('deletion', '<>', 'none')
      .execute();
  },

  /** Deletes the row of a deployment, and its tracing project where that was requested. */
  async finishDeletion(id: string): Promise<void> {
    await inTransaction(db, async (trx) => {
      const deployment = await lockDeployment(trx, id);
      if (deployment?.deletion !== 'stopped') return;
      if (deployment.delete_tracing_project) {
        await trx.deleteFrom('tracing_projects').where('deployment_id', '=', id).execute();
      }
      await trx.deleteFrom('deployments').where('id', '=', id).execute();
    });
  },

  async revisionIds(deploymentId: string): Promise<string[]> {
    const found = await db.selectFrom('revisions').select('id').where('deployment_id', '=', deploymentId).execute();
    return found.map(({ id }) => id);
  },
});

/** Whether no listener ever claimed a deployment: then nothing of it is in a cluster. */
async function hasNoClaim(trx: ControlDatabase, { id, listener_id }: DeploymentRecord): Promise<boolean> {
  return listener_id !== null && (await findClaim(trx, id)) === undefined;
}
