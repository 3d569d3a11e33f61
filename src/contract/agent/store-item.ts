import * as z from 'zod';
import { freeObject } from './open-word.ts';
import { textPaths } from './text-path.ts';

export const storePage = { searchLimit: 10, namespacesLimit: 100 } as const;

/** The longest time to live of an item: a hundred years, in minutes. */
export const maxItemTtlMinutes = 100 * 366 * 24 * 60;

/** One item of the key-value store. The document names the store and leaves its bodies open. */
export const storeItem = z.looseObject({
  namespace: z.array(z.string()),
  key: z.string(),
  value: freeObject,
  created_at: z.string().nullish(),
  updated_at: z.string().nullish(),
  /** The cosine similarity to the query of a search by meaning. */
  score: z.number().nullish(),
});
export type StoreItem = z.infer<typeof storeItem>;

/**
 * Body of `PUT /store/items`. `ttl` counts (minutes) from the last write or read; null is none, absent the default.
 * `index` has the paths of the texts that are embedded, false is none, absent the configured ones.
 */
export const storePut = z.strictObject({
  namespace: z.array(z.string()),
  key: z.string().min(1),
  value: freeObject,
  index: z.union([z.literal(false), textPaths]).nullish(),
  ttl: z.number().positive().max(maxItemTtlMinutes).nullable().optional(),
});

/** Body of `DELETE /store/items`. */
export const storeDelete = z.strictObject({ namespace: z.array(z.string()).optional(), key: z.string().min(1) });

/** Body of `POST /store/items/search`: `filter` matches values key by key, `query` sorts by meaning. */
export const storeSearch = z.strictObject({
  namespace_prefix: z.array(z.string()).nullable().optional(),
  filter: freeObject.nullable().optional(),
  limit: z.int().min(1).optional(),
  offset: z.int().min(0).optional(),
  query: z.string().nullable().optional(),
  /** Whether to restart the time to live of the found items; the server's setting by default. */
  refresh_ttl: z.boolean().nullable().optional(),
});

/** Body of `POST /store/namespaces`. In `prefix` and `suffix`, `*` stands for any one label. */
export const storeNamespaces = z.strictObject({
  prefix: z.array(z.string()).optional(),
  suffix: z.array(z.string()).optional(),
  max_depth: z.int().min(1).optional(),
  limit: z.int().min(1).optional(),
  offset: z.int().min(0).optional(),
});

/** Answer of `POST /store/namespaces`: the public description says a bare list, a public server wraps it. */
export const storeNamespacesReply = z.union([
  z.array(z.array(z.string())),
  z.looseObject({ namespaces: z.array(z.array(z.string())) }),
]);
