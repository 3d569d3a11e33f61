import type { Context } from 'hono';
import * as z from 'zod';
import type { FreeObject } from '../../contract/agent/open-word.ts';
import { runBatchRequest, runCreate, type RunCreate } from '../../contract/agent/run.ts';
import type { Operation, ResponseDescription } from '../../http/operation.ts';
import { pathId, readBody } from '../api/body.ts';
import { eventStream } from '../api/event-stream.ts';
import { heartbeatJson } from '../api/heartbeat-json.ts';
import { operation } from '../api/operation.ts';
import type { Env } from '../api/operation.ts';
import { runResponse, runResultResponse } from '../api/response-schemas.ts';
import { Refusal } from '../refusal.ts';
import type { Execution } from './execution.ts';
import { streamPath } from './join-stream.ts';
import type { RunMode, RunPlan } from './run-plan.ts';
import { showAccepted } from './run-row.ts';

/** The request to start a run on a thread. */
export const statefulRun = runCreate.omit({ on_completion: true });
/** The request to start a stateless run. */
export const statelessRun = runCreate.omit({ checkpoint: true, if_not_exists: true, multitask_strategy: true });
/** A batch of stateless runs. */
export const runBatch = z.array(statelessRun).min(1);

const runBody = runCreate.strip();
const batchBody = runBatchRequest.element.strip().array().min(1);

const all = '/threads/:thread_id/runs';
const onThread = 'Thread Runs';
const alone = 'Stateless Runs';

/** The response of an operation that streams a run. */
export const runEvents: ResponseDescription = {
  description: 'Server-sent events; the first is `metadata` with the run’s id.',
  type: 'text/event-stream',
};
/** The response of an operation that waits for a run. */
export const runResult: ResponseDescription = {
  description: 'The state after the run, or its error.',
  schema: runResultResponse,
};
const starting = [400, 404, 409, 413, 422];

/** Starting runs, on a thread and stateless. */
export const runStartOperations: readonly Operation<Env>[] = [
  operation({
    method: 'post',
    path: all,
    id: 'create_run',
    summary: 'Start a run in the background',
    tag: onThread,
    body: { schema: statefulRun, required: true },
    responses: { 200: { description: 'The pending run.', schema: runResponse } },
    errors: starting,
    handle: async (c) => startInBackground(c, pathId(c, 'thread_id')),
  }),
  operation({
    method: 'post',
    path: `${all}/stream`,
    id: 'stream_run',
    summary: 'Start a run and stream its events',
    tag: onThread,
    body: { schema: statefulRun, required: true },
    responses: { 200: runEvents },
    errors: starting,
    handle: async (c) => startStream(c, pathId(c, 'thread_id')),
  }),
  operation({
    method: 'post',
    path: `${all}/wait`,
    id: 'wait_run',
    summary: 'Start a run and wait for its end',
    description: 'Newlines keep the connection alive until the JSON is ready.',
    tag: onThread,
    body: { schema: statefulRun, required: true },
    responses: { 200: runResult },
    errors: starting,
    handle: async (c) => startAndWait(c, pathId(c, 'thread_id')),
  }),
  operation({
    method: 'post',
    path: '/runs',
    id: 'create_stateless_run',
    summary: 'Start a stateless run in the background',
    tag: alone,
    body: { schema: statelessRun, required: true },
    responses: { 200: { description: 'The pending run.', schema: runResponse } },
    errors: starting,
    handle: async (c) => startInBackground(c, undefined),
  }),
  operation({
    method: 'post',
    path: '/runs/stream',
    id: 'stream_stateless_run',
    summary: 'Start a stateless run and stream its events',
    tag: alone,
    body: { schema: statelessRun, required: true },
    responses: { 200: runEvents },
    errors: starting,
    handle: async (c) => startStream(c, undefined),
  }),
  operation({
    method: 'post',
    path: '/runs/wait',
    id: 'wait_stateless_run',
    summary: 'Start a stateless run and wait for its end',
    description: 'Newlines keep the connection alive until the JSON is ready.',
    tag: alone,
    body: { schema: statelessRun, required: true },
    responses: { 200: runResult },
    errors: starting,
    handle: async (c) => startAndWait(c, undefined),
  }),
  operation({
    method: 'post',
    path: '/runs/batch',
    id: 'create_run_batch',
    summary: 'Start several stateless runs in the background',
    description: 'Accepts all of them, or none.',
    tag: alone,
    body: { schema: runBatch, required: true },
    responses: { 200: { description: 'The pending runs.', schema: z.array(runResponse) } },
    errors: starting,
    async handle(c) {
      const { runs, headersForRuns } = c.var.parts;
      const requests = await readBody(c, batchBody);
      const reported = headersForRuns(c.req.raw.headers);
      for (const [at, request] of requests.entries()) mustBeOffered(request, [at]);
      const plans = await runs.startMany(requests.map((request) => withHeaders(request, reported)));
      return c.json(plans.map(showAccepted));
    },
  }),
];

async function startInBackground(c: Context<Env>, threadId: string | undefined): Promise<Response> {
  const { plan } = await start(c, threadId, 'background');
  return c.json(showAccepted(plan), 200, whereIs(plan));
}

async function startStream(c: Context<Env>, threadId: string | undefined): Promise<Response> {
  const { plan, events, onGone } = following(await start(c, threadId, 'stream'));
  return eventStream(events, { clock: c.var.parts.clock, onGone, headers: whereStreamIs(plan) });
}

async function startAndWait(c: Context<Env>, threadId: string | undefined): Promise<Response> {
  const { plan, ended, onGone } = following(await start(c, threadId, 'wait'));
  return heartbeatJson(ended, { clock: c.var.parts.clock, onGone, headers: whereIs(plan) });
}

async function start(c: Context<Env>, threadId: string | undefined, mode: RunMode): Promise<Execution> {
  const { runs, headersForRuns } = c.var.parts;
  const request = await readBody(c, runBody);
  mustBeOffered(request);
  return runs.start(withHeaders(request, headersForRuns(c.req.raw.headers)), threadId, mode);
}

const withHeaders = (request: RunCreate, reported: FreeObject): RunCreate => ({
  ...request,
  config: { ...request.config, configurable: { ...request.config?.configurable, ...reported } },
});

/** An execution, and what to do when the caller who started it disconnects. */
function following(execution: Execution) {
  const { plan, events, ended } = execution;
  const onGone = () => {
    if (!plan.detached) execution.stop('caller-gone');
  };
  return { plan, events, ended, onGone };
}

/** The location of the run, to join it later. */
const whereIs = ({ threadId, runId }: RunPlan): Record<string, string> => ({
  'content-location': `/threads/${threadId}/runs/${runId}`,
});

/** The same for a stream, with the location where clients resume it automatically. */
const whereStreamIs = (plan: RunPlan): Record<string, string> => ({
  ...whereIs(plan),
  ...(plan.resumable ? { location: streamPath(plan.threadId, plan.runId) } : {}),
});

/** The longest delay of a run: 24 days, the limit of a timer. */
const mostAfterSeconds = 24 * 24 * 3600;

/** @param at the position of the run in a batch. */
function mustBeOffered({ after_seconds = 0 }: RunCreate, at: readonly number[] = []): void {
  if (after_seconds <= mostAfterSeconds) return;
  const msg = `this server puts a run off by ${mostAfterSeconds} seconds at most`;
  throw new Refusal(422, [{ loc: ['body', ...at, 'after_seconds'], msg, type: 'value_error' }]);
}
