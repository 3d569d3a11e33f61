import type { GithubIntegration, GithubRepository } from '../../contract/control/integration.ts';
import { tellIntegration, tellRepository } from '../tell.ts';
import { found, takeId } from './refuse.ts';
import type { ServiceSettings } from './settings.ts';

/** Reading what deployments can be made with: integrations and their repositories. */
export function surroundingsOperations({ store, tenantId }: ServiceSettings) {
  return {
    async listIntegrations(): Promise<GithubIntegration[]> {
      return (await store.listIntegrations(tenantId)).map(tellIntegration);
    },

    async listRepositories(integrationId: string): Promise<GithubRepository[]> {
      const path = `/v1/integrations/github/${integrationId}/repos`;
      const call = { operation: 'list repositories', method: 'GET', path };
      const id = takeId(call, 'integration_id', integrationId);
      const integration = found(call, 'Integration', integrationId, await store.findIntegration(tenantId, id));
      return (await store.listRepositories(integration.id)).map(tellRepository);
    },
  };
}
