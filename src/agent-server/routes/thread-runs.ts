import { Hono } from 'hono';
import type { Context } from 'hono';
import * as z from 'zod';
import type { Clock } from '../../clock.ts';
import { PAGE } from '../../contract/agent/assistant.ts';
import { CANCEL_ACTIONS, RUN_FIELDS, RUN_STATUSES } from '../../contract/agent/run.ts';
import { missing, Refusal } from '../refusal.ts';
import { isUnfinished, showRun } from '../runs/run-row.ts';
import type { StoredRun } from '../runs/run-row.ts';
import type { Runs } from '../runs/runs.ts';
import type { RunStore } from '../runs/store.ts';
import type { ThreadStore } from '../threads/store.ts';
import { flag, pathId, readList, readQuery } from './body.ts';
import { joinStream, keptStream, onGone } from './join-stream.ts';
import { heartbeatJson } from './heartbeat-json.ts';
import { selected } from './select.ts';

/** The dependencies of the routes for runs on threads. */
export interface ThreadRunParts {
  runs: Runs;
  store: RunStore;
  threads: ThreadStore;
  clock: Clock;
}

const CancelQuery = z.looseObject({ wait: flag, action: z.enum(CANCEL_ACTIONS).default('interrupt') });
const fields = z.array(z.enum(RUN_FIELDS)).optional();
const ListQuery = z.looseObject({
  limit: z.coerce.number().int().min(PAGE.minLimit).max(PAGE.maxLimit).optional(),
  offset: z.coerce.number().int().min(0).optional(),
  status: z.enum(RUN_STATUSES).optional(),
});

/** Reads existing runs: on a thread, or on the temporary thread of a stateless run. */
export function threadRunRoutes({ runs, store, threads, clock }: ThreadRunParts): Hono {
  const routes = new Hono();

  const theRun = async (c: Context): Promise<StoredRun> => {
    const [threadId, runId] = [pathId(c, 'thread_id'), pathId(c, 'run_id')];
    const run = await store.get(threadId, runId);
    if (!run) throw missing(`Run ${runId} does not exist on thread ${threadId}.`);
    return run;
  };

  routes.get('/:thread_id/runs', async (c) => {
    const threadId = pathId(c, 'thread_id');
    const query = readQuery(c, ListQuery);
    const select = readList(c, 'select', fields);
    if (!(await threads.get(threadId))) throw missing(`Thread ${threadId} does not exist.`);
    return c.json((await store.list(threadId, query)).map((run) => selected(showRun(run), select)));
  });

  routes.get('/:thread_id/runs/:run_id', async (c) => c.json(showRun(await theRun(c))));

  routes.delete('/:thread_id/runs/:run_id', async (c) => {
    const run = await theRun(c);
    if (!(await store.delete(run.run_id))) throw new Refusal(409, `Run ${run.run_id} has not ended. Cancel it first.`);
    return c.body(null, 204);
  });

  routes.get('/:thread_id/runs/:run_id/join', async (c) => {
    // Looked up before its row: a stateless run that ends meanwhile leaves nothing else.
    const inHand = runs.find(pathId(c, 'run_id'));
    const run = await theRun(c);
    // Validates the query before waiting.
    const following = { clock, onGone: onGone(c, run, runs), headers: {} };
    return heartbeatJson(runs.following.ended(run, inHand), following);
  });

  routes.get('/:thread_id/runs/:run_id/stream', async (c) => {
    const [threadId, runId] = [pathId(c, 'thread_id'), pathId(c, 'run_id')];
    const run = await store.get(threadId, runId);
    if (run) return joinStream(c, run, runs, clock);
    // A stateless run leaves only its events for a while. A thread created with that id since must not expose them.
    const kept = (await threads.get(threadId)) ? undefined : await keptStream(c, runs, clock);
    return kept ?? joinStream(c, await theRun(c), runs, clock);
  });

  routes.post('/:thread_id/runs/:run_id/cancel', async (c) => {
    const { wait, action } = readQuery(c, CancelQuery);
    const inHand = runs.find(pathId(c, 'run_id'));
    const run = await theRun(c);
    if (!isUnfinished(run))
      throw new Refusal(409, `Run ${run.run_id} has ended already, with the status ${run.status}.`);
    const ended = wait ? runs.following.ended(run, inHand) : undefined;
    await runs.cancel(run, action);
    await ended;
    return c.body(null, wait ? 204 : 202);
  });

  return routes;
}
