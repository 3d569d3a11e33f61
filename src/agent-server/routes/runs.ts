import { Hono } from 'hono';
import type { Context } from 'hono';
import { RunBatch, RunCreate } from '../../contract/agent/run.ts';
import type { FreeObject } from '../../contract/agent/open-word.ts';
import type { Clock } from '../../clock.ts';
import { Refusal } from '../refusal.ts';
import type { Execution } from '../runs/execution.ts';
import type { Carried, RunPlan } from '../runs/run-plan.ts';
import { showAccepted } from '../runs/run-row.ts';
import type { Runs } from '../runs/runs.ts';
import { readBody } from './body.ts';
import { eventStream } from './event-stream.ts';
import { heartbeatJson } from './heartbeat-json.ts';

const runBody = RunCreate.strip();
const batchBody = RunBatch.element.strip().array().min(1);

/** Maps a request's headers to the `configurable` of its runs. */
type HeadersForRuns = (headers: Headers) => FreeObject;

const withHeaders = (request: RunCreate, reported: FreeObject): RunCreate => ({
  ...request,
  config: { ...request.config, configurable: { ...request.config?.configurable, ...reported } },
});

/** The endpoints that start a run, on a thread or stateless (section "Endpoints"). */
export function startRoutes(
  runs: Runs,
  clock: Clock,
  threadOf: (c: Context) => string | undefined,
  headersForRuns: HeadersForRuns,
): Hono {
  const routes = new Hono();

  const start = async (c: Context, carried: Carried): Promise<Execution> => {
    const request = await readBody(c, runBody);
    mustBeOffered(request);
    return runs.start(withHeaders(request, headersForRuns(c.req.raw.headers)), threadOf(c), carried);
  };

  routes.post('/', async (c) => {
    const { plan } = await start(c, 'background');
    return c.json(showAccepted(plan), 200, whereIs(plan));
  });

  routes.post('/stream', async (c) => {
    const { plan, events, onGone } = following(await start(c, 'stream'));
    return eventStream(events, { clock, onGone, headers: whereStreamIs(plan) });
  });

  routes.post('/wait', async (c) => {
    const { plan, ended, onGone } = following(await start(c, 'wait'));
    return heartbeatJson(ended, { clock, onGone, headers: whereIs(plan) });
  });

  return routes;
}

/** `POST /runs/batch`: starts one stateless background run per item; all or none are accepted. */
export function batchRoutes(runs: Runs, headersForRuns: HeadersForRuns): Hono {
  const routes = new Hono();
  routes.post('/batch', async (c) => {
    const requests = await readBody(c, batchBody);
    const reported = headersForRuns(c.req.raw.headers);
    for (const [at, request] of requests.entries()) mustBeOffered(request, [at]);
    const plans = await runs.startMany(requests.map((request) => withHeaders(request, reported)));
    return c.json(plans.map(showAccepted));
  });
  return routes;
}

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
  ...(plan.resumable ? { location: `/threads/${plan.threadId}/runs/${plan.runId}/stream` } : {}),
});

/** The longest delay of a run: 24 days, the limit of a timer. */
const MOST_AFTER_SECONDS = 24 * 24 * 3600;

/** @param at the position of the run in a batch. */
function mustBeOffered({ after_seconds = 0 }: RunCreate, at: readonly number[] = []): void {
  if (after_seconds <= MOST_AFTER_SECONDS) return;
  const msg = `this server puts a run off by ${MOST_AFTER_SECONDS} seconds at most`;
  throw new Refusal(422, [{ loc: ['body', ...at, 'after_seconds'], msg, type: 'value_error' }]);
}
