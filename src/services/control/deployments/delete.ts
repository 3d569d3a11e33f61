import * as z from 'zod';
import type { WriteOptions } from '../../../contract/control/service.ts';
import { bulkDeletionQuery, deletionQuery } from '../validation/queries.ts';
import type { StoreOperations } from '../store/store.ts';
import type { Recorder } from '../store/write-once.ts';
import { Call, createIdempotentWrite } from '../service/call.ts';
import type { ServiceDependencies } from '../service/settings.ts';

/** The outcome of deleting several deployments. Those in `failed` have not changed. */
export const bulkDeletion = z.object({
  /** The deployments that are being deleted now. */
  deleted: z.array(z.string()),
  failed: z.array(z.object({ deployment_id: z.string(), status: z.int(), detail: z.string() })),
});
export type BulkDeletion = z.infer<typeof bulkDeletion>;

/** Requests deletions of deployments; the rollouts carry them out. */
export function deletionOperations(settings: ServiceDependencies) {
  const { rollouts, notifier, tenantId } = settings;
  const once = createIdempotentWrite(settings);

  /** Requests a deletion in a write, and returns the interrupted revisions; undefined where there is no such deployment. */
  async function requestDeletion(
    within: StoreOperations,
    record: Recorder,
    id: string,
    { delete_tracing_project = false, without_listener = false }: z.infer<typeof deletionQuery>,
  ): Promise<StartedDeletion | undefined> {
    const requested = await within.requestDeletion(tenantId, id, {
      deleteTracingProject: delete_tracing_project,
      withoutListener: without_listener,
    });
    if (!requested) return undefined;
    const options = [
      ...(delete_tracing_project ? ['tracing_project'] : []),
      ...(without_listener ? ['without_listener'] : []),
    ];
    if (requested.isNew) await record({ deployment_id: id }, options);
    return { id, interrupted: requested.interrupted };
  }

  function startDeletion({ id, interrupted }: StartedDeletion): void {
    for (const revisionId of interrupted) rollouts.interrupted(id, revisionId);
    rollouts.wake(id);
    // A listener may have to remove what runs in its cluster.
    notifier?.notify();
  }

  return {
    /**
     * DELETE /v2/deployments/{id}: the status is AWAITING_DELETE, then reading returns a 404. A repetition succeeds.
     * `without_listener` abandons what runs in the cluster of a listener that will not return.
     */
    async deleteDeployment(id: string, query: unknown = {}, { idempotencyKey }: WriteOptions = {}): Promise<void> {
      const call = new Call('delete deployment', 'DELETE', `/v2/deployments/${id}`);
      const deploymentId = call.id('deployment_id', id);
      const body = call.query(deletionQuery, query);
      const done = await once(call, { idempotencyKey, body, shape: startedDeletion }, async (within, record) =>
        call.found('Deployment', id, await requestDeletion(within, record, deploymentId, body)),
      );
      startDeletion(done);
    },

    /** DELETE /v2/deployments: deletes those that exist; a 404 where none of them does. */
    async deleteDeployments(query: unknown, { idempotencyKey }: WriteOptions = {}): Promise<BulkDeletion> {
      const call = new Call('delete deployments', 'DELETE', '/v2/deployments');
      const body = call.query(bulkDeletionQuery, query);
      const { deployment_ids, ...how } = body;
      const ids = [...new Set(deployment_ids)];
      const done = await once(call, { idempotencyKey, body, shape: startedDeletions }, async (within, record) => {
        const started: StartedDeletion[] = [];
        // Sorted, so that two such requests never wait for each other's locks.
        for (const id of ids.toSorted()) {
          const end = await requestDeletion(within, record, id, how);
          if (end) started.push(end);
        }
        if (started.length > 0) return started;
        throw call.refusal({ status: 404, detail: ids.map(notFoundMessage).join(' ') });
      });
      done.forEach(startDeletion);
      const deletedIds = new Set(done.map(({ id }) => id));
      const missingIds = ids.filter((id) => !deletedIds.has(id));
      return {
        deleted: ids.filter((id) => deletedIds.has(id)),
        failed: missingIds.map((id) => ({ deployment_id: id, status: 404, detail: notFoundMessage(id) })),
      };
    },
  };
}

const startedDeletion = z.object({ id: z.string(), interrupted: z.array(z.string()) });
const startedDeletions = z.array(startedDeletion);

type StartedDeletion = z.infer<typeof startedDeletion>;

const notFoundMessage = (id: string): string => `Deployment ID ${id} not found.`;
