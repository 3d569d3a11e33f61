import * as z from 'zod';
import { stateValues, freeObject, openWord, configReply } from './open-word.ts';
import { ifExists, page, sortOrders } from './assistant.ts';

/** Thread statuses: a new thread is `idle` (section "Thread"); the others are those of the public servers. */
export const threadStatuses = ['idle', 'busy', 'interrupted', 'error'] as const;
export type ThreadStatus = (typeof threadStatuses)[number];

/** What happens to an expired thread: it is deleted, or all but its latest state. */
export const threadTtlStrategies = ['delete', 'keep_latest'] as const;
export type ThreadTtlStrategy = (typeof threadTtlStrategies)[number];

/** The longest time to live of a thread: a hundred years, in minutes. */
export const maxTtlMinutes = 100 * 366 * 24 * 60;

const minutesToLive = z.number().positive().max(maxTtlMinutes);

/** The time to live of a thread from now on: minutes, with the strategy `delete` by default. */
export const threadTtl = z.union([
  minutesToLive,
  z.strictObject({ strategy: z.enum(threadTtlStrategies).optional(), ttl: minutesToLive }),
]);
export type ThreadTtl = z.infer<typeof threadTtl>;

/** The time to live of a thread in `GET /threads/{thread_id}?include=ttl`. `expires_at` is null if it does not expire. */
export const threadTtlReply = z.looseObject({
  strategy: openWord(threadTtlStrategies),
  ttl_minutes: z.number(),
  expires_at: z.string().nullable(),
});
export type ThreadTtlReply = z.infer<typeof threadTtlReply>;

/** A thread in a response. `values` is null or absent on a new one; `interrupts` maps a task to its interrupts. */
export const threadSchema = z.looseObject({
  thread_id: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  metadata: freeObject.nullish(),
  status: openWord(threadStatuses),
  config: configReply,
  values: stateValues.nullish(),
  interrupts: freeObject.nullish(),
  state_updated_at: z.string().nullish(),
  ttl: threadTtlReply.nullish(),
  extracted: freeObject.nullish(),
});
export type Thread = z.infer<typeof threadSchema>;

/** The position of a state in a thread's history. */
export const checkpointSchema = z.looseObject({
  thread_id: z.string().nullish(),
  checkpoint_ns: z.string().nullish(),
  checkpoint_id: z.string().nullish(),
  checkpoint_map: freeObject.nullish(),
});
export type Checkpoint = z.infer<typeof checkpointSchema>;

/** A node that is next in a state, or that it stopped in. */
export const threadTask = z.looseObject({
  id: z.string(),
  name: z.string(),
  error: z.unknown().optional(),
  interrupts: z.array(z.unknown()).nullish(),
  checkpoint: checkpointSchema.nullish(),
  state: z.unknown().optional(),
});

/** The state of a thread at one checkpoint (`GET /threads/{thread_id}/state`). */
export const threadState = z.looseObject({
  values: z.unknown(),
  next: z.array(z.string()),
  tasks: z.array(threadTask).nullish(),
  checkpoint: checkpointSchema.nullish(),
  parent_checkpoint: checkpointSchema.nullish(),
  metadata: freeObject.nullish(),
  created_at: z.string().nullish(),
  interrupts: z.array(z.unknown()).nullish(),
});
export type ThreadState = z.infer<typeof threadState>;

/** Body of `POST /threads` (section "Endpoints"): an object that may be empty. */
export const threadCreate = z.strictObject({
  thread_id: z.uuid().optional(),
  metadata: freeObject.optional(),
  if_exists: z.enum(ifExists).optional(),
  ttl: threadTtl.optional(),
});
export type ThreadCreate = z.infer<typeof threadCreate>;

/** Body of `PATCH /threads/{thread_id}`: `metadata` is merged, `ttl` restarts. */
export const threadPatch = z.strictObject({ metadata: freeObject.optional(), ttl: threadTtl.optional() });
export type ThreadPatch = z.infer<typeof threadPatch>;

