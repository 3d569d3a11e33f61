import * as z from 'zod';
import { PAGE } from '../../contract/agent/assistant.ts';
import { CANCEL_ACTIONS, RUN_STATUSES } from '../../contract/agent/run.ts';
import { STREAM_MODES } from '../../contract/agent/stream-event.ts';

const boolean = z.boolean().optional();
const count = z.int().min(0).optional();
const limit = z.int().min(PAGE.minLimit).max(PAGE.maxLimit).optional();

/** The fields that a listing of runs may select. */
const runFields = [
  'run_id',
  'thread_id',
  'assistant_id',
  'created_at',
  'updated_at',
  'status',
  'metadata',
  'kwargs',
  'multitask_strategy',
] as const;

/** The query to draw a graph. */
export const drawingQuery = z.object({ xray: z.union([z.boolean(), z.int()]).optional() });
/** The query to list subgraphs. */
export const subgraphsQuery = z.object({ recurse: boolean });
/** The query to activate a version, which may be in the body instead. */
export const latestQuery = z.object({ version: z.int().min(1).optional() });
/** The query to delete an assistant. */
export const assistantDeletionQuery = z.object({ delete_threads: boolean });
/** The query to read a thread. */
export const threadQuery = z.object({ include: z.array(z.enum(['ttl'])).optional() });
/** The query to read a state. */
export const stateQuery = z.object({ subgraphs: boolean });
/** The query to list the states of a thread. */
export const historyQuery = z.object({ limit, before: z.string().optional() });
/** The query to list the runs of a thread. */
export const runsQuery = z.object({
  limit,
  offset: count,
  status: z.enum(RUN_STATUSES).optional(),
  select: z.array(z.enum(runFields)).optional(),
});
/** The query to cancel a run. */
export const cancelQuery = z.object({ wait: boolean, action: z.enum(CANCEL_ACTIONS).optional() });
/** The query to cancel several runs. */
export const cancelManyQuery = cancelQuery.pick({ action: true });
/** The query to wait for an existing run. */
export const joinQuery = z.object({ cancel_on_disconnect: boolean });
/** The query to stream an existing run. */
export const followQuery = joinQuery.extend({
  stream_mode: z.union([z.enum(STREAM_MODES), z.array(z.enum(STREAM_MODES))]).optional(),
});
/** The query to stream a thread. */
export const threadStreamQuery = z.object({
  stream_modes: z
    .union([
      z.enum(['lifecycle', 'run_modes', 'state_update']),
      z.array(z.enum(['lifecycle', 'run_modes', 'state_update'])),
    ])
    .optional(),
});
/** The query to read an item of the store. */
export const itemQuery = z.object({ key: z.string(), namespace: z.array(z.string()).optional(), refresh_ttl: boolean });
/** The query to check the server's health. */
export const healthQuery = z.object({ check_db: z.union([z.literal(0), z.literal(1)]).optional() });
/** The query to read the metrics. */
export const metricsQuery = z.object({ format: z.enum(['prometheus', 'json']).optional() });
