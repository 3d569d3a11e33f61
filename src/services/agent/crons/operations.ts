import { randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import * as z from 'zod';
import { cronCount, cronCreateRequest, cronPatch, cronRun, cronSearch } from '../../../contract/agent/cron.ts';
import type { Operation } from '../../../kit/http/operation.ts';
import { pageLimit, pathId, readBody, readQuery } from '../api/body.ts';
import { operationsOf, type Env } from '../api/operation.ts';
import { cronResponse } from '../api/response-schemas.ts';
import { selected } from '../api/pages.ts';
import type { AuthUser } from '../auth/agent-auth.ts';
import { missing, noCron, noThread, unacceptable } from '../refusal.ts';
import { applyCronPatch, changesPayload, newCron, type CronRequestResult } from './cron-request.ts';
import { runOf, showCron, showCronRun, timingOf, type StoredCron } from './cron-row.ts';
import { nextRuns } from './due.ts';

/** The request to create a cron on a thread, which always keeps its thread. */
export const threadCronCreate = cronCreateRequest.omit({ on_run_completed: true });
export const cronCreate = cronCreateRequest.omit({ multitask_strategy: true });

const createBody = cronCreateRequest.strip();
const patchBody = cronPatch.strip();

const maxNextRuns = 5;
const cronWithNextRuns = z.looseObject({ ...cronResponse.shape, next_run_dates: z.array(z.iso.datetime()) });
const runsQuery = z.looseObject({ limit: pageLimit(100) });

const one = '/runs/crons/:cron_id';
const define = operationsOf('Crons');
const creates = {
  responses: { 200: { description: 'The cron.', schema: cronResponse } },
  also: [404],
} as const;

export const cronOperations: readonly Operation<Env>[] = [
  define.post('/threads/:thread_id/runs/crons', 'create_thread_cron', {
    ...creates,
    summary: 'Create a cron on a thread',
    description: 'Its runs continue the thread. The schedule has five fields, in `timezone` or UTC.',
    body: { schema: threadCronCreate, required: true },
    handle: async (c) => createCron(c, pathId(c, 'thread_id')),
  }),
  define.post('/runs/crons', 'create_cron', {
    ...creates,
    summary: 'Create a cron with a new thread for each run',
    description:
      'The schedule has five fields, in `timezone` or UTC. `on_run_completed` says whether the threads are kept.',
    body: { schema: cronCreate, required: true },
    handle: async (c) => createCron(c, undefined),
  }),
  define.search('/runs/crons/search', 'crons', cronSearch, {
    item: cronResponse,
    async find({ crons, clock }, request) {
      const { total, crons: found } = await crons.search(request);
      const now = new Date(clock.now()).toISOString();
      const shown = (cron: StoredCron) =>
        request.select?.length ? selected({ ...showCron(cron), now }, request.select) : showCron(cron);
      return { total, items: found.map(shown) };
    },
  }),
  define.count('/runs/crons/count', 'crons', cronCount, ({ crons }, filter) => crons.count(filter)),
  define.get(one, 'get_cron', {
    summary: 'Read a cron',
    description: 'With the times of its next runs.',
    responses: { 200: { description: 'The cron with its next runs, at most five.', schema: cronWithNextRuns } },
    async handle(c) {
      const cron = await requireCron(c);
      // The next run may be due already.
      const from = cron.next_run_date === null ? undefined : cron.next_run_date.getTime() - 1;
      const next = from === undefined ? [] : nextRuns(timingOf(cron), from, maxNextRuns);
      return c.json({ ...showCron(cron), next_run_dates: next.map((time) => new Date(time).toISOString()) });
    },
  }),
  define.get(`${one}/runs`, 'list_cron_runs', {
    summary: 'List the last runs of a cron',
    description: 'Newest first. Of those without a kept thread, the last 100.',
    query: runsQuery,
    responses: { 200: { description: 'The runs.', schema: z.array(cronRun) } },
    async handle(c) {
      const { limit } = readQuery(c, runsQuery);
      const { cron_id } = await requireCron(c);
      return c.json((await c.var.dependencies.crons.runs(cron_id, limit)).map(showCronRun));
    },
  }),
  define.patch(one, 'patch_cron', {
    summary: 'Change a cron',
    description: 'A field that is absent stays as it is; another schedule counts from now on.',
    body: { schema: cronPatch, required: true },
    responses: { 200: { description: 'The changed cron.', schema: cronResponse } },
    async handle(c) {
      const { crons, runs, clock } = c.var.dependencies;
      const cronId = pathId(c, 'cron_id');
      // Unlike in other requests, a null has a meaning: it removes the end.
      const patch = await readBody(c, patchBody, ['end_time']);
      for (;;) {
        const read = await crons.get(cronId);
        if (!read) throw noCron(cronId);
        const { cron, next } = unwrapResult(applyCronPatch(read, patch, clock.now()));
        if (changesPayload(patch)) await runs.check(runOf(cron), cron.thread_id ?? undefined);
        const changed = await crons.replace(read, cron, next);
        if (changed) return c.json(showCron(changed));
      }
    },
  }),
  define.delete(one, 'delete_cron', {
    summary: 'Delete a cron',
    description: 'Runs that it has started go on.',
    responses: { 204: { description: 'Deleted.' } },
    async handle(c) {
      const cronId = pathId(c, 'cron_id');
      if (!(await c.var.dependencies.crons.delete(cronId))) throw noCron(cronId);
      return c.body(null, 204);
    },
  }),
];

async function requireCron(c: Context<Env>): Promise<StoredCron> {
  const cronId = pathId(c, 'cron_id');
  const cron = await c.var.dependencies.crons.get(cronId);
  if (!cron) throw noCron(cronId);
  return cron;
}

async function createCron(c: Context<Env>, threadId: string | undefined): Promise<Response> {
  const { crons, threads, runs, clock } = c.var.dependencies;
  const request = await readBody(c, createBody);
  if (threadId !== undefined && !(await threads.get(threadId))) throw noThread(threadId);
  const user: AuthUser | undefined = c.get('authUser');
  const order = { cronId: randomUUID(), threadId, userId: user?.identity, now: clock.now() };
  const cron = unwrapResult(newCron(request, { ...order, assistantId: request.assistant_id }));
  const { assistantId } = await runs.check(runOf(cron), threadId);
  const made = { ...cron, assistant_id: assistantId };
  if (!(await crons.create(made))) throw missing('The assistant or the thread of the cron was deleted meanwhile.');
  return c.json(showCron(made));
}

function unwrapResult<T>(requested: CronRequestResult<T>): T {
  if (!requested.ok) throw unacceptable(requested.field, requested.reason);
  return requested.cron;
}
