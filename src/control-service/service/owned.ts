import type { StoreOperations } from '../store/store.ts';
import type { DeploymentRecord, RevisionRecord } from '../store/tables.ts';
import { found, takeId } from './refuse.ts';
import type { Call } from './refuse.ts';
import type { ServiceSettings } from './settings.ts';

/** Finds what a tenant names by its ids; what is another tenant's is a 404 as if it were not there. */
export function owned({ store, tenantId }: Pick<ServiceSettings, 'store' | 'tenantId'>) {
  async function ownDeployment(call: Call, id: string, within: StoreOperations = store): Promise<DeploymentRecord> {
    const deploymentId = takeId(call, 'deployment_id', id);
    return found(call, 'Deployment', id, await within.findDeployment(tenantId, deploymentId)).deployment;
  }

  async function ownRevision(
    call: Call,
    id: string,
    revisionId: string,
    within: StoreOperations = store,
  ): Promise<RevisionRecord> {
    const wanted = takeId(call, 'revision_id', revisionId);
    const deployment = await ownDeployment(call, id, within);
    return found(call, 'Revision', revisionId, await within.findRevision(deployment.id, wanted));
  }

  return { ownDeployment, ownRevision };
}