/** Body of `POST /threads/{thread_id}/copy`: `metadata` is merged into that of the copy. Only where `/info` has its flag. */
export const threadCopy = z.strictObject({ metadata: freeObject.optional() });
export type ThreadCopy = z.infer<typeof threadCopy>;

/** The flag of `/info` of a server that merges the metadata of a copy. */
export const copyMetadataFlag = 'thread_copy_metadata';

const threadSortFields = ['thread_id', 'status', 'created_at', 'updated_at', 'state_updated_at'] as const;

const threadFields = [...threadSchema.keyof().exclude(['ttl', 'extracted']).options, 'context'] as const;

const maxExtracted = 10;

/**
 * Body of `POST /threads/search`: `metadata` and `values` match key by key. `extract` names parts of a thread by their
 * paths, such as `values.messages[-1].content`, which each thread answers under `extracted`.
 */
export const threadSearch = z.strictObject({
  ids: z.array(z.uuid()).optional(),
  metadata: freeObject.optional(),
  values: freeObject.optional(),
  status: z.enum(threadStatuses).optional(),
  ...page,
  sort_by: z.enum(threadSortFields).optional(),
  sort_order: z.enum(sortOrders).optional(),
  select: z.array(z.enum(threadFields)).optional(),
  extract: z
    .record(z.string().min(1), z.string().min(1))
    .refine((paths) => Object.keys(paths).length <= maxExtracted, { error: `names more than ${maxExtracted} paths` })
    .optional(),
});
export type ThreadSearch = z.infer<typeof threadSearch>;

/** Body of `POST /threads/count`: the filters of a search. The answer is a bare integer. */
export const threadCount = threadSearch.pick({ metadata: true, values: true, status: true });
export type ThreadCount = z.infer<typeof threadCount>;

/** Body of `POST /threads/prune`: deletes threads, or all but their latest states. */
export const threadPrune = z.strictObject({
  thread_ids: z.array(z.uuid()),
  strategy: z.enum(threadTtlStrategies).optional(),
});

const stateFields = Object.keys(threadState.shape);

/** A field of a state to return; `values.KEY` is one key of its values. */
export const threadStateField = z.string().regex(new RegExp(`^(?:${stateFields.join('|')}|values\\..+)$`, 's'), {
  error: `expected ${stateFields.join(', ')} or values.KEY`,
});

/** Body of `POST /threads/{thread_id}/state/checkpoint`: the state at that checkpoint, of a subgraph too. */
export const threadStateCheckpoint = z.strictObject({
  checkpoint: checkpointSchema,
  subgraphs: z.boolean().optional(),
  select: z.array(threadStateField).optional(),
});

/** Body of `POST /threads/{thread_id}/state`: as if `as_node` returned the values. `checkpoint_id` is an older form. */
export const threadStateUpdate = z.strictObject({
  values: stateValues.nullish(),
  checkpoint: checkpointSchema.optional(),
  checkpoint_id: z.string().optional(),
  as_node: z.string().optional(),
});

/** A checkpoint, as the public description names it, as the engine's configuration does, or by its id alone. */
const anyCheckpoint = z.union([
  z.string().min(1),
  checkpointSchema.extend({ configurable: z.looseObject({ checkpoint_id: z.string().nullish() }).nullish() }),
]);

/** Body of `POST /threads/{thread_id}/history`, newest first; `checkpoint` names the subgraph by its namespace. */
export const threadHistorySearch = z.strictObject({
  limit: page.limit,
  before: anyCheckpoint.optional(),
  metadata: freeObject.optional(),
  checkpoint: checkpointSchema.optional(),
  select: z.array(threadStateField).optional(),
});
export type ThreadHistorySearch = z.infer<typeof threadHistorySearch>;

/** The modes of a thread's stream: start and end of runs, the events of every run, manual state updates. */
export const threadStreamModes = ['lifecycle', 'run_modes', 'state_update'] as const;
export type ThreadStreamMode = (typeof threadStreamModes)[number];
