import type { Context } from 'hono';
import * as z from 'zod';
import { pageBounds } from '../../../contract/agent/assistant.ts';
import { cancelActions, runFields, runStatuses, runsCancel } from '../../../contract/agent/run.ts';
import type { Operation } from '../../../kit/http/operation.ts';
import { flag, pageLimit, pathId, readBody, readList, readQuery } from '../api/body.ts';
import { heartbeatJson } from '../api/heartbeat-json.ts';
import { operationsOf, type Env } from '../api/operation.ts';
import { lastEventId } from '../api/parameters.ts';
import { runResponse } from '../api/response-schemas.ts';
import { selected } from '../api/pages.ts';
import { noRun, noThread, Refusal, invalidAt } from '../refusal.ts';
import { joinPath, joinQuery, joinStream, keptStream, cancelOnDisconnect, streamQuery } from './join-stream.ts';
import { isUnfinished, showRun, type StoredRun } from './run-row.ts';
import { runEvents, runResult } from './start-operations.ts';

const fields = z.array(z.enum(runFields)).optional();
const listQuery = z.looseObject({
  limit: z.coerce.number().int().min(pageBounds.minLimit).max(pageBounds.maxLimit).optional(),
  offset: z.coerce.number().int().min(0).optional(),
  status: z.enum(runStatuses).optional(),
});
const unfinishedQuery = z.looseObject({ limit: pageLimit() });
const cancelQuery = z.looseObject({ wait: flag, action: z.enum(cancelActions).default('interrupt') });
const cancelManyQuery = cancelQuery.pick({ action: true });
const cancelBody = runsCancel.strip();

const all = '/threads/:thread_id/runs';
const one = `${all}/:run_id` as const;
const define = operationsOf('Thread Runs');
const defineStateless = operationsOf('Stateless Runs');

