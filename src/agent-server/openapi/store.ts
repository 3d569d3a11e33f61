import {
  StoreDelete,
  StoreNamespaces,
  StoreNamespacesReply,
  StorePut,
  StoreSearch,
} from '../../contract/agent/store-item.ts';
import type { Operation } from './operation.ts';
import { itemQuery } from './queries.ts';
import { storeItemResponse, storeItemsResponse } from './responses.ts';

const tag = 'Store';

/** The long-term store of graphs and callers. */
export const storeOperations: readonly Operation[] = [
  {
    method: 'put',
    path: '/store/items',
    id: 'put_item',
    summary: 'Put an item into the store',
    tag,
    body: { schema: StorePut, required: true },
    answers: { 204: { description: 'Stored.' } },
    errors: [400, 413, 422],
  },
  {
    method: 'get',
    path: '/store/items',
    id: 'get_item',
    summary: 'Read an item of the store',
    tag,
    query: itemQuery,
    answers: { 200: { description: 'The item; null if there is none.', schema: storeItemResponse.nullable() } },
    errors: [400, 422],
  },
  {
    method: 'delete',
    path: '/store/items',
    id: 'delete_item',
    summary: 'Delete an item of the store',
    tag,
    body: { schema: StoreDelete, required: true },
    answers: { 204: { description: 'Deleted.' } },
    errors: [400, 413, 422],
  },
  {
    method: 'post',
    path: '/store/items/search',
    id: 'search_items',
    summary: 'Search items of the store',
    tag,
    body: { schema: StoreSearch, required: true },
    answers: { 200: { description: 'A page of items.', schema: storeItemsResponse } },
    errors: [400, 413, 422],
  },
  {
    method: 'post',
    path: '/store/namespaces',
    id: 'list_namespaces',
    summary: 'List the namespaces of the store',
    tag,
    body: { schema: StoreNamespaces, required: false },
    answers: { 200: { description: 'The namespaces.', schema: StoreNamespacesReply } },
    errors: [400, 413, 422],
  },
];
