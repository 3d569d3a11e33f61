import * as z from 'zod';
import { IF_EXISTS, PAGE, SORT_ORDERS } from './assistant.ts';
import { ConfigReply } from './config.ts';
import { freeObject, openWord } from './open-word.ts';

/** Thread statuses: a new thread is `idle` (section "Thread"); the others are those of the public servers. */
export const THREAD_STATUSES = ['idle', 'busy', 'interrupted', 'error'] as const;
export type ThreadStatus = (typeof THREAD_STATUSES)[number];

/**
 * A thread as a server answers it (section "Thread"). `values` is null on a new thread; a public server leaves it out.
 * `interrupts` maps a task to what it waits for.
 */
export const Thread = z.looseObject({
  thread_id: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  metadata: freeObject.nullish(),
  status: openWord(THREAD_STATUSES),
  config: ConfigReply,
  values: z.union([freeObject, z.array(z.unknown())]).nullish(),
  interrupts: freeObject.nullish(),
});
export type Thread = z.infer<typeof Thread>;

/** Where in a thread's history a state lies. */
export const Checkpoint = z.looseObject({
  thread_id: z.string().nullish(),
  checkpoint_ns: z.string().nullish(),
  checkpoint_id: z.string().nullish(),
  checkpoint_map: freeObject.nullish(),
});
export type Checkpoint = z.infer<typeof Checkpoint>;

/** A node that a state is about to run, or that it stopped in. */
export const ThreadTask = z.looseObject({
  id: z.string(),
  name: z.string(),
  error: z.unknown().optional(),
  interrupts: z.array(z.unknown()).nullish(),
  checkpoint: Checkpoint.nullish(),
  state: z.unknown().optional(),
});
export type ThreadTask = z.infer<typeof ThreadTask>;

/** The state of a thread at one checkpoint (`GET /threads/{thread_id}/state`). */
export const ThreadState = z.looseObject({
  values: z.unknown(),
  next: z.array(z.string()),
  tasks: z.array(ThreadTask).nullish(),
  checkpoint: Checkpoint.nullish(),
  parent_checkpoint: Checkpoint.nullish(),
  metadata: freeObject.nullish(),
  created_at: z.string().nullish(),
  interrupts: z.array(z.unknown()).nullish(),
});
export type ThreadState = z.infer<typeof ThreadState>;

/** How long a thread is kept: `ttl` is in minutes. */
export const ThreadTtl = z.strictObject({ strategy: z.enum(['delete']).optional(), ttl: z.number().positive() });
export type ThreadTtl = z.infer<typeof ThreadTtl>;

/** Body of `POST /threads` (section "Endpoints"): an object that may be empty. */
export const ThreadCreate = z.strictObject({
  thread_id: z.uuid().optional(),
  metadata: freeObject.optional(),
  if_exists: z.enum(IF_EXISTS).optional(),
  ttl: ThreadTtl.optional(),
});
export type ThreadCreate = z.infer<typeof ThreadCreate>;

/** Body of `PATCH /threads/{thread_id}`: `metadata` is merged. */
export const ThreadPatch = z.strictObject({ metadata: freeObject.optional(), ttl: ThreadTtl.optional() });
export type ThreadPatch = z.infer<typeof ThreadPatch>;

/** The fields a search of threads may sort by. */
export const THREAD_SORT_FIELDS = ['thread_id', 'status', 'created_at', 'updated_at'] as const;

/** The fields a search may select. */
export const THREAD_FIELDS = [
  'thread_id',
  'created_at',
  'updated_at',
  'metadata',
  'config',
  'status',
  'values',
  'interrupts',
] as const;

/** Body of `POST /threads/search`: `metadata` and `values` match key by key. */
export const ThreadSearch = z.strictObject({
  ids: z.array(z.uuid()).optional(),
  metadata: freeObject.optional(),
  values: freeObject.optional(),
  status: z.enum(THREAD_STATUSES).optional(),
  limit: z.int().min(PAGE.minLimit).max(PAGE.maxLimit).optional(),
  offset: z.int().min(0).optional(),
  sort_by: z.enum(THREAD_SORT_FIELDS).optional(),
  sort_order: z.enum(SORT_ORDERS).optional(),
  select: z.array(z.enum(THREAD_FIELDS)).optional(),
});
export type ThreadSearch = z.infer<typeof ThreadSearch>;

/** Body of `POST /threads/count`: the filters of a search. The answer is a bare integer. */
export const ThreadCount = z.strictObject({
  metadata: freeObject.optional(),
  values: freeObject.optional(),
  status: z.enum(THREAD_STATUSES).optional(),
});
export type ThreadCount = z.infer<typeof ThreadCount>;

/** Body of `POST /threads/{thread_id}/state`: writes values as if `as_node` had answered them. */
export const ThreadStateUpdate = z.strictObject({
  values: z
    .union([freeObject, z.array(z.unknown())])
    .nullable()
    .optional(),
  checkpoint: Checkpoint.optional(),
  as_node: z.string().optional(),
});
export type ThreadStateUpdate = z.infer<typeof ThreadStateUpdate>;

/** Body of `POST /threads/{thread_id}/history`: states, newest first. */
export const ThreadHistorySearch = z.strictObject({
  limit: z.int().min(PAGE.minLimit).max(PAGE.maxLimit).optional(),
  before: Checkpoint.optional(),
  metadata: freeObject.optional(),
  checkpoint: Checkpoint.optional(),
});
export type ThreadHistorySearch = z.infer<typeof ThreadHistorySearch>;
