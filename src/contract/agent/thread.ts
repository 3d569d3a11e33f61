import * as z from 'zod';
import { IF_EXISTS, PAGE, SORT_ORDERS } from './assistant.ts';
import { ConfigReply } from './config.ts';
import { freeObject, openWord } from './open-word.ts';

/** Thread statuses: a new thread is `idle` (section "Thread"); the others are those of the public servers. */
export const THREAD_STATUSES = ['idle', 'busy', 'interrupted', 'error'] as const;
export type ThreadStatus = (typeof THREAD_STATUSES)[number];

/** What happens to an expired thread: it is deleted, or all but its latest state. */
export const THREAD_TTL_STRATEGIES = ['delete', 'keep_latest'] as const;
export type ThreadTtlStrategy = (typeof THREAD_TTL_STRATEGIES)[number];

/** The longest time to live of a thread: a hundred years, in minutes. */
export const MAX_TTL_MINUTES = 100 * 366 * 24 * 60;

const minutesToLive = z.number().positive().max(MAX_TTL_MINUTES);

/** The time to live of a thread from now on: minutes, with the strategy `delete` by default. */
export const ThreadTtl = z.union([
  minutesToLive,
  z.strictObject({ strategy: z.enum(THREAD_TTL_STRATEGIES).optional(), ttl: minutesToLive }),
]);
export type ThreadTtl = z.infer<typeof ThreadTtl>;

/** The time to live of a thread in `GET /threads/{thread_id}?include=ttl`. `expires_at` is null if it does not expire. */
export const ThreadTtlReply = z.looseObject({
  strategy: openWord(THREAD_TTL_STRATEGIES),
  ttl_minutes: z.number(),
  expires_at: z.string().nullable(),
});
export type ThreadTtlReply = z.infer<typeof ThreadTtlReply>;

/**
 * A thread in a response (section "Thread"). `values` is null on a new thread; a public server omits it. `interrupts` maps
 * a task to its interrupts.
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
  state_updated_at: z.string().nullish(),
  ttl: ThreadTtlReply.nullish(),
  extracted: freeObject.nullish(),
});
export type Thread = z.infer<typeof Thread>;

/** The position of a state in a thread's history. */
export const Checkpoint = z.looseObject({
  thread_id: z.string().nullish(),
  checkpoint_ns: z.string().nullish(),
  checkpoint_id: z.string().nullish(),
  checkpoint_map: freeObject.nullish(),
});
export type Checkpoint = z.infer<typeof Checkpoint>;

/** A node that is next in a state, or that it stopped in. */
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

/** Body of `POST /threads` (section "Endpoints"): an object that may be empty. */
export const ThreadCreate = z.strictObject({
  thread_id: z.uuid().optional(),
  metadata: freeObject.optional(),
  if_exists: z.enum(IF_EXISTS).optional(),
  ttl: ThreadTtl.optional(),
});
export type ThreadCreate = z.infer<typeof ThreadCreate>;

/** Body of `PATCH /threads/{thread_id}`: `metadata` is merged, `ttl` restarts. */
export const ThreadPatch = z.strictObject({ metadata: freeObject.optional(), ttl: ThreadTtl.optional() });
export type ThreadPatch = z.infer<typeof ThreadPatch>;

/** The fields a search of threads may sort by. */
const THREAD_SORT_FIELDS = ['thread_id', 'status', 'created_at', 'updated_at', 'state_updated_at'] as const;

/** The fields a search may select. */
const THREAD_FIELDS = [
  'thread_id',
  'created_at',
  'updated_at',
  'state_updated_at',
  'metadata',
  'config',
  'context',
  'status',
  'values',
  'interrupts',
] as const;

/** How many paths a search may extract. */
const MAX_EXTRACTED = 10;

/**
 * Body of `POST /threads/search`: `metadata` and `values` match key by key. `extract` names parts of a thread by their
 * paths, such as `values.messages[-1].content`, which each thread answers under `extracted`.
 */
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
  extract: z
    .record(z.string().min(1), z.string().min(1))
    .refine((paths) => Object.keys(paths).length <= MAX_EXTRACTED, { error: `names more than ${MAX_EXTRACTED} paths` })
    .optional(),
});
export type ThreadSearch = z.infer<typeof ThreadSearch>;

/** Body of `POST /threads/count`: the filters of a search. The answer is a bare integer. */
export const ThreadCount = z.strictObject({
  metadata: freeObject.optional(),
  values: freeObject.optional(),
  status: z.enum(THREAD_STATUSES).optional(),
});
export type ThreadCount = z.infer<typeof ThreadCount>;

/** Body of `POST /threads/prune`: deletes threads, or all but their latest states. */
export const ThreadPrune = z.strictObject({
  thread_ids: z.array(z.uuid()),
  strategy: z.enum(THREAD_TTL_STRATEGIES).optional(),
});
export type ThreadPrune = z.infer<typeof ThreadPrune>;

/** Body of `POST /threads/{thread_id}/state/checkpoint`: the state at that checkpoint, of a subgraph too. */
export const ThreadStateCheckpoint = z.strictObject({ checkpoint: Checkpoint, subgraphs: z.boolean().optional() });
export type ThreadStateCheckpoint = z.infer<typeof ThreadStateCheckpoint>;

/**
 * Body of `POST /threads/{thread_id}/state`: writes values as if `as_node` had returned them, after the named checkpoint,
 * or the newest. `checkpoint_id` is the older way to name one.
 */
export const ThreadStateUpdate = z.strictObject({
  values: z
    .union([freeObject, z.array(z.unknown())])
    .nullable()
    .optional(),
  checkpoint: Checkpoint.optional(),
  checkpoint_id: z.string().optional(),
  as_node: z.string().optional(),
});
export type ThreadStateUpdate = z.infer<typeof ThreadStateUpdate>;

/** A checkpoint, as the public description names it, as the engine's configuration does, or by its id alone. */
const anyCheckpoint = z.union([
  z.string().min(1),
  z.looseObject({ configurable: z.looseObject({ checkpoint_id: z.string() }) }),
  Checkpoint,
]);

/**
 * Body of `POST /threads/{thread_id}/history`: states, newest first, those before `before`, with that metadata, of the
 * subgraph whose namespace `checkpoint` names.
 */
export const ThreadHistorySearch = z.strictObject({
  limit: z.int().min(PAGE.minLimit).max(PAGE.maxLimit).optional(),
  before: anyCheckpoint.optional(),
  metadata: freeObject.optional(),
  checkpoint: Checkpoint.optional(),
});
export type ThreadHistorySearch = z.infer<typeof ThreadHistorySearch>;

/**
 * The modes of `GET /threads/{thread_id}/stream`: the start and end of runs, the events of every run, manual state
 * updates.
 */
export const THREAD_STREAM_MODES = ['lifecycle', 'run_modes', 'state_update'] as const;
export type ThreadStreamMode = (typeof THREAD_STREAM_MODES)[number];
