import * as z from 'zod';
import { freeObject } from '../contract/agent/open-word.ts';
import { modulePath } from './export-path.ts';

/** A time to live, in minutes; parts of a minute are allowed. */
const minutes = z.number().positive();

/** How long items of the store live. Times are minutes. */
const StoreTtl = z.strictObject({
  /** Whether reading an item begins its time anew; true where absent, and a request may say otherwise. */
  refresh_on_read: z.boolean().optional(),
  /** What a new item gets that says none itself; absent or null: items live for ever. */
  default_ttl: minutes.nullable().optional(),
  /** How often expired items are removed. */
  sweep_interval_minutes: minutes.nullable().optional(),
});
type StoreTtl = z.infer<typeof StoreTtl>;

/** What makes the store's items findable by their meaning. */
const StoreIndex = z.strictObject({
  /** How many numbers an embedding has. */
  dims: z.int().min(1),
  /** A function of the agent's, `./src/embed.ts:embed`, or a model's name, `provider:model`. */
  embed: z.string().min(1),
  /** Which parts of a value are embedded; the whole where absent. */
  fields: z.array(z.string().min(1)).nullable().optional(),
});
type StoreIndex = z.infer<typeof StoreIndex>;

/** The key `store`. */
export const StoreConfig = z.strictObject({
  path: modulePath.optional(),
  index: StoreIndex.nullable().optional(),
  ttl: StoreTtl.nullable().optional(),
});
export type StoreConfig = z.infer<typeof StoreConfig>;

/** What becomes of a thread whose time is over: all of it goes, or all but its latest state. */
const THREAD_TTL_STRATEGIES = ['delete', 'keep_latest'] as const;

/** How long threads live after their last change. Times are minutes. */
const ThreadTtl = z.strictObject({
  /** `delete` where absent. */
  strategy: z.enum(THREAD_TTL_STRATEGIES).optional(),
  /** What a thread gets that says none itself; absent or null: threads live for ever. */
  default_ttl: minutes.nullable().optional(),
  /** How often threads whose time is over are looked for. */
  sweep_interval_minutes: minutes.nullable().optional(),
  /** How many threads one look takes at most. */
  sweep_limit: z.int().min(1).nullable().optional(),
});
type ThreadTtl = z.infer<typeof ThreadTtl>;

/** The key `checkpointer`. */
export const CheckpointerConfig = z.strictObject({
  path: modulePath.optional(),
  ttl: ThreadTtl.nullable().optional(),
  serde: freeObject.nullable().optional(),
});
export type CheckpointerConfig = z.infer<typeof CheckpointerConfig>;
