import * as z from 'zod';
import type { WriteOptions } from '../../../contract/control/service.ts';
import { bulkDeletionQuery, deletionQuery } from '../validation/queries.ts';
import { readShape } from '../validation/shape.ts';
import type { StoreOperations } from '../store/store.ts';
import type { Recorder } from '../store/write-once.ts';
import { createIdempotentWrite } from '../service/once.ts';
import { foundOrThrow, refusedCall, valueOrThrow, parseId } from '../service/refuse.ts';
import type { ServiceDependencies } from '../service/settings.ts';

/** What became of a deletion of several deployments: nothing of `failed` has changed. */
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

  /** Requests a deletion in a write and returns what it interrupted; undefined where there is no such deployment. */
  async function ask(
    within: StoreOperations,
    record: Recorder,
    id: string,
    { delete_tracing_project = false, without_listener = false }: z.infer<typeof deletionQuery>,
  ): Promise<StartedDeletion | undefined> {
    const requested = await within.askDeletion(tenantId, id, {
      deleteTracingProject: delete_tracing_project,
      withoutListener: without_listener,
    });
    if (!requested) return undefined;
    const also = [
      ...(delete_tracing_project ? ['tracing_project'] : []),
      ...(without_listener ? ['without_listener'] : []),
    ];
    if (requested.isNew) await record({ deployment_id: id }, also);
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
     * DELETE /v2/deployments/{id}: AWAITING_DELETE, then a 404. Asking again is no error. `without_listener` gives up
     * what runs in the cluster of a listener that is gone for good.
     */
    async deleteDeployment(id: string, query: unknown = {}, { idempotencyKey }: WriteOptions = {}): Promise<void> {
      const call = { operation: 'delete deployment', method: 'DELETE', path: `/v2/deployments/${id}` };
      const deploymentId = parseId(call, 'deployment_id', id);
      const body = valueOrThrow(call, readShape(deletionQuery, query, 'query'));
      const done = await once(call, { idempotencyKey, body, shape: startedDeletion }, async (within, record) =>
        foundOrThrow(call, 'Deployment', id, await ask(within, record, deploymentId, body)),
      );
      startDeletion(done);
    },

    /** DELETE /v2/deployments: as many of them as there are; a 404 where there is none of them. */
    async deleteDeployments(query: unknown, { idempotencyKey }: WriteOptions = {}): Promise<BulkDeletion> {
      const call = { operation: 'delete deployments', method: 'DELETE', path: '/v2/deployments' };
      const body = valueOrThrow(call, readShape(bulkDeletionQuery, query, 'query'));
      const { deployment_ids, ...how } = body;
      const ids = [...new Set(deployment_ids)];
      const done = await once(call, { idempotencyKey, body, shape: startedDeletions }, async (within, record) => {
        const going: StartedDeletion[] = [];
        // In one order, so that two of these never wait for each other.
        for (const id of ids.toSorted()) {
          const end = await ask(within, record, id, how);
          if (end) going.push(end);
        }
        if (going.length > 0) return going;
        throw refusedCall(call, { status: 404, detail: ids.map(missing).join(' ') });
      });
      done.forEach(startDeletion);
      const going = new Set(done.map(({ id }) => id));
      const left = ids.filter((id) => !going.has(id));
      return {
        deleted: ids.filter((id) => going.has(id)),
        failed: left.map((id) => ({ deployment_id: id, status: 404, detail: missing(id) })),
      };
    },
  };
}

const startedDeletion = z.object({ id: z.string(), interrupted: z.array(z.string()) });
const startedDeletions = z.array(startedDeletion);

type StartedDeletion = z.infer<typeof startedDeletion>;

const missing = (id: string): string => `Deployment ID ${id} not found.`;
