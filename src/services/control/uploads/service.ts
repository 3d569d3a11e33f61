import type { WriteOptions } from '../../../contract/control/service.ts';
import { uploadTarget, type PushToken, type UploadTarget } from '../../../contract/control/upload.ts';
import type { Source } from '../../../contract/control/source.ts';
import { theService } from '../store/audit.ts';
import type { StoreOperations } from '../store/store.ts';
import { Call, beingDeleted, createIdempotentWrite } from '../service/call.ts';
import type { ServiceDependencies } from '../service/settings.ts';

/** Asking for places to put things at: tarballs at this service, images at a registry. */
export function uploadOperations(settings: ServiceDependencies) {
  const { store, tenantId, by = theService, baseUrl, uploads, registry } = settings;
  const once = createIdempotentWrite(settings);

  async function ownDeployment(call: Call, id: string, source: Source, within: StoreOperations = store) {
    const deploymentId = call.id('deployment_id', id);
    const { deployment } = call.found('Deployment', id, await within.findDeployment(tenantId, deploymentId));
    if (deployment.source !== source) {
      const detail = `This is only available for '${source}' source deployments; the source of ${deployment.name} is ${deployment.source}.`;
      throw call.refusal({ status: 400, detail });
    }
    if (deployment.deletion !== 'none') throw call.refusal(beingDeleted);
    return deployment;
  }

  return {
    /** POST /v2/deployments/{id}/upload-url: an address for one tarball, and the path to name it by afterwards. */
    async requestUpload(id: string, { idempotencyKey }: WriteOptions = {}): Promise<UploadTarget> {
      const call = new Call('request upload', 'POST', `/v2/deployments/${id}/upload-url`);
      call.id('deployment_id', id);
      return once(call, { idempotencyKey, shape: uploadTarget }, async (within, record) => {
        const deployment = await ownDeployment(call, id, 'internal_source', within);
        if (!uploads) throw call.refusal({ status: 501, detail: 'This service takes no uploads.' });
        const target = await uploads.handOut(deployment.id, baseUrl(), within.uploads);
        await record({ deployment_id: deployment.id, deployment_name: deployment.name });
        return target;
      });
    },

    /** POST /v2/deployments/{id}/push-token: what an image is pushed with to the deployment's own repository. */
    async requestPushToken(id: string): Promise<PushToken> {
      const call = new Call('request push token', 'POST', `/v2/deployments/${id}/push-token`);
      const deployment = await ownDeployment(call, id, 'internal_docker');
      if (!registry) throw call.refusal({ status: 400, detail: noRegistry });
      const made = await registry.pushToken({ tenantId, deployment: deployment.name });
      if (made.kind !== 'made') {
        throw call.refusal({ status: made.kind === 'refused' ? 400 : 502, detail: made.why });
      }
      const subject = { deployment_id: deployment.id, deployment_name: deployment.name };
      await store.recordChange({ tenantId, by, operation: call.operation, subject });
      return { token: made.token, registry_url: made.repository };
    },
  };
}

const noRegistry =
  'This service has no image registry: it was started without --registry. Push the image to a registry of yours and name it as source_revision_config.image_uri in a PATCH.';