/** Existing runs: on a thread, or on the temporary thread of a stateless run. */
export const runOperations: readonly Operation<Env>[] = [
  define.get(all, 'list_runs', {
    summary: 'List the runs of a thread',
    description: 'Newest first.',
    query: listQuery.extend({ select: fields }),
    responses: { 200: { description: 'A page of runs.', schema: z.array(runResponse) } },
    async handle(c) {
      const { threads, runStore } = c.var.dependencies;
      const threadId = pathId(c, 'thread_id');
      const query = readQuery(c, listQuery);
      const select = readList(c, 'select', fields);
      if (!(await threads.get(threadId))) throw noThread(threadId);
      return c.json((await runStore.list(threadId, query)).map((run) => selected(showRun(run), select)));
    },
  }),
  define.get(one, 'get_run', {
    summary: 'Read a run',
    description: 'With its status and the request that started it.',
    responses: { 200: { description: 'The run.', schema: runResponse } },
    handle: async (c) => c.json(showRun(await requireRun(c))),
  }),
  define.delete(one, 'delete_run', {
    summary: 'Delete an ended run',
    description: 'The states that it wrote stay in the thread. A run in progress is refused.',
    responses: { 204: { description: 'Deleted.' } },
    also: [409],
    async handle(c) {
      const run = await requireRun(c);
      const isDeleted = await c.var.dependencies.runStore.delete(run.run_id);
      if (!isDeleted) throw new Refusal(409, `Run ${run.run_id} has not ended. Cancel it first.`);
      return c.body(null, 204);
    },
  }),
  define.get(`${one}/join`, 'join_run', {
    summary: 'Wait for an existing run',
    description: 'The response comes at the end of the run, and is `__error__` where it failed.',
    query: joinQuery,
    responses: { 200: runResult },
    async handle(c) {
      const { runs, clock } = c.var.dependencies;
      // Looked up before its row: a stateless run that ends meanwhile leaves nothing else.
      const inHand = runs.executor.find(pathId(c, 'run_id'));
      const run = await requireRun(c);
      // Validates the query before waiting.
      const { cancel_on_disconnect: isLast } = readQuery(c, joinQuery);
      const headers = isLast ? {} : { location: joinPath(run.thread_id, run.run_id) };
      const following = { clock, onGone: cancelOnDisconnect(c, run), headers };
      return heartbeatJson(runs.following.ended(run, inHand), following);
    },
  }),
  define.get(`${one}/stream`, 'join_run_stream', {
    summary: 'Stream the events of an existing run',
    description: 'The events so far where the run is resumable, then the new ones until its end.',
    query: streamQuery,
    headers: [lastEventId],
    responses: { 200: runEvents },
    async handle(c) {
      const { threads, runStore } = c.var.dependencies;
      const [threadId, runId] = [pathId(c, 'thread_id'), pathId(c, 'run_id')];
      const run = await runStore.get(threadId, runId);
      if (run) return joinStream(c, run);
      // A stateless run leaves only its events for a while. A thread created with that id since must not expose them.
      const kept = (await threads.get(threadId)) ? undefined : await keptStream(c);
      return kept ?? joinStream(c, await requireRun(c));
    },
  }),
  define.post(`${one}/cancel`, 'cancel_run', {
    summary: 'Cancel a run',
    description: '`interrupt` keeps its work and `rollback` undoes it. With `wait` the response comes at its end.',
    query: cancelQuery,
    responses: {
      202: { description: 'The run will end.' },
      204: { description: 'The run has ended.' },
    },
    also: [409],
    async handle(c) {
      const { runs } = c.var.dependencies;
      const { wait, action } = readQuery(c, cancelQuery);
      const inHand = runs.executor.find(pathId(c, 'run_id'));
      const run = await requireRun(c);
      if (!isUnfinished(run)) {
        throw new Refusal(409, `Run ${run.run_id} has ended already, with the status ${run.status}.`);
      }
      const ended = wait ? runs.following.ended(run, inHand) : undefined;
      await runs.cancelling.one(run.run_id, action);
      await ended;
      return c.body(null, wait ? 204 : 202);
    },
  }),
  defineStateless.get('/runs', 'list_unfinished_runs', {
    summary: 'List the unfinished runs of all threads',
    description: 'Newest first, with those of stateless runs.',
    query: unfinishedQuery,
    responses: { 200: { description: 'The unfinished runs.', schema: z.array(runResponse) } },
    async handle(c) {
      const { limit } = readQuery(c, unfinishedQuery);
      return c.json((await c.var.dependencies.runStore.allUnfinished(limit)).map(showRun));
    },
  }),
  define.post('/runs/cancel', 'cancel_runs', {
    summary: 'Cancel several runs',
    description: 'Selected by thread and ids, or by status.',
    query: cancelManyQuery,
    body: { schema: runsCancel, required: true },
    responses: { 204: { description: 'The runs will end.' } },
    also: [404],
    async handle(c) {
      const { runs, runStore } = c.var.dependencies;
      const { action } = readQuery(c, cancelManyQuery);
      const { status, thread_id, run_ids } = await readBody(c, cancelBody);
      if (status !== undefined && thread_id === undefined && run_ids === undefined) {
        await runs.cancelling.many({ status }, action);
      } else if (status === undefined && thread_id !== undefined && run_ids !== undefined) {
        const [threadId, runIds] = [thread_id.toLowerCase(), run_ids.map((id) => id.toLowerCase())];
        const known = await runStore.known(threadId, runIds);
        const unknown = runIds.filter((id) => !known.has(id));
        if (unknown.length > 0) throw noRun(unknown.join(', '), threadId);
        await runs.cancelling.many({ threadId, runIds }, action);
      } else {
        const msg = 'takes either "status", or "thread_id" together with "run_ids"';
        throw invalidAt(['body'], msg);
      }
      return c.body(null, 204);
    },
  }),
  defineStateless.get('/runs/:run_id/stream', 'join_stateless_run_stream', {
    summary: 'Stream the events of a run by its id alone',
    description: 'For clients that know no thread of the run.',
    query: streamQuery,
    headers: [lastEventId],
    responses: { 200: runEvents },
    async handle(c) {
      const runId = pathId(c, 'run_id');
      const run = await c.var.dependencies.runStore.find(runId);
      if (!run) throw noRun(runId);
      return joinStream(c, run);
    },
  }),
];

async function requireRun(c: Context<Env>): Promise<StoredRun> {
  const [threadId, runId] = [pathId(c, 'thread_id'), pathId(c, 'run_id')];
  const run = await c.var.dependencies.runStore.get(threadId, runId);
  if (!run) throw noRun(runId, threadId);
  return run;
}
