import { commandResponse, threadCommand, threadEventFilter } from '../../../../contract/agent/thread-stream.ts';
import type { Operation } from '../../../../kit/http/operation.ts';
import { pathId, readBody } from '../../api/body.ts';
import { eventStream } from '../../api/event-stream.ts';
import { operationsOf, type Env } from '../../api/operation.ts';
import { lastEventId } from '../../api/parameters.ts';
import { Refusal } from '../../refusal.ts';
import type { InternalApi } from '../internal-api.ts';
import { apiFor } from '../operations.ts';
import { carryOut } from './commands.ts';
import { readThread } from './run-commands.ts';
import { selectionOf } from './subscriptions.ts';
import { serveThread } from './thread-connection.ts';

const define = operationsOf('Thread Streams');

/** The thread-stream protocol (`@langchain/protocol`): commands, and a stream of the events that they cause. */
export const threadStreamOperations: readonly Operation<Env>[] = [
  define.post('/threads/:thread_id/commands', 'send_thread_command', {
    summary: 'Send a command of the thread-stream protocol',
    description:
      '`run.start`, `input.respond`, `state.get`, `state.listCheckpoints`, `state.fork` or `agent.getTree`. The response says whether it succeeded; a thread that does not exist is created by `run.start`.',
    body: { schema: threadCommand, required: true },
    responses: { 200: { description: 'The result, or an error.', schema: commandResponse } },
    errors: [400, 413, 422],
    async handle(c) {
      const { threadEvents } = c.var.dependencies;
      const threadId = pathId(c, 'thread_id');
      const command = await readBody(c, threadCommand);
      const api = apiFor(c);
      return c.json(await carryOut(command, { api, store: threadEvents.store, threadId }));
    },
  }),
  define.post('/threads/:thread_id/stream/events', 'stream_thread_events', {
    summary: 'Stream the events of the thread-stream protocol',
    description:
      'First those that are kept, after `since` or `Last-Event-ID` if given, then new ones, until the client disconnects. The thread need not exist yet.',
    headers: [lastEventId],
    body: { schema: threadEventFilter, required: true },
    responses: { 200: { description: 'Server-sent events.', type: 'text/event-stream' } },
    errors: [400, 413, 422],
    async handle(c) {
      const { threadEvents, clock } = c.var.dependencies;
      const threadId = pathId(c, 'thread_id');
      const filter = await readBody(c, threadEventFilter);
      const mayRead = readingOf(apiFor(c), threadId);
      await mayRead();
      const selection = selectionOf(filter, c.req.header(lastEventId.name));
      const events = threadEvents.streams.events(threadId, selection, mayRead);
      return eventStream(events, { clock, onGone: () => undefined, headers: {} });
    },
  }),
  define.get('/threads/:thread_id/stream/events', 'connect_thread_stream', {
    summary: 'Open a WebSocket of the thread-stream protocol',
    description:
      'Takes the commands, and sends their responses and the events that `subscription.subscribe` selects. The thread need not exist yet.',
    responses: { 101: { description: 'The WebSocket.' } },
    errors: [422, 426],
    async handle(c) {
      const { upgrade } = c.env;
      if (!upgrade) {
        const problem = 'This address is a WebSocket: open it with the header Upgrade: websocket.';
        const headers = new Headers({ upgrade: 'websocket', connection: 'upgrade' });
        throw new Refusal(426, `${problem} For server-sent events send a POST.`, headers);
      }
      const { threadEvents, clock, log } = c.var.dependencies;
      const threadId = pathId(c, 'thread_id');
      const api = apiFor(c);
      const mayRead = readingOf(api, threadId);
      await mayRead();
      const keepsNumbers = c.var.keepsNumbers;
      upgrade.accept = (socket) =>
        serveThread(socket, { ...threadEvents, api, threadId, mayRead, clock, log, keepsNumbers });
      return c.body(null);
    },
  }),
];

/** Whether the caller may read a thread, as it is now. */
const readingOf = (api: InternalApi, threadId: string) => async (): Promise<boolean> =>
  (await readThread({ api, threadId })) !== undefined;
