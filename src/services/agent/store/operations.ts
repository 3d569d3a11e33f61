import type { Context } from 'hono';
import * as z from 'zod';
import type { FreeObject } from '../../../contract/agent/open-word.ts';
import {
  storeDelete,
  storeNamespaces,
  storeNamespacesReply,
  storePut,
  storeSearch,
  type StoreItem,
} from '../../../contract/agent/store-item.ts';
import type { Operation } from '../../../kit/http/operation.ts';
import { readBody, readQuery } from '../api/body.ts';
import { operationsOf, type Env } from '../api/operation.ts';
import { storeItemResponse, storeItemsResponse } from '../api/response-schemas.ts';
import { warningHeader } from '../api/pages.ts';
import { Refusal, invalidAt } from '../refusal.ts';
import { readFilter, type Condition } from './filter.ts';
import type { Item } from './items.ts';
import { keyProblem, labelsProblem, namespaceProblem } from './namespace.ts';
import { searchItems } from './search.ts';

const ruled = <T>(schema: z.ZodType<T>, problemOf: (value: T) => string | undefined) =>
  schema.superRefine((value, context) => {
    const problem = problemOf(value);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  });

const strings = z.array(z.string());
const namespace = ruled(strings, namespaceProblem);
const labels = ruled(strings, labelsProblem);

const putBody = storePut.extend({ namespace }).strip().superRefine(checkKey);
const deleteBody = storeDelete.extend({ namespace: namespace.optional() }).strip().superRefine(checkKey);
const searchBody = storeSearch.extend({ namespace_prefix: labels.nullable().optional() }).strip();
const namespacesBody = storeNamespaces.extend({ prefix: labels.optional(), suffix: labels.optional() }).strip();
const itemQuery = z.looseObject({
  key: z.string(),
  refresh_ttl: z
    .enum(['true', 'false', '1', '0'])
    .optional()
    .meta({
      override: ({ jsonSchema }) => {
        delete jsonSchema.enum;
        jsonSchema.type = 'boolean';
      },
    }),
});

const define = operationsOf('Store');

/** The long-term store of graphs and callers. */
export const storeOperations: readonly Operation<Env>[] = [
  define.put('/store/items', 'put_item', {
    summary: 'Put an item into the store',
    description: 'Replaces an item of the same namespace and key. `ttl` is in minutes.',
    body: { schema: storePut, required: true },
    responses: { 204: { description: 'Stored.' } },
    also: [502],
    async handle(c) {
      const { namespace, key, value, ttl, index } = await readBody(c, putBody, ['ttl']);
      const { items, semanticIndex } = c.var.dependencies.store;
      await items.put(namespace, key, value, ttl, await semanticIndex?.vectorsOf(value, index));
      return c.body(null, 204);
    },
  }),
  define.get('/store/items', 'get_item', {
    summary: 'Read an item of the store',
    description: 'By its namespace and its key. With `refresh_ttl` its time to live starts anew.',
    query: itemQuery.extend({ namespace: strings.optional() }),
    responses: { 200: { description: 'The item; null if there is none.', schema: storeItemResponse.nullable() } },
    also: [400],
    async handle(c) {
      const { key, refresh_ttl } = readQuery(c, itemQuery);
      const address = namespaceOf(c);
      const problem = keyProblem(key, address);
      if (problem !== undefined) throw refusedQuery('key', problem);
      const refresh = refresh_ttl === undefined ? undefined : refresh_ttl === 'true' || refresh_ttl === '1';
      const item = await c.var.dependencies.store.items.get(address, key, refresh);
      return c.json(item ? showItem(item) : null);
    },
  }),
  define.delete('/store/items', 'delete_item', {
    summary: 'Delete an item of the store',
    description: 'One that does not exist is no error.',
    body: { schema: storeDelete, required: true },
    responses: { 204: { description: 'Deleted.' } },
    async handle(c) {
      const { namespace, key } = await readBody(c, deleteBody);
      // There are no items at the root.
      if (namespace !== undefined) await c.var.dependencies.store.items.delete(namespace, key);
      return c.body(null, 204);
    },
  }),
  define.post('/store/items/search', 'search_items', {
    summary: 'Search items of the store',
    description: 'Below a namespace, by fields, and by meaning with `query` where the configuration has an index.',
    body: { schema: storeSearch, required: true },
    responses: { 200: { description: 'A page of items.', schema: storeItemsResponse } },
    also: [502],
    async handle(c) {
      const { namespace_prefix, filter, query, limit, offset, refresh_ttl } = await readBody(c, searchBody);
      const { store, log } = c.var.dependencies;
      const search = {
        prefix: namespace_prefix ?? [],
        conditions: conditionsOf(filter ?? {}),
        access: c.get('storeFilter'),
        limit,
        offset,
        refresh: refresh_ttl ?? undefined,
      };
      const { items, warning } = await searchItems({ ...store, log }, search, query);
      return c.json({ items: items.map(showItem) }, 200, warning === undefined ? {} : warningHeader(warning));
    },
  }),
  define.post('/store/namespaces', 'list_namespaces', {
    summary: 'List the namespaces of the store',
    description: 'Those that hold items, cut at `max_depth` labels.',
    body: { schema: storeNamespaces, required: false },
    responses: { 200: { description: 'The namespaces.', schema: storeNamespacesReply } },
    async handle(c) {
      const { prefix, suffix, max_depth, limit, offset } = await readBody(c, namespacesBody);
      const search = { prefix, suffix, maxDepth: max_depth, access: c.get('storeFilter'), limit, offset };
      return c.json({ namespaces: await c.var.dependencies.store.items.namespaces(search) });
    },
  }),
];

function checkKey(address: { namespace?: string[] | undefined; key: string }, context: z.RefinementCtx): void {
  const problem = keyProblem(address.key, address.namespace ?? []);
  if (problem !== undefined) context.addIssue({ code: 'custom', path: ['key'], message: problem });
}

/** The namespace of the query: labels joined by periods, or repeated parameters. */
function namespaceOf(c: Context): string[] {
  const given = (c.req.queries('namespace') ?? []).filter((part) => part !== '');
  if (given.length === 0)
    throw new Refusal(400, 'The query names no namespace. Add one, for example ?namespace=a.b&key=k.');
  const labels = given.flatMap((part) => part.split('.'));
  const problem = namespaceProblem(labels);
  if (problem !== undefined) throw refusedQuery('namespace', problem);
  return labels;
}

const refusedQuery = (name: string, msg: string): Refusal => invalidAt(['query', name], msg);

function conditionsOf(filter: FreeObject): Condition[] {
  const read = readFilter(filter);
  if (read.ok) return read.conditions;
  throw invalidAt(['body', 'filter', ...read.path], read.problem);
}

const showItem = ({ namespace, key, value, createdAt, updatedAt, score }: Item): StoreItem => ({
  namespace,
  key,
  value,
  created_at: createdAt.toISOString(),
  updated_at: updatedAt.toISOString(),
  ...(score === undefined ? {} : { score }),
});
