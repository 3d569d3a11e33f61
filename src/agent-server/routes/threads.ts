import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import type { Context } from 'hono';
import * as z from 'zod';
import { ThreadCount, ThreadCreate, ThreadPatch, ThreadSearch } from '../../contract/agent/thread.ts';
import type { Graphs } from '../graphs/graphs.ts';
import { missing, Refusal, unacceptable } from '../refusal.ts';
import type { Runs } from '../runs/runs.ts';
import { emptyState, showState } from '../threads/state.ts';
import { showThread } from '../threads/store.ts';
import type { StoredThread, ThreadStore } from '../threads/store.ts';
import { toWire } from '../wire.ts';
import { flag, pathId, readBody, readQuery } from './body.ts';
import { selected } from './select.ts';

const StateQuery = z.looseObject({ subgraphs: flag });

const threadSearchBody = ThreadSearch.strip();
const threadCountBody = ThreadCount.strip();
const threadPatchBody = ThreadPatch.strip();
const threadCreateBody = ThreadCreate.extend({ supersteps: z.unknown().optional() }).strip();

/** The group of threads (section "Endpoints"). */
export function threadRoutes(threads: ThreadStore, runs: Runs, graphs: Graphs): Hono {
  const routes = new Hono();

  const theThread = async (c: Context): Promise<StoredThread> => {
    const id = pathId(c, 'thread_id');
    const thread = await threads.get(id);
    if (!thread) throw missing(`Thread ${id} does not exist.`);
    return thread;
  };

  routes.post('/', async (c) => {
    const request = await readBody(c, threadCreateBody);
    if (request.ttl !== undefined) throw unacceptable('ttl', 'this server keeps threads until they are deleted');
    if (request.supersteps !== undefined) throw unacceptable('supersteps', 'this server fills threads by runs only');
    const { kind, thread } = await threads.create(
      request.thread_id?.toLowerCase() ?? randomUUID(),
      request.metadata ?? {},
    );
    if (kind === 'there' && request.if_exists !== 'do_nothing') {
      throw new Refusal(409, `Thread ${thread.thread_id} exists already.`);
    }
    return c.json(showThread(thread));
  });

  routes.post('/search', async (c) => {
    const request = await readBody(c, threadSearchBody);
    const found = await threads.search(request);
    c.header('x-pagination-total', String(found.total));
    return c.json(found.threads.map((thread) => selected(showThread(thread), request.select)));
  });

  routes.post('/count', async (c) => c.json(await threads.count(await readBody(c, threadCountBody))));

  routes.get('/:thread_id', async (c) => c.json(showThread(await theThread(c))));

  routes.patch('/:thread_id', async (c) => {
    const request = await readBody(c, threadPatchBody);
    if (request.ttl !== undefined) throw unacceptable('ttl', 'this server keeps threads until they are deleted');
    const { thread_id } = await theThread(c);
    const patched = await threads.patch(thread_id, request.metadata ?? {});
    if (!patched) throw missing(`Thread ${thread_id} does not exist.`);
    return c.json(showThread(patched));
  });

  routes.delete('/:thread_id', async (c) => {
    const { thread_id } = await theThread(c);
    await runs.cancelThread(thread_id);
    await threads.delete(thread_id);
    return c.body(null, 204);
  });

  routes.get('/:thread_id/state', async (c) => {
    const { subgraphs } = readQuery(c, StateQuery);
    const thread = await theThread(c);
    const graphId = thread.metadata['graph_id'];
    if (typeof graphId !== 'string' || !graphs.has(graphId)) return json(emptyState(thread.thread_id));
    const graph = await graphs.make(graphId, { configurable: {} }, 'thread');
    const snapshot = await graph.getState({ configurable: { thread_id: thread.thread_id } }, { subgraphs });
    return json(showState(snapshot));
  });

  return routes;
}

const json = (value: unknown): Response =>
  new Response(toWire(value), { headers: { 'content-type': 'application/json' } });
