import * as z from 'zod';
import { CronCount, CronCreate, CronPatch, CronSearch } from '../../contract/agent/cron.ts';
import type { Operation } from './operation.ts';
import { countResponse, cronResponse } from './responses.ts';

/** The request to create a cron on a thread, which always keeps its thread. */
export const threadCronCreate = CronCreate.omit({ on_run_completed: true });
/** The request to create a cron without a thread. */
export const cronCreate = CronCreate.omit({ multitask_strategy: true });

const one = '/runs/crons/{cron_id}';
const tag = 'Crons';

/** Scheduled runs. */
export const cronOperations: readonly Operation[] = [
  {
    method: 'post',
    path: '/threads/{thread_id}/runs/crons',
    id: 'create_thread_cron',
    summary: 'Create a cron on a thread',
    tag,
    body: { schema: threadCronCreate, required: true },
    answers: { 200: { description: 'The cron.', schema: cronResponse } },
    errors: [400, 404, 413, 422],
  },
  {
    method: 'post',
    path: '/runs/crons',
    id: 'create_cron',
    summary: 'Create a cron with a new thread for each run',
    tag,
    body: { schema: cronCreate, required: true },
    answers: { 200: { description: 'The cron.', schema: cronResponse } },
    errors: [400, 404, 413, 422],
  },
  {
    method: 'post',
    path: '/runs/crons/search',
    id: 'search_crons',
    summary: 'Search crons',
    description: 'Newest first by default. `x-pagination-total` is the total number of matches.',
    tag,
    body: { schema: CronSearch, required: false },
    answers: { 200: { description: 'A page of crons.', schema: z.array(cronResponse) } },
    errors: [400, 413, 422],
  },
  {
    method: 'post',
    path: '/runs/crons/count',
    id: 'count_crons',
    summary: 'Count crons',
    tag,
    body: { schema: CronCount, required: false },
    answers: { 200: { description: 'The number of matches.', schema: countResponse } },
    errors: [400, 404, 413, 422],
  },
  {
    method: 'patch',
    path: one,
    id: 'patch_cron',
    summary: 'Change a cron',
    tag,
    body: { schema: CronPatch, required: true },
    answers: { 200: { description: 'The changed cron.', schema: cronResponse } },
    errors: [400, 404, 413, 422],
  },
  {
    method: 'delete',
    path: one,
    id: 'delete_cron',
    summary: 'Delete a cron',
    tag,
    answers: { 204: { description: 'Deleted.' } },
    errors: [404, 422],
  },
];
