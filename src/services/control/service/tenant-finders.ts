import type { DeploymentRecord } from '../store/tables.ts';
import type { StoreOperations } from '../store/store.ts';
import type { Mask } from '../../../contract/masking/mask.ts';
import { agentMask } from './agent-mask.ts';
import { beingDeleted, type Call } from './call.ts';
import type { ServiceDependencies } from './settings.ts';

/** Finds a tenant's deployments and revisions by id; throws a 404 for those of other tenants, as for missing ones. */
export function tenantFinders(settings: ServiceDependencies) {
  const { store, tenantId } = settings;

  async function ownDeployment(call: Call, id: string, within: StoreOperations = store): Promise<DeploymentRecord> {
    const deploymentId = call.id('deployment_id', id);
    return call.found('Deployment', id, await within.findDeployment(tenantId, deploymentId)).deployment;
  }

  async function ownRevision(call: Call, id: string, revisionId: string, within: StoreOperations = store) {
    const wanted = call.id('revision_id', revisionId);
    const deployment = await ownDeployment(call, id, within);
    return call.found('Revision', revisionId, await within.findRevision(deployment.id, wanted));
  }

  /** A revision whose deployment is not being deleted, as the subject of a change. */
  async function revisionToChange(call: Call, id: string, revisionId: string, within: StoreOperations) {
    const revision = await ownRevision(call, id, revisionId, within);
    const deployment = await within.deployment(revision.deployment_id);
    if (deployment?.deletion !== 'none') throw call.refusal(beingDeleted);
    const subject = { deployment_id: deployment.id, deployment_name: deployment.name, revision_id: revision.id };
    /** For what a caller reports, who may not know all secrets: the deployment may have new ones. */
    const mask = async (): Promise<Mask> => {
      const agent = await within.agentRecord({ deploymentId: deployment.id }, [revision.id]);
      return agentMask(call.found('Deployment', id, agent), settings);
    };
    return { revision, subject, mask };
  }

  return { ownDeployment, ownRevision, revisionToChange };
}
