import { randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import * as z from 'zod';
import {
  threadStreamModes,
  threadCopy,
  threadCount,
  threadCreate,
  threadPatch,
  threadPrune,
  threadSearch,
} from '../../../contract/agent/thread.ts';
import { superstepSchema } from '../../../contract/agent/run.ts';
import type { Operation } from '../../../kit/http/operation.ts';
import { pathId, readBody, readList } from '../api/body.ts';
import { eventStream } from '../api/event-stream.ts';
import { operationsOf, type Env } from '../api/operation.ts';
import { selected } from '../api/pages.ts';
import { lastEventId } from '../api/parameters.ts';
import { threadResponse } from '../api/response-schemas.ts';
import { alreadyExists, noThread, unacceptable, invalidAt } from '../refusal.ts';
import { extracted, isPath } from './state.ts';
import { lifetimeOf } from './lifetime.ts';
import { showThread, type StoredThread } from './store.ts';

export const threadCreation = threadCreate.extend({ supersteps: z.array(superstepSchema).optional() });
export const pruned = z.object({ pruned_count: z.int() });
const createBody = threadCreation.strip();
// No documented client sends a body here, and some send `null` for none.
const copyBody = threadCopy.strip().nullable();
const patchBody = threadPatch.strip();
const pruneBody = threadPrune.strip();
const streamModes = z.array(z.enum(threadStreamModes)).optional();

const one = '/threads/:thread_id';
const define = operationsOf('Threads');

/** Threads, without their states. */
export const threadOperations: readonly Operation<Env>[] = [
  define.post('/threads', 'create_thread', {
    summary: 'Create a thread',
    description: 'With `supersteps` it starts with these states.',
    body: { schema: threadCreation, required: false },
    responses: { 200: { description: 'The thread.', schema: threadResponse } },
    also: [404, 409],
    async handle(c) {
      const request = await readBody(c, createBody);
      const { kind, thread } = await c.var.dependencies.states.create({
        threadId: request.thread_id?.toLowerCase() ?? randomUUID(),
        metadata: request.metadata ?? {},
        lifetime: request.ttl === undefined ? undefined : lifetimeOf(request.ttl),
        supersteps: request.supersteps ?? [],
      });
      if (kind === 'there' && request.if_exists !== 'do_nothing') {
        throw alreadyExists('Thread', thread.thread_id);
      }
      return c.json(showThread(thread));
    },
  }),
  define.search('/threads/search', 'threads', threadSearch, {
    item: threadResponse,
    async find({ threads }, request) {
      const { extract, offset = 0 } = request;
      for (const [name, path] of Object.entries(extract ?? {})) {
        if (!isPath(path)) throw unacceptable('extract', `"${name}" is no path such as "values.messages[-1].content"`);
      }
      const { total, threads: found } = await threads.search(request);
      const items = found.map((each) => {
        const thread = showThread(each);
        const parts = extract && { extracted: extracted(thread, extract) };
        // Selectable on the public server too, although threads have none.
        const shown = request.select?.length ? selected({ ...thread, context: null }, request.select) : thread;
        return { ...shown, ...parts };
      });
      return { total, offset, items };
    },
  }),
  define.count('/threads/count', 'threads', threadCount, ({ threads }, filter) => threads.count(filter)),
  define.post('/threads/prune', 'prune_threads', {
    summary: 'Delete threads, or all but their latest states',
    description: '`delete` removes them whole, `keep_latest` their older states only. Unknown ids are skipped.',
    body: { schema: threadPrune, required: true },
    responses: { 200: { description: 'The number of pruned threads.', schema: pruned } },
    async handle(c) {
      const { thread_ids, strategy = 'delete' } = await readBody(c, pruneBody);
      const ids = thread_ids.map((id) => id.toLowerCase());
      return c.json({ pruned_count: await c.var.dependencies.deleter.prune(ids, strategy) });
    },
  }),
  define.get(one, 'get_thread', {
    summary: 'Read a thread',
    description: 'With its metadata, its status, its latest values and its interrupts.',
    query: z.object({ include: z.array(z.enum(['ttl'])).optional() }),
    responses: { 200: { description: 'The thread.', schema: threadResponse } },
    async handle(c) {
      const included = (c.req.queries('include') ?? []).flatMap((each) => each.split(','));
      const thread = await requireThread(c);
      const ttl = included.includes('ttl') ? { ttl: await c.var.dependencies.lives.show(thread) } : {};
      return c.json({ ...showThread(thread), ...ttl });
    },
  }),
  define.patch(one, 'patch_thread', {
    summary: 'Change a thread',
    description: '`metadata` is merged, `ttl` restarts.',
    body: { schema: threadPatch, required: true },
    responses: { 200: { description: 'The changed thread.', schema: threadResponse } },
    async handle(c) {
      const { metadata = {}, ttl } = await readBody(c, patchBody);
      const threadId = pathId(c, 'thread_id');
      const lifetime = ttl === undefined ? undefined : lifetimeOf(ttl);
      const patched = await c.var.dependencies.threads.patch(threadId, metadata, lifetime);
      if (!patched) throw noThread(threadId);
      if (c.req.header('prefer')?.includes('return=minimal')) return c.body(null, 204);
      return c.json(showThread(patched));
    },
  }),
  define.delete(one, 'delete_thread', {
    summary: 'Delete a thread with its runs and states',
    description: 'Nothing of it can be read afterwards.',
    responses: { 204: { description: 'Deleted.' } },
    async handle(c) {
      const { thread_id } = await requireThread(c);
      await c.var.dependencies.deleter.delete(thread_id);
      return c.body(null, 204);
    },
  }),
  define.post(`${one}/copy`, 'copy_thread', {
    summary: 'Copy a thread with its states',
    description: '`metadata`, an addition to the public API, is merged into that of the copy.',
    body: { schema: threadCopy, required: false },
    responses: { 200: { description: 'The copy.', schema: threadResponse } },
    also: [409],
    async handle(c) {
      const threadId = pathId(c, 'thread_id');
      const body = await readBody(c, copyBody);
      const copy = await c.var.dependencies.states.copy(threadId, randomUUID(), body?.metadata);
      if (!copy) throw noThread(threadId);
      return c.json(showThread(copy));
    },
  }),
  define.get(`${one}/stream`, 'join_thread_stream', {
    summary: 'Stream the events of a thread',
    description: 'The events of every run on it, until the client disconnects.',
    query: z.object({ stream_modes: streamModes }),
    headers: [lastEventId],
    responses: { 200: { description: 'Server-sent events.', type: 'text/event-stream' } },
    async handle(c) {
      const { streams, clock } = c.var.dependencies;
      // The public description has one name, the public client sends the other.
      const requested = [
        ...(readList(c, 'stream_modes', streamModes) ?? []),
        ...(readList(c, 'stream_mode', streamModes) ?? []),
      ];
      const afterId = lastEventIdOf(c.req.header(lastEventId.name));
      const { thread_id } = await requireThread(c);
      const events = streams.events(thread_id, requested.length > 0 ? requested : ['run_modes']);
      return eventStream(events, { clock, onGone: () => undefined, afterId, headers: {} });
    },
  }),
];

export async function requireThread(c: Context<Env>): Promise<StoredThread> {
  const id = pathId(c, 'thread_id');
  const thread = await c.var.dependencies.threads.get(id);
  if (!thread) throw noThread(id);
  return thread;
}

/** The value of `Last-Event-ID` for the start of the stream. */
const fromStart = '-';

/** The number of the last received event; undefined for new events only. */
function lastEventIdOf(header: string | undefined): number | undefined {
  if (header === undefined || header === '') return undefined;
  if (header === fromStart) return 0;
  if (/^\d{1,16}$/.test(header)) return Number(header);
  const msg = 'must be the id of an event of this stream, or "-" for the start';
  throw invalidAt(['header', 'Last-Event-ID'], msg);
}
