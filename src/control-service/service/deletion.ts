import { bulkDeletionQuery, deletionQuery } from '../rules/queries.ts';
import { readShape } from '../rules/shape.ts';
import { found, refusedCall, take, takeId } from './refuse.ts';
import type { ServiceSettings } from './settings.ts';

/** What became of a deletion of several deployments: nothing of `failed` has changed. */
export interface BulkDeletion {
  /** The deployments that are being deleted now. */
  deleted: string[];
  failed: { deployment_id: string; status: number; detail: string }[];
}

/** Deleting deployments: asked for here, and carried out afterwards by those who carry revisions out. */
export function deletionOperations({ store, rollouts, tenantId }: ServiceSettings) {
  /** False where there is no such deployment. */
  async function ask(id: string, deleteTracingProject: boolean): Promise<boolean> {
    const asked = await store.askDeletion(tenantId, id, { deleteTracingProject });
    if (!asked) return false;
    for (const revisionId of asked.interrupted) rollouts.interrupted(id, revisionId);
    rollouts.wake(id);
    return true;
  }

  return {
    /** DELETE /v2/deployments/{id}: it is AWAITING_DELETE from then on, and a 404 once it is gone. Asking again is no error. */
    async deleteDeployment(id: string, query: unknown = {}): Promise<void> {
      const call = { operation: 'delete deployment', method: 'DELETE', path: `/v2/deployments/${id}` };
      const deploymentId = takeId(call, 'deployment_id', id);
      const { delete_tracing_project = false } = take(call, readShape(deletionQuery, query, 'query'));
      found(call, 'Deployment', id, (await ask(deploymentId, delete_tracing_project)) || undefined);
    },

    /** DELETE /v2/deployments: as many of them as there are; a 404 where there is none of them. */
    async deleteDeployments(query: unknown): Promise<BulkDeletion> {
      const call = { operation: 'delete deployments', method: 'DELETE', path: '/v2/deployments' };
      const { deployment_ids, delete_tracing_project = false } = take(
        call,
        readShape(bulkDeletionQuery, query, 'query'),
      );
      const done: BulkDeletion = { deleted: [], failed: [] };
      for (const id of new Set(deployment_ids)) {
        if (await ask(id, delete_tracing_project)) done.deleted.push(id);
        else done.failed.push({ deployment_id: id, status: 404, detail: `Deployment ID ${id} not found.` });
      }
      if (done.deleted.length > 0) return done;
      throw refusedCall(call, { status: 404, detail: done.failed.map(({ detail }) => detail).join(' ') });
    },
  };
}
