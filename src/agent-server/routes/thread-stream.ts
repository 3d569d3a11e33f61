import { Hono } from 'hono';
import * as z from 'zod';
import type { Clock } from '../../clock.ts';
import { THREAD_STREAM_MODES } from '../../contract/agent/thread.ts';
import { Refusal } from '../refusal.ts';
import type { ThreadStore } from '../threads/store.ts';
import type { ThreadStreams } from '../threads/thread-streams.ts';
import { readList } from './body.ts';
import { eventStream } from './event-stream.ts';
import { threadOf } from './threads.ts';

const modes = z.array(z.enum(THREAD_STREAM_MODES)).optional();
/** The value of `Last-Event-ID` for the start of the stream. */
const FROM_START = '-';

/** `GET /threads/{thread_id}/stream`: the events on a thread, for as long as the client is connected. */
export function threadStreamRoutes(parts: { threads: ThreadStore; streams: ThreadStreams; clock: Clock }): Hono {
  const { threads, streams, clock } = parts;
  const routes = new Hono();
  routes.get('/:thread_id/stream', async (c) => {
    // The public description has one name, the public client sends the other.
    const requested = [...(readList(c, 'stream_modes', modes) ?? []), ...(readList(c, 'stream_mode', modes) ?? [])];
    const afterId = lastEventId(c.req.header('last-event-id'));
    const { thread_id } = await threadOf(c, threads);
    const events = streams.of(thread_id, requested.length > 0 ? requested : ['run_modes']);
    return eventStream(events, { clock, onGone: () => undefined, afterId, headers: {} });
  });
  return routes;
}

/** The number of the last received event; undefined for new events only. */
function lastEventId(header: string | undefined): number | undefined {
  if (header === undefined || header === '') return undefined;
  if (header === FROM_START) return 0;
  if (/^\d{1,16}$/.test(header)) return Number(header);
  const msg = 'must be the id of an event of this stream, or "-" for the start';
  throw new Refusal(422, [{ loc: ['header', 'Last-Event-ID'], msg, type: 'value_error' }]);
}
