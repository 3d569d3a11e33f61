import * as z from 'zod';
import type { GraphStore } from '../../store/graph-store.ts';
import type { Answer, Asked } from './connection.ts';
import { plainInteger, plainNumber } from './headers.ts';

// What a worker asks of the store of the deployment (docs/design/python-worker.md#store).

const namespace = z.array(z.string());
const operation = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('get'), namespace, key: z.string() }),
  z.object({
    kind: z.literal('put'),
    namespace,
    key: z.string(),
    value: z.record(z.string(), z.unknown()).nullable(),
    index: z.union([z.literal(false), z.array(z.string())]).nullable(),
    ttl: plainNumber.nullable(),
  }),
  z.object({
    kind: z.literal('search'),
    prefix: namespace,
    filter: z.record(z.string(), z.unknown()).nullable(),
    query: z.string().nullable(),
    limit: plainInteger,
    offset: plainInteger,
    refresh_ttl: z.boolean().nullable(),
  }),
  z.object({
    kind: z.literal('namespaces'),
    conditions: z.array(z.object({ type: z.string(), path: namespace })),
    max_depth: plainInteger.nullable(),
    limit: plainInteger,
    offset: plainInteger,
  }),
]);
const batch = z.object({ operations: z.array(operation) });

/** Answers a request about the store. @throws what the store throws for an invalid call. */
export async function answerAboutStore({ args }: Asked, store: Pick<GraphStore, 'batch'>): Promise<Answer> {
  const results = await store.batch(batch.parse(args).operations.map(inNamesOfStore));
  return { value: results.map(shown) };
}

function inNamesOfStore(asked: z.infer<typeof operation>): object {
  switch (asked.kind) {
    case 'get':
      return { namespace: asked.namespace, key: asked.key };
    case 'put': {
      const { ttl, index } = asked;
      const place = { namespace: asked.namespace, key: asked.key, value: asked.value };
      return { ...place, index: index ?? undefined, options: ttl === null ? undefined : { ttl } };
    }
    case 'search': {
      const { prefix, filter, query, limit, offset, refresh_ttl: refreshTtl } = asked;
      return { namespacePrefix: prefix, filter, query, limit, offset, refreshTtl: refreshTtl ?? undefined };
    }
    case 'namespaces': {
      const matchConditions = asked.conditions.map(({ type, path }) => ({ matchType: type, path }));
      return { matchConditions, maxDepth: asked.max_depth ?? undefined, limit: asked.limit, offset: asked.offset };
    }
  }
}

const item = z.object({
  namespace,
  key: z.string(),
  value: z.unknown(),
  createdAt: z.date(),
  updatedAt: z.date(),
  score: z.number().optional(),
});

/** A result in the worker's names: an item, a list of them, or a list of namespaces. */
function shown(result: unknown): unknown {
  if (Array.isArray(result)) return result.map(shown);
  const read = item.safeParse(result);
  if (!read.success) return result ?? null;
  const { createdAt, updatedAt, ...rest } = read.data;
  return { ...rest, created_at: createdAt.toISOString(), updated_at: updatedAt.toISOString() };
}
