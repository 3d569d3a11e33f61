import { Hono } from 'hono';
import type { Context } from 'hono';
import { RunBatch, RunCreate } from '../../contract/agent/run.ts';
import type { Run } from '../../contract/agent/run.ts';
import type { Clock } from '../../clock.ts';
import { unacceptable } from '../refusal.ts';
import type { Execution } from '../runs/execution.ts';
import type { Carried } from '../runs/run-plan.ts';
import { showAccepted } from '../runs/run-row.ts';
import type { Runs } from '../runs/runs.ts';
import { readBody } from './body.ts';
import { eventStream } from './event-stream.ts';
import { lateAnswer } from './late-answer.ts';

const runBody = RunCreate.strip();
const batchBody = RunBatch.element.strip().array().min(1);

/** The ways to start a run, on a thread or stateless (section "Endpoints"). */
export function startRoutes(runs: Runs, clock: Clock, threadOf: (c: Context) => string | undefined): Hono {
  const routes = new Hono();

  const start = async (c: Context, carried: Carried): Promise<Execution> => {
    const request = await readBody(c, runBody);
    mustBeOffered(request);
    return runs.start(request, threadOf(c), carried);
  };

  routes.post('/', async (c) => {
    const { plan } = await start(c, 'background');
    return c.json(showAccepted(plan), 200, whereIs(plan));
  });

  routes.post('/stream', async (c) => {
    const { plan, events, onGone } = following(await start(c, 'stream'));
    return eventStream(events, { clock, onGone, headers: whereIs(plan) });
  });

  routes.post('/wait', async (c) => {
    const { plan, ended, onGone } = following(await start(c, 'wait'));
    return lateAnswer(ended, { clock, onGone, headers: whereIs(plan) });
  });

  return routes;
}

/** `POST /runs/batch`: one stateless background run an item. */
export function batchRoutes(runs: Runs): Hono {
  const routes = new Hono();
  routes.post('/batch', async (c) => {
    const requests = await readBody(c, batchBody);
    requests.forEach(mustBeOffered);
    requests.forEach(({ webhook }) => runs.checkWebhook(webhook));
    const accepted: Run[] = [];
    for (const request of requests)
      accepted.push(showAccepted((await runs.start(request, undefined, 'background')).plan));
    return c.json(accepted);
  });
  return routes;
}

/** An execution, and what it means for it when the caller who started it goes. */
function following(execution: Execution) {
  const { plan, events, ended } = execution;
  const onGone = () => {
    if (!plan.detached) execution.stop('caller-gone');
  };
  return { plan, events, ended, onGone };
}

/** Where the run is, for a caller who wants to join it later. */
const whereIs = ({ threadId, runId }: { threadId: string; runId: string }): Record<string, string> => ({
  'content-location': `/threads/${threadId}/runs/${runId}`,
});

/** The farthest a run is put off: 24 days, as long as a timer can be. */
const MOST_AFTER_SECONDS = 24 * 24 * 3600;

/** A field that would be without effect is refused rather than passed over. */
function mustBeOffered(request: RunCreate): void {
  if ((request.after_seconds ?? 0) > MOST_AFTER_SECONDS)
    throw unacceptable('after_seconds', `this server puts a run off by ${MOST_AFTER_SECONDS} seconds at most`);
}
