import { Hono } from 'hono';
import * as z from 'zod';
import { CANCEL_ACTIONS, RunsCancel } from '../../contract/agent/run.ts';
import { missing, Refusal } from '../refusal.ts';
import type { Runs } from '../runs/runs.ts';
import type { RunStore } from '../runs/store.ts';
import { readBody, readQuery } from './body.ts';

const CancelQuery = z.looseObject({ action: z.enum(CANCEL_ACTIONS).default('interrupt') });
const cancelBody = RunsCancel.strip();

/** `POST /runs/cancel`: cancels runs of a thread by their ids, or all with a status. Ended runs do not change. */
export function cancelRoutes(runs: Runs, store: RunStore): Hono {
  const routes = new Hono();
  routes.post('/cancel', async (c) => {
    const { action } = readQuery(c, CancelQuery);
    const { status, thread_id, run_ids } = await readBody(c, cancelBody);
    if (status !== undefined && thread_id === undefined && run_ids === undefined) {
      await runs.cancelMany({ status }, action);
    } else if (status === undefined && thread_id !== undefined && run_ids !== undefined) {
      const [threadId, runIds] = [thread_id.toLowerCase(), run_ids.map((id) => id.toLowerCase())];
      const known = await store.known(threadId, runIds);
      const unknown = runIds.filter((id) => !known.has(id));
      if (unknown.length > 0) throw missing(`There is no run ${unknown.join(', ')} on thread ${threadId}.`);
      await runs.cancelMany({ threadId, runIds }, action);
    } else {
      const msg = 'takes either "status", or "thread_id" together with "run_ids"';
      throw new Refusal(422, [{ loc: ['body'], msg, type: 'value_error' }]);
    }
    return c.body(null, 204);
  });
  return routes;
}
