import * as z from 'zod';
import { freeObject } from '../../contract/agent/open-word.ts';
import { threadTtlStrategies } from '../../contract/agent/thread.ts';
import { textPaths } from '../../contract/agent/text-path.ts';
import { modulePath } from './export-path.ts';

/** The maximum length of an embedding: that of pgvector. */
const maxDims = 16_000;

/** What makes the store's items findable by their meaning. */
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
  /** Whether reading an item begins its time anew; true where absent, and a request may say otherwise. */
  refresh_on_read: z.boolean().optional(),
  /** What a new item gets that says none itself; absent or null: items live for ever. */
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
  /** `delete` where absent. */
  strategy: z.enum(threadTtlStrategies).optional(),
  /** What a thread gets that says none itself; absent or null: threads live for ever. */
  default_ttl: minutes.nullable().optional(),
  /** How often threads whose time is over are looked for. */
  sweep_interval_minutes: minutes.nullable().optional(),
  /** How many threads one look takes at most. */
  sweep_limit: z.int().min(1).nullable().optional(),
});

/** The key `checkpointer`. */
export const checkpointerConfig = z.strictObject({
  path: modulePath.optional(),
  ttl: threadTtl.nullable().optional(),
  serde: freeObject.nullable().optional(),
});
