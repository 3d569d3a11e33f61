import * as z from 'zod';
import { freeObject } from '../../contract/agent/open-word.ts';
import { threadTtlStrategies } from '../../contract/agent/thread.ts';
import { textPaths } from '../../contract/agent/text-path.ts';
import { modulePath } from './graph-path.ts';

/** The maximum length of an embedding: that of pgvector. */
const maxDims = 16_000;

/** The semantic search of the store. */
const storeIndex = z.strictObject({
  /** The length of an embedding. */
  dims: z.int().min(1).max(maxDims),
  /** An export of the agent, `./src/embed.ts:embed`, or a model, `provider:model`. */
  embed: z.string().min(1),
  /** The paths of the texts of a value that are embedded; the whole value by default. */
  fields: textPaths.nullable().optional(),
});
export type StoreIndexConfig = z.infer<typeof storeIndex>;

/** A time to live, in minutes; parts of a minute are allowed. */
const minutes = z.number().positive();

/** How long items of the store live. Times are minutes. */
const storeTtl = z.strictObject({
  /** Whether reading an item restarts its time to live; true by default, and a request can override it. */
  refresh_on_read: z.boolean().optional(),
  /** The time to live of items without their own; without it they never expire. */
  default_ttl: minutes.nullable().optional(),
  /** How often expired items are removed. */
  sweep_interval_minutes: minutes.nullable().optional(),
});

/** The key `store`. */
export const storeConfig = z.strictObject({
  path: modulePath.optional(),
  index: storeIndex.nullable().optional(),
  ttl: storeTtl.nullable().optional(),
});
export type StoreConfig = z.infer<typeof storeConfig>;

/** How long threads live after their last change. Times are minutes. */
const threadTtl = z.strictObject({
  /** `delete` by default. */
  strategy: z.enum(threadTtlStrategies).optional(),
  /** The time to live of threads without their own; without it they never expire. */
  default_ttl: minutes.nullable().optional(),
  /** How often expired threads are processed. */
  sweep_interval_minutes: minutes.nullable().optional(),
  /** How many threads are processed at once. */
  sweep_limit: z.int().min(1).nullable().optional(),
});

/** The key `checkpointer`. */
export const checkpointerConfig = z.strictObject({
  path: modulePath.optional(),
  ttl: threadTtl.nullable().optional(),
  serde: freeObject.nullable().optional(),
});
