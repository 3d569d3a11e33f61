import type { GithubIntegration, GithubRepository } from '../../contract/control/integration.ts';
import type { Listener, ListenersList } from '../../contract/control/listener.ts';
import { plainPage } from '../rules/queries.ts';
import { readShape } from '../rules/shape.ts';
import { tellIntegration, tellListener, tellRepository } from '../tell.ts';
import { found, take, takeId } from './refuse.ts';
import type { ServiceSettings } from './settings.ts';

/** Reading what deployments can be made with: integrations, their repositories, listeners. */
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

    async listListeners(query: unknown): Promise<ListenersList> {
      const call = { operation: 'list listeners', method: 'GET', path: '/v2/listeners' };
      const page = take(call, readShape(plainPage, query, 'query'));
      const listeners = await store.listListeners(tenantId, page);
      return { resources: listeners.map(tellListener), offset: (page.offset ?? 0) + listeners.length };
    },

    async getListener(id: string): Promise<Listener> {
      const call = { operation: 'get listener', method: 'GET', path: `/v2/listeners/${id}` };
      const listenerId = takeId(call, 'listener_id', id);
      return tellListener(found(call, 'Listener', id, await store.findListener(tenantId, listenerId)));
    },
  };
}
