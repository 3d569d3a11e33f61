import {
  revision,
  type Revision,
  type RevisionPackages,
  type RevisionsList,
} from '../../../contract/control/revision.ts';
import type { WriteOptions } from '../../../contract/control/service.ts';
import { revisionsPage } from '../validation/queries.ts';
import { unfinishedStatuses } from './states.ts';
import type { RevisionRecord } from '../store/tables.ts';
import { toRevisionResponse } from '../deployments/response.ts';
import { Call, createIdempotentWrite } from '../service/call.ts';
import { tenantFinders } from '../service/tenant-finders.ts';
import type { ServiceDependencies } from '../service/settings.ts';
import { basename } from 'node:path';
import { readKeptPackages } from '../builds/python/kept-packages.ts';

/** Reads and interrupts revisions. */
export function revisionOperations(settings: ServiceDependencies) {
  const { store, rollouts } = settings;
  const toResponse = (found: RevisionRecord): Revision => toRevisionResponse(found, settings.baseUrl());
  const once = createIdempotentWrite(settings);
  const { ownDeployment, ownRevision, revisionToChange } = tenantFinders(settings);

  return {
    async getRevision(id: string, revisionId: string): Promise<Revision> {
      const path = `/v2/deployments/${id}/revisions/${revisionId}`;
      return toResponse(await ownRevision(new Call('get revision', 'GET', path), id, revisionId));
    },

    async listRevisions(id: string, query: unknown): Promise<RevisionsList> {
      const call = new Call('list revisions', 'GET', `/v2/deployments/${id}/revisions`);
      const page = call.query(revisionsPage, query);
      const deployment = await ownDeployment(call, id);
      const isRequested =
        page.remote_reconciled === undefined || page.remote_reconciled === (deployment.listener_id !== null);
      const revisions = isRequested ? await store.listRevisions(deployment.id, page) : [];
      return { resources: revisions.map(toResponse), offset: (page.offset ?? 0) + revisions.length };
    },

    /** POST .../interruption: ends a revision that is in progress; the live one keeps serving. */
    async interruptRevision(id: string, revisionId: string, { idempotencyKey }: WriteOptions = {}): Promise<Revision> {
      const call = new Call('interrupt revision', 'POST', `/v2/deployments/${id}/revisions/${revisionId}/interruption`);
      const [deploymentId, wanted] = [call.id('deployment_id', id), call.id('revision_id', revisionId)];
      const response = await once(call, { idempotencyKey, shape: revision }, async (within, record) => {
        const { subject } = await revisionToChange(call, id, revisionId, within);
        const message = 'It was interrupted on request.';
        const interrupted = await within.setStatus(wanted, unfinishedStatuses, 'INTERRUPTED', { message });
        if (!interrupted) {
          throw call.refusal({ status: 400, detail: `The revision ${wanted} has ended already.` });
        }
        await record(subject);
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
      const call = new Call('list revision packages', 'GET', `/v2/deployments/${id}/revisions/${revisionId}/packages`);
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
