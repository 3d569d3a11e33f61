import { commandResponse, threadCommand, threadEventFilter } from '../../../contract/agent/thread-stream.ts';
import type { Operation } from '../../../http/operation.ts';
import { pathId, readBody } from '../../api/body.ts';
import { eventStream } from '../../api/event-stream.ts';
import { operation, type Env } from '../../api/operation.ts';
import { apiFor } from '../operations.ts';
import { carryOut, readThread } from './commands.ts';

const tag = 'Thread Streams';

/** The thread-stream protocol (`@langchain/protocol`): commands, and a stream of the events that they cause. */
export const threadStreamOperations: readonly Operation<Env>[] = [
  operation({
    method: 'post',
    path: '/threads/:thread_id/commands',
    id: 'send_thread_command',
    summary: 'Send a command of the thread-stream protocol',
    description:
      '`run.start`, `input.respond`, `state.get` or `agent.getTree`. The response says whether it succeeded; a thread that does not exist is created by `run.start`.',
    tag,
    body: { schema: threadCommand, required: true },
    responses: { 200: { description: 'The result, or an error.', schema: commandResponse } },
    errors: [400, 413, 422],
    async handle(c) {
      const { threadEvents } = c.var.parts;
      const threadId = pathId(c, 'thread_id');
      const command = await readBody(c, threadCommand);
      const api = apiFor(c);
      return c.json(await carryOut(command, { api, store: threadEvents.store, threadId }));
    },
  }),
  operation({
    method: 'post',
    path: '/threads/:thread_id/stream/events',
    id: 'stream_thread_events',
    summary: 'Stream the events of the thread-stream protocol',
    description:
      'First those that are kept, after `since` if given, then new ones, until the client disconnects. The thread need not exist yet.',
    tag,
    body: { schema: threadEventFilter, required: true },
    responses: { 200: { description: 'Server-sent events.', type: 'text/event-stream' } },
    errors: [400, 413, 422],
    async handle(c) {
      const { threadEvents, clock } = c.var.parts;
      const threadId = pathId(c, 'thread_id');
      const filter = await readBody(c, threadEventFilter);
      const api = apiFor(c);
      const mayRead = async () => (await readThread({ api, threadId })) !== undefined;
      await mayRead();
      const events = threadEvents.streams.events(threadId, filter, mayRead);
      return eventStream(events, { clock, onGone: () => undefined, headers: {} });
    },
  }),
];
