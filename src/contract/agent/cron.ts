import * as z from 'zod';
import { page, sortOrders } from './assistant.ts';
import { freeObject } from './open-word.ts';
import { onCompletion, runCreate, runStatuses } from './run.ts';

/** The longest schedule, in characters: five fields with every value spelled out are shorter. */
const maxScheduleLength = 500;

/**
 * A cron, a periodic run, in a response (section "What the service does"). The specification names crons and leaves
 * their fields open: these are the public servers'.
 *
 * - `thread_id` is null if every run gets its own thread; `on_run_completed` then says what happens to it.
 * - `next_run_date` is null if no run is due: the cron is not `enabled`, or its `end_time` has passed.
 * - `timezone` is an IANA time zone; null counts as UTC.
 * - `payload` is the request of each run. It may hold the token of a webhook's URL: never print it.
 */
export const cronSchema = z.looseObject({
  cron_id: z.string(),
  assistant_id: z.string().nullish(),
  thread_id: z.string().nullish(),
  schedule: z.string(),
  timezone: z.string().nullish(),
  end_time: z.string().nullish(),
  enabled: z.boolean().nullish(),
  on_run_completed: z.string().nullish(),
  created_at: z.string().nullish(),
  updated_at: z.string().nullish(),
  next_run_date: z.string().nullish(),
  payload: freeObject.nullish(),
  metadata: freeObject.nullish(),
  user_id: z.string().nullish(),
});
export type Cron = z.infer<typeof cronSchema>;

/** A run that a cron started (an addition of ours). */
export const cronRun = z.looseObject({
  run_id: z.uuid(),
  /** Null if its thread is not kept. */
  thread_id: z.uuid().nullable(),
  status: z.enum(runStatuses),
  error: z.looseObject({ error: z.string(), message: z.string() }).nullable(),
  created_at: z.string(),
  run_started_at: z.string().nullable(),
  run_ended_at: z.string().nullable(),
});
export type CronRun = z.infer<typeof cronRun>;

/** The stored `payload` of a cron: the request of its runs, without assistant and metadata. */
export const cronPayload = runCreate.pick({
  input: true,
  config: true,
  context: true,
  webhook: true,
  interrupt_before: true,
  interrupt_after: true,
  stream_mode: true,
  stream_subgraphs: true,
  stream_resumable: true,
  durability: true,
  multitask_strategy: true,
  checkpoint_during: true,
});
export type CronPayload = z.infer<typeof cronPayload>;

/** When the runs start, and until when. An `end_time` without an offset is UTC. */
const timing = {
  schedule: z.string().min(1).max(maxScheduleLength),
  timezone: z.string().min(1).optional(),
  end_time: z.iso
    .datetime({ offset: true, local: true, error: 'must be a date and time such as 2026-12-31T00:00:00Z' })
    .optional(),
  enabled: z.boolean().optional(),
};

/**
 * Body of `POST /runs/crons` (section "Endpoints"), and of `POST /threads/{thread_id}/runs/crons`, where every run is
 * on that thread. Without a thread each run gets its own, deleted or kept afterwards. `metadata` is the cron's and its
 * runs'; `webhook` is called for each run.
 */
export const cronCreateRequest = z.strictObject({
  assistant_id: z.string().min(1),
  ...timing,
  ...cronPayload.shape,
  metadata: freeObject.optional(),
  on_run_completed: z.enum(onCompletion).optional(),
});
export type CronCreate = z.infer<typeof cronCreateRequest>;

/**
 * Body of `PATCH /runs/crons/{cron_id}`, as the public client sends it: fields replace the earlier ones, except for
 * `metadata`, which is merged. A null `end_time` removes the end.
 */
export const cronPatch = z.strictObject({
  ...cronPayload.omit({ multitask_strategy: true, checkpoint_during: true }).shape,
  schedule: timing.schedule.optional(),
  timezone: timing.timezone,
  end_time: timing.end_time.nullable(),
  enabled: timing.enabled,
  metadata: freeObject.optional(),
  on_run_completed: z.enum(onCompletion).optional(),
});
export type CronPatch = z.infer<typeof cronPatch>;

const cronSortFields = [
  'cron_id',
  'assistant_id',
  'thread_id',
  'next_run_date',
  'end_time',
  'created_at',
  'updated_at',
] as const;

/** The fields of a stored cron. */
export const storedCronFields = cronSchema.keyof().options;

/** The fields a search may select; `now` is the server's time of the answer. */
const cronFields = [...storedCronFields, 'now'] as const;

/** Selects crons by assistant (or by graph), by thread, by whether they are enabled, and by metadata. */
const filters = {
  assistant_id: z.string().min(1).optional(),
  thread_id: z.uuid().optional(),
  enabled: z.boolean().optional(),
  metadata: freeObject.optional(),
};

/** Body of `POST /runs/crons/search`; newest first. The header `x-pagination-total` carries the count. */
export const cronSearch = z.strictObject({
  ...filters,
  ...page,
  sort_by: z.enum(cronSortFields).optional(),
  sort_order: z.enum(sortOrders).optional(),
  select: z.array(z.enum(cronFields)).optional(),
});
export type CronSearch = z.infer<typeof cronSearch>;

/** Body of `POST /runs/crons/count`. The answer is a bare integer. */
export const cronCount = z.strictObject(filters);
export type CronCount = z.infer<typeof cronCount>;
