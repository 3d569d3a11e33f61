import * as z from 'zod';
import { storeItem, storeNamespacesReply, type StoreItem } from '../../../contract/agent/store-item.ts';
import { agentPath } from '../../api/agent-access.ts';
import { call, send } from '../../api/http.ts';

type Namespace = readonly string[];

const maxNamespaces = 1_000;

/** The namespaces of an agent's store, at most 1,000. */
export async function listNamespaces(id: string, signal: AbortSignal): Promise<Namespace[]> {
  const body = { limit: maxNamespaces };
  const reply = await call('POST', agentPath(id, 'store', 'namespaces'), storeNamespacesReply, { body, signal });
  return Array.isArray(reply) ? reply : reply.namespaces;
}

const storeItems = z.looseObject({ items: z.array(storeItem) });

interface ItemSearch {
  namespace_prefix: Namespace;
  filter?: Record<string, unknown> | undefined;
  query?: string | undefined;
  limit: number;
  offset: number;
}

export async function searchItems(id: string, search: ItemSearch, signal: AbortSignal): Promise<StoreItem[]> {
  // Showing an item must not extend its TTL.
  const body = { ...search, refresh_ttl: false };
  return (await call('POST', agentPath(id, 'store', 'items', 'search'), storeItems, { body, signal })).items;
}

export const putItem = (id: string, body: Pick<StoreItem, 'namespace' | 'key' | 'value'>): Promise<unknown> =>
  send('PUT', agentPath(id, 'store', 'items'), { body });

export const deleteItem = (id: string, { namespace, key }: StoreItem): Promise<unknown> =>
  send('DELETE', agentPath(id, 'store', 'items'), { body: { namespace, key } });
