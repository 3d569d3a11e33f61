import type { Context } from 'hono';
import * as z from 'zod';
import type { FreeObject } from '../../../contract/agent/open-word.ts';
import { runBatchRequest, runCreate, type RunCreate } from '../../../contract/agent/run.ts';
import type { Operation, ResponseDescription } from '../../../kit/http/operation.ts';
import { pathId, readBody } from '../api/body.ts';
import { eventStream } from '../api/event-stream.ts';
import { heartbeatJson } from '../api/heartbeat-json.ts';
import { operationsOf, type Env } from '../api/operation.ts';
import { runResponse, runResultResponse } from '../api/response-schemas.ts';
import { warningHeader } from '../api/pages.ts';
import { cancellationHeader, threadStreamHeader } from '../protocols/internal-api.ts';
import { invalidAt } from '../refusal.ts';
import type { Execution } from './execution.ts';
import { joinPath, streamPath } from './join-stream.ts';
import { maxWarningLength } from './acceptance.ts';
import type { RunMode, RunPlan } from './run-plan.ts';
import { showAccepted } from './run-row.ts';

/** The request to start a run on a thread. */
export const statefulRun = runCreate.omit({ on_completion: true });
/** The request to start a stateless run. */
export const statelessRun = runCreate.omit({ checkpoint: true, if_not_exists: true, multitask_strategy: true });
export const runBatch = z.array(statelessRun).min(1);

const runBody = runCreate.strip();
const batchBody = runBatchRequest.element.strip().array().min(1);

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
const startErrors = [404, 409];

/** The operations that start one run: on the thread of the path, or a stateless one. */
function startingOne(
  path: '/threads/:thread_id/runs' | '/runs',
  { name, kind, tag, schema }: { name: string; kind: string; tag: string; schema: z.ZodType },
): Operation<Env>[] {
  const define = operationsOf(tag);
  const shared = { body: { schema, required: true }, also: startErrors } as const;
  const threadOf = (c: Context<Env>) => (path === '/runs' ? undefined : pathId(c, 'thread_id'));
  return [
    define.post(path, `create_${name}`, {
      ...shared,
      summary: `Start a ${kind} in the background`,
      description: 'The response comes at once. A run without a thread in its path makes one for itself.',
      responses: { 200: { description: 'The pending run.', schema: runResponse } },
      async handle(c) {
        const { plan } = await start(c, threadOf(c), 'background');
        return c.json(showAccepted(plan), 200, headersOf(plan));
      },
    }),
    define.post(`${path}/stream`, `stream_${name}`, {
      ...shared,
      summary: `Start a ${kind} and stream its events`,
      description:
        '`stream_mode` selects the events. `Location` names the stream of a resumable run, to join it again.',
      responses: { 200: runEvents },
      async handle(c) {
        const execution = await start(c, threadOf(c), 'stream');
        const { plan, events } = execution;
        // Clients resume a stream at its location.
        const location = plan.resumable ? { location: streamPath(plan.threadId, plan.runId) } : {};
        const headers = { ...headersOf(plan), ...location };
        const showsCancellation = c.req.header(cancellationHeader) !== undefined;
        const onGone = stopOnDisconnect(execution);
        return eventStream(events, { clock: c.var.dependencies.clock, onGone, headers, showsCancellation });
      },
    }),
    define.post(`${path}/wait`, `wait_${name}`, {
      ...shared,
      summary: `Start a ${kind} and wait for its end`,
      description:
        'Newlines keep the connection alive until the JSON is ready. `Location` names the run that goes on without its ' +
        'caller, to join it again.',
      responses: { 200: runResult },
      async handle(c) {
        const execution = await start(c, threadOf(c), 'wait');
        const { plan } = execution;
        // A run without a thread leaves nothing to come back to.
        const isLeft = plan.detached && path !== '/runs';
        const location = isLeft ? { location: joinPath(plan.threadId, plan.runId) } : {};
        const headers = { ...headersOf(plan), ...location };
        return heartbeatJson(execution.ended, {
          clock: c.var.dependencies.clock,
          onGone: stopOnDisconnect(execution),
          headers,
        });
      },
    }),
  ];
}

export const runStartOperations: readonly Operation<Env>[] = [
  ...startingOne('/threads/:thread_id/runs', { name: 'run', kind: 'run', tag: 'Thread Runs', schema: statefulRun }),
  ...startingOne('/runs', {
    name: 'stateless_run',
    kind: 'stateless run',
    tag: 'Stateless Runs',
    schema: statelessRun,
  }),
  operationsOf('Stateless Runs').post('/runs/batch', 'create_run_batch', {
    summary: 'Start several stateless runs in the background',
    description: 'Accepts all of them, or none.',
    body: { schema: runBatch, required: true },
    responses: { 200: { description: 'The pending runs.', schema: z.array(runResponse) } },
    also: startErrors,
    async handle(c) {
      const { runs, headersForRuns } = c.var.dependencies;
      const requests = await readBody(c, batchBody);
      const configurable = headersForRuns(c.req.raw.headers);
      for (const [at, request] of requests.entries()) assertDelaySupported(request, [at]);
      const plans = await runs.startMany(requests.map((request) => withConfigurable(request, configurable)));
      const warnings = plans.flatMap(({ warning }, at) => (warning === undefined ? [] : [`${at}: ${warning}`]));
      const headers = warnings.length === 0 ? {} : warningHeader(warnings.join('; ').slice(0, maxWarningLength));
      return c.json(plans.map(showAccepted), 200, headers);
    },
  }),
];

async function start(c: Context<Env>, threadId: string | undefined, mode: RunMode): Promise<Execution> {
  const { runs, headersForRuns } = c.var.dependencies;
  const request = await readBody(c, runBody);
  assertDelaySupported(request);
  const forThreadStream = threadId !== undefined && c.req.header(threadStreamHeader) !== undefined;
  return runs.start(withConfigurable(request, headersForRuns(c.req.raw.headers)), threadId, mode, forThreadStream);
}

/** Adds the request's headers that the graph may see, which override values of the body. */
const withConfigurable = (request: RunCreate, headers: FreeObject): RunCreate => ({
  ...request,
  config: { ...request.config, configurable: { ...request.config?.configurable, ...headers } },
});

const stopOnDisconnect = (execution: Execution) => () => {
  if (!execution.plan.detached) execution.stop('caller-gone');
};

/** The location of the run, to join it later, and what of its request is ignored. */
const headersOf = ({ threadId, runId, warning }: RunPlan): Record<string, string> => ({
  'content-location': `/threads/${threadId}/runs/${runId}`,
  ...(warning === undefined ? {} : warningHeader(warning)),
});

/** The maximum delay of a run: 24 days, just below the limit of a timer. */
const maxAfterSeconds = 24 * 24 * 3600;

/** @param at the position of the run in a batch. */
function assertDelaySupported({ after_seconds = 0 }: RunCreate, at: readonly number[] = []): void {
  if (after_seconds <= maxAfterSeconds) return;
  const msg = `must be at most ${maxAfterSeconds} seconds on this server`;
  throw invalidAt(['body', ...at, 'after_seconds'], msg);
}
