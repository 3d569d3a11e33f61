import { Hono } from 'hono';
import type { Context } from 'hono';
import * as z from 'zod';
import type { Clock } from '../../clock.ts';
import { PAGE } from '../../contract/agent/assistant.ts';
import { CANCEL_ACTIONS, ERROR_KEY, RUN_STATUSES } from '../../contract/agent/run.ts';
import { METADATA_EVENT } from '../../contract/agent/stream-event.ts';
import { missing, Refusal } from '../refusal.ts';
import { EventLog } from '../runs/event-log.ts';
import { showRun } from '../runs/run-row.ts';
import type { StoredRun } from '../runs/run-row.ts';
import type { Runs } from '../runs/runs.ts';
import type { RunStore } from '../runs/store.ts';
import type { ThreadStore } from '../threads/store.ts';
import { toWire } from '../wire.ts';
import { flag, pathId, readQuery } from './body.ts';
import { eventStream } from './event-stream.ts';
import { lateAnswer } from './late-answer.ts';

/** What the routes of runs on threads work with. */
export interface ThreadRunParts {
  runs: Runs;
  store: RunStore;
  threads: ThreadStore;
  clock: Clock;
}

/** How often (ms) a run that another process carries out is looked at, for somebody who waits for it. */
const LOOK_MS = 200;

const CancelQuery = z.looseObject({ wait: flag, action: z.enum(CANCEL_ACTIONS).default('interrupt') });
const FollowQuery = z.looseObject({ cancel_on_disconnect: flag, stream_mode: z.string().optional() });
const ListQuery = z.looseObject({
  limit: z.coerce.number().int().min(PAGE.minLimit).max(PAGE.maxLimit).optional(),
  offset: z.coerce.number().int().min(0).optional(),
  status: z.enum(RUN_STATUSES).optional(),
});

const isUnfinished = ({ status }: StoredRun): boolean => status === 'pending' || status === 'running';

/** Looking at runs that there are: on a thread, or on the thread made for a stateless one. */
export function threadRunRoutes({ runs, store, threads, clock }: ThreadRunParts): Hono {
  const routes = new Hono();

  const theRun = async (c: Context): Promise<StoredRun> => {
    const [threadId, runId] = [pathId(c, 'thread_id'), pathId(c, 'run_id')];
    const run = await store.get(threadId, runId);
    if (!run) throw missing(`Run ${runId} does not exist on thread ${threadId}.`);
    return run;
  };

  /** Waits until a run has ended, wherever it is carried out; resolves with what a caller who waited is answered. */
  const ended = async (run: StoredRun): Promise<string> => {
    const execution = runs.find(run.run_id);
    if (execution) return execution.ended;
    let seen: StoredRun | undefined = run;
    while (seen !== undefined && isUnfinished(seen)) {
      await clock.sleep(LOOK_MS);
      seen = await store.get(run.thread_id, run.run_id);
    }
    if (seen?.error) return JSON.stringify({ [ERROR_KEY]: seen.error });
    return toWire((await threads.get(run.thread_id))?.values ?? null);
  };

  /** What can be told of a run that nobody here carries out: which one it is, and when it has ended. */
  const eventsElsewhere = (run: StoredRun): EventLog => {
    const events = new EventLog('none');
    if (isUnfinished(run)) {
      events.add(METADATA_EVENT, JSON.stringify({ run_id: run.run_id, attempt: run.attempt }));
      // Its end is all that is told of it; whether it went well stands in the run.
      const close = () => events.close();
      void ended(run).then(close, close);
    } else events.close();
    return events;
  };

  routes.get('/:thread_id/runs', async (c) => {
    const threadId = pathId(c, 'thread_id');
    const query = readQuery(c, ListQuery);
    if (!(await threads.get(threadId))) throw missing(`Thread ${threadId} does not exist.`);
    return c.json((await store.list(threadId, query)).map(showRun));
  });

  routes.get('/:thread_id/runs/:run_id', async (c) => c.json(showRun(await theRun(c))));

  routes.delete('/:thread_id/runs/:run_id', async (c) => {
    const run = await theRun(c);
    if (!(await store.delete(run.run_id))) throw new Refusal(409, `Run ${run.run_id} has not ended. Cancel it first.`);
    return c.body(null, 204);
  });

  routes.get('/:thread_id/runs/:run_id/join', async (c) => {
    const { cancel_on_disconnect } = readQuery(c, FollowQuery);
    const run = await theRun(c);
    const onGone = () => void (cancel_on_disconnect && runs.find(run.run_id)?.stop('caller-gone'));
    return lateAnswer(ended(run), { clock, onGone, headers: {} });
  });

  routes.get('/:thread_id/runs/:run_id/stream', async (c) => {
    const { cancel_on_disconnect, stream_mode } = readQuery(c, FollowQuery);
    const run = await theRun(c);
    const execution = runs.find(run.run_id);
    const last = Number.parseInt(c.req.header('last-event-id') ?? '', 10);
    const onGone = () => void (cancel_on_disconnect && execution?.stop('caller-gone'));
    return eventStream(execution?.events ?? eventsElsewhere(run), {
      clock,
      onGone,
      headers: {},
      afterId: Number.isNaN(last) ? undefined : last,
      modes: stream_mode?.split(','),
    });
  });

  routes.post('/:thread_id/runs/:run_id/cancel', async (c) => {
    const { wait, action } = readQuery(c, CancelQuery);
    const run = await theRun(c);
    if (!isUnfinished(run))
      throw new Refusal(409, `Run ${run.run_id} has ended already, with the status ${run.status}.`);
    const end = ended(run);
    await runs.cancel(run, action);
    if (wait) await end;
    return c.body(null, wait ? 204 : 202);
  });

  return routes;
}
