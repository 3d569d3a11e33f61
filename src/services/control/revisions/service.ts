import {
  revision,
  type Revision,
  type RevisionsList,
  type RevisionPackages,
} from '../../../contract/control/revision.ts';
import type { WriteOptions } from '../../../contract/control/service.ts';
import { revisionsPage } from '../validation/queries.ts';
import { unfinishedStatuses } from './states.ts';
import { readShape } from '../validation/shape.ts';
import type { DeploymentRecord, RevisionRecord } from '../store/tables.ts';
import { toRevisionResponse } from '../deployments/response.ts';
import { createIdempotentWrite } from '../service/once.ts';
import { beingDeleted, refusedCall, valueOrThrow, parseId, foundOrThrow, type Call } from '../service/refuse.ts';
import type { ServiceDependencies } from '../service/settings.ts';
import type { StoreOperations } from '../store/store.ts';
import { basename } from 'node:path';
import { readKeptPackages } from '../builds/python/kept-packages.ts';

/** Finds a tenant's deployments and revisions by id; throws a 404 for those of other tenants, as for missing ones. */
export function tenantFinders({ store, tenantId }: Pick<ServiceDependencies, 'store' | 'tenantId'>) {
  async function ownDeployment(call: Call, id: string, within: StoreOperations = store): Promise<DeploymentRecord> {
    const deploymentId = parseId(call, 'deployment_id', id);
    return foundOrThrow(call, 'Deployment', id, await within.findDeployment(tenantId, deploymentId)).deployment;
  }

  async function ownRevision(call: Call, id: string, revisionId: string, within: StoreOperations = store) {
    const wanted = parseId(call, 'revision_id', revisionId);
    const deployment = await ownDeployment(call, id, within);
    return foundOrThrow(call, 'Revision', revisionId, await within.findRevision(deployment.id, wanted));
  }

  return { ownDeployment, ownRevision };
}

/** Reads and interrupts revisions. */
export function revisionOperations(settings: ServiceDependencies) {
  const { store, rollouts } = settings;
  const toResponse = (found: RevisionRecord): Revision => toRevisionResponse(found, settings.baseUrl());
  const once = createIdempotentWrite(settings);
  const { ownDeployment, ownRevision } = tenantFinders(settings);

  return {
    async getRevision(id: string, revisionId: string): Promise<Revision> {
      const path = `/v2/deployments/${id}/revisions/${revisionId}`;
      return toResponse(await ownRevision({ operation: 'get revision', method: 'GET', path }, id, revisionId));
    },

    async listRevisions(id: string, query: unknown): Promise<RevisionsList> {
      const call = { operation: 'list revisions', method: 'GET', path: `/v2/deployments/${id}/revisions` };
      const page = valueOrThrow(call, readShape(revisionsPage, query, 'query'));
      const deployment = await ownDeployment(call, id);
      const isRequested =
        page.remote_reconciled === undefined || page.remote_reconciled === (deployment.listener_id !== null);
      const revisions = isRequested ? await store.listRevisions(deployment.id, page) : [];
      return { resources: revisions.map(toResponse), offset: (page.offset ?? 0) + revisions.length };
    },

    /** POST .../interruption: ends a revision that is in progress; the live one keeps serving. */
    async interruptRevision(id: string, revisionId: string, { idempotencyKey }: WriteOptions = {}): Promise<Revision> {
      const path = `/v2/deployments/${id}/revisions/${revisionId}/interruption`;
      const call = { operation: 'interrupt revision', method: 'POST', path };
      const [deploymentId, wanted] = [parseId(call, 'deployment_id', id), parseId(call, 'revision_id', revisionId)];
      const response = await once(call, { idempotencyKey, shape: revision }, async (within, record) => {
        const { deployment_id } = await ownRevision(call, id, revisionId, within);
        const deployment = await within.deployment(deployment_id);
        if (deployment?.deletion !== 'none') throw refusedCall(call, beingDeleted);
        const message = 'It was interrupted on request.';
        const interrupted = await within.setStatus(wanted, unfinishedStatuses, 'INTERRUPTED', { message });
        if (!interrupted) {
          throw refusedCall(call, { status: 400, detail: `The revision ${wanted} has ended already.` });
        }
        await record({ deployment_id, deployment_name: deployment.name, revision_id: wanted });
        return toResponse(interrupted);
      });
      rollouts.interrupted(deploymentId, wanted);
      rollouts.wake(deploymentId);
      return response;
    },
  };
}

/** Lists the packages of a revision's build (an extension of the public API). */
export function packageOperations(settings: ServiceDependencies) {
  const { ownRevision } = tenantFinders(settings);
  const { pythonPackages } = settings;
  return {
    async listRevisionPackages(id: string, revisionId: string): Promise<RevisionPackages> {
      const path = `/v2/deployments/${id}/revisions/${revisionId}/packages`;
      const call = { operation: 'list revision packages', method: 'GET', path };
      const { id: own, build_folder, redeploy_of } = await ownRevision(call, id, revisionId);
      // Packages are stored by build: several revisions may use one, and it may have been removed.
      const builds = [build_folder === null ? null : basename(build_folder), own, redeploy_of];
      for (const build of builds) {
        const packages = build === null ? undefined : pythonPackages?.(build);
        if (packages !== undefined) return readKeptPackages(packages);
      }
      return { python: null, packages: [] };
    },
  };
}
