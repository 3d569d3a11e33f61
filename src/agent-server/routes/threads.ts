import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import type { Context } from 'hono';
import * as z from 'zod';
import { Superstep } from '../../contract/agent/superstep.ts';
import { ThreadCount, ThreadCreate, ThreadPatch, ThreadPrune, ThreadSearch } from '../../contract/agent/thread.ts';
import { missing, Refusal, unacceptable } from '../refusal.ts';
import { extracted, isPath } from '../threads/extract.ts';
import { lifetimeOf } from '../threads/lifetime.ts';
import type { ThreadExpiry } from '../threads/thread-expiry.ts';
import type { ThreadRemover } from '../threads/remover.ts';
import type { ThreadStates } from '../threads/states.ts';
import { showThread } from '../threads/store.ts';
import type { StoredThread, ThreadStore } from '../threads/store.ts';
import { pathId, readBody } from './body.ts';
import { setPageHeaders } from './pages.ts';
import { selected } from './select.ts';

const createBody = ThreadCreate.extend({ supersteps: z.array(Superstep).optional() }).strip();
const searchBody = ThreadSearch.strip();
const countBody = ThreadCount.strip();
const patchBody = ThreadPatch.strip();
const pruneBody = ThreadPrune.strip();

/** The dependencies of the thread routes. */
export interface ThreadParts {
  threads: ThreadStore;
  states: ThreadStates;
  lives: ThreadExpiry;
  remover: ThreadRemover;
}

/** The thread in the path. */
export async function threadOf(c: Context, threads: ThreadStore): Promise<StoredThread> {
  const id = pathId(c, 'thread_id');
  const thread = await threads.get(id);
  if (!thread) throw missing(`Thread ${id} does not exist.`);
  return thread;
}

/** The thread endpoints (section "Endpoints"), without their states. */
export function threadRoutes({ threads, states, lives, remover }: ThreadParts): Hono {
  const routes = new Hono();

  routes.post('/', async (c) => {
    const request = await readBody(c, createBody);
    const { kind, thread } = await states.create({
      threadId: request.thread_id?.toLowerCase() ?? randomUUID(),
      metadata: request.metadata ?? {},
      lifetime: request.ttl === undefined ? undefined : lifetimeOf(request.ttl),
      supersteps: request.supersteps ?? [],
    });
    if (kind === 'there' && request.if_exists !== 'do_nothing') {
      throw new Refusal(409, `Thread ${thread.thread_id} already exists.`);
    }
    return c.json(showThread(thread));
  });

  routes.post('/search', async (c) => {
    const request = await readBody(c, searchBody);
    const { extract } = request;
    for (const [name, path] of Object.entries(extract ?? {})) {
      if (!isPath(path)) throw unacceptable('extract', `"${name}" is no path such as "values.messages[-1].content"`);
    }
    const found = await threads.search(request);
    setPageHeaders(c, { total: found.total, offset: request.offset, shown: found.threads.length });
    return c.json(
      found.threads.map((each) => {
        const thread = showThread(each);
        const parts = extract && { extracted: extracted(thread, extract) };
        return { ...selected(thread, request.select), ...parts };
      }),
    );
  });

  routes.post('/count', async (c) => c.json(await threads.count(await readBody(c, countBody))));

  routes.post('/prune', async (c) => {
    const { thread_ids, strategy = 'delete' } = await readBody(c, pruneBody);
    const ids = thread_ids.map((id) => id.toLowerCase());
    return c.json({ pruned_count: await remover.prune(ids, strategy) });
  });

  routes.get('/:thread_id', async (c) => {
    const included = (c.req.queries('include') ?? []).flatMap((each) => each.split(','));
    const thread = await threadOf(c, threads);
    return c.json({ ...showThread(thread), ...(included.includes('ttl') ? { ttl: await lives.show(thread) } : {}) });
  });

  routes.patch('/:thread_id', async (c) => {
    const { metadata = {}, ttl } = await readBody(c, patchBody);
    const threadId = pathId(c, 'thread_id');
    const patched = await threads.patch(threadId, metadata, ttl === undefined ? undefined : lifetimeOf(ttl));
    if (!patched) throw missing(`Thread ${threadId} does not exist.`);
    if (c.req.header('prefer')?.includes('return=minimal')) return c.body(null, 204);
    return c.json(showThread(patched));
  });

  routes.delete('/:thread_id', async (c) => {
    const { thread_id } = await threadOf(c, threads);
    await remover.delete(thread_id);
    return c.body(null, 204);
  });

  routes.post('/:thread_id/copy', async (c) => {
    const threadId = pathId(c, 'thread_id');
    const copy = await states.copy(threadId, randomUUID());
    if (!copy) throw missing(`Thread ${threadId} does not exist.`);
    return c.json(showThread(copy));
  });

  return routes;
}
