import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import type { Context } from 'hono';
import type { Clock } from '../../clock.ts';
import { CronCount, CronCreate, CronPatch, CronSearch } from '../../contract/agent/cron.ts';
import type { AuthUser } from '../auth/agent-auth.ts';
import { changedCron, changesPayload, newCron } from '../crons/cron-request.ts';
import type { ReadRequest } from '../crons/cron-request.ts';
import { runOf, showCron } from '../crons/cron-row.ts';
import type { StoredCron } from '../crons/cron-row.ts';
import type { CronStore } from '../crons/store.ts';
import { missing, Refusal, unacceptable } from '../refusal.ts';
import type { Runs } from '../runs/runs.ts';
import type { ThreadStore } from '../threads/store.ts';
import { pathId, readBody } from './body.ts';
import { selected } from './select.ts';

const createBody = CronCreate.strip();
const patchBody = CronPatch.strip();
const searchBody = CronSearch.strip();
const countBody = CronCount.strip();

/** The dependencies of the cron routes. */
export interface CronParts {
  crons: CronStore;
  threads: ThreadStore;
  runs: Pick<Runs, 'check'>;
  clock: Clock;
}

/** `POST /runs/crons`, and `POST /threads/{thread_id}/runs/crons` where there is a thread (section "Endpoints"). */
export function cronStartRoutes(parts: CronParts, threadOf: (c: Context) => string | undefined): Hono {
  const { crons, threads, runs, clock } = parts;
  const routes = new Hono();

  routes.post('/', async (c) => {
    const threadId = threadOf(c);
    const request = await readBody(c, createBody);
    if (threadId !== undefined && !(await threads.get(threadId))) throw missing(`Thread ${threadId} does not exist.`);
    const user: AuthUser | undefined = c.get('authUser');
    const order = { cronId: randomUUID(), threadId, userId: user?.identity, now: clock.now() };
    const cron = whole(newCron(request, { ...order, assistantId: request.assistant_id }));
    const { assistantId } = await runs.check(runOf(cron), threadId);
    const made = { ...cron, assistant_id: assistantId };
    if (!(await crons.create(made))) throw missing('The assistant or the thread of the cron was deleted meanwhile.');
    return c.json(showCron(made));
  });

  return routes;
}

/** Search, change and deletion of crons. */
export function cronRoutes({ crons, runs, clock }: Omit<CronParts, 'threads'>): Hono {
  const routes = new Hono();

  routes.post('/search', async (c) => {
    const request = await readBody(c, searchBody);
    const found = await crons.search(request);
    c.header('x-pagination-total', String(found.total));
    const now = new Date(clock.now()).toISOString();
    const shown = (cron: StoredCron) =>
      request.select?.length ? selected({ ...showCron(cron), now }, request.select) : showCron(cron);
    return c.json(found.crons.map(shown));
  });

  routes.post('/count', async (c) => c.json(await crons.count(await readBody(c, countBody))));

  routes.patch('/:cron_id', async (c) => {
    const cronId = pathId(c, 'cron_id');
    // Unlike in other requests, a null has a meaning: it removes the end.
    const patch = await readBody(c, patchBody, ['end_time']);
    for (;;) {
      const read = await crons.get(cronId);
      if (!read) throw noCron(cronId);
      const { cron, next } = whole(changedCron(read, patch, clock.now()));
      if (changesPayload(patch)) await runs.check(runOf(cron), cron.thread_id ?? undefined);
      const changed = await crons.replace(read, cron, next);
      if (changed) return c.json(showCron(changed));
    }
  });

  routes.delete('/:cron_id', async (c) => {
    const cronId = pathId(c, 'cron_id');
    if (!(await crons.delete(cronId))) throw noCron(cronId);
    return c.body(null, 204);
  });

  return routes;
}

const noCron = (cronId: string): Refusal => missing(`Cron ${cronId} does not exist.`);

function whole<T>(requested: ReadRequest<T>): T {
  if (!requested.ok) throw unacceptable(requested.field, requested.reason);
  return requested.cron;
}
