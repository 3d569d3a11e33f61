import * as z from 'zod';
import { PAGE, SORT_ORDERS } from './assistant.ts';
import { RunConfigRequest } from './config.ts';
import { freeObject } from './open-word.ts';
import { MULTITASK_STRATEGIES, ON_COMPLETION } from './run.ts';
import { MAX_WEBHOOK_URL_LENGTH } from './webhook.ts';

/** A cron, a periodic run, as a server answers it. The document names crons and leaves their fields open. */
export const Cron = z.looseObject({
  cron_id: z.string(),
  assistant_id: z.string().nullish(),
  thread_id: z.string().nullish(),
  schedule: z.string(),
  end_time: z.string().nullish(),
  created_at: z.string().nullish(),
  updated_at: z.string().nullish(),
  next_run_date: z.string().nullish(),
  payload: freeObject.nullish(),
  metadata: freeObject.nullish(),
  user_id: z.string().nullish(),
});
export type Cron = z.infer<typeof Cron>;

const interruptNodes = z.union([z.literal('*'), z.array(z.string())]);

const cronRun = {
  assistant_id: z.string().min(1),
  schedule: z.string().min(1),
  end_time: z.iso.datetime({ offset: true }).optional(),
  input: z.unknown().optional(),
  metadata: freeObject.optional(),
  config: RunConfigRequest.optional(),
  context: freeObject.optional(),
  webhook: z.string().min(1).max(MAX_WEBHOOK_URL_LENGTH).optional(),
  interrupt_before: interruptNodes.optional(),
  interrupt_after: interruptNodes.optional(),
};

/** Body of `POST /runs/crons` (section "Endpoints"): each run gets a thread of its own, deleted or kept afterwards. */
export const CronCreate = z.strictObject({ ...cronRun, on_run_completed: z.enum(ON_COMPLETION).optional() });
export type CronCreate = z.infer<typeof CronCreate>;

/** Body of `POST /threads/{thread_id}/runs/crons` (section "Endpoints"): every run is on that thread. */
export const ThreadCronCreate = z.strictObject({
  ...cronRun,
  multitask_strategy: z.enum(MULTITASK_STRATEGIES).optional(),
});
export type ThreadCronCreate = z.infer<typeof ThreadCronCreate>;

/** The fields a search of crons may sort by. */
export const CRON_SORT_FIELDS = [
  'cron_id',
  'assistant_id',
  'thread_id',
  'next_run_date',
  'end_time',
  'created_at',
  'updated_at',
] as const;

/** Body of `POST /runs/crons/search`. */
export const CronSearch = z.strictObject({
  assistant_id: z.string().optional(),
  thread_id: z.uuid().optional(),
  limit: z.int().min(PAGE.minLimit).max(PAGE.maxLimit).optional(),
  offset: z.int().min(0).optional(),
  sort_by: z.enum(CRON_SORT_FIELDS).optional(),
  sort_order: z.enum(SORT_ORDERS).optional(),
});
export type CronSearch = z.infer<typeof CronSearch>;

/** Body of `POST /runs/crons/count`. The answer is a bare integer. */
export const CronCount = z.strictObject({ assistant_id: z.string().optional(), thread_id: z.uuid().optional() });
export type CronCount = z.infer<typeof CronCount>;
