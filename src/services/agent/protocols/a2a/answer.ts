import { stackOf } from '../../../../kit/errors.ts';
import { A2A_VERSION_HEADER, formatSSEErrorEvent, formatSSEEvent, SSE_HEADERS } from '@a2a-js/sdk';
import { A2A_LEGACY_PROTOCOL_VERSION, isV1JsonRpcMethod } from '@a2a-js/sdk/compat/v0_3';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { JsonRpcTransportHandler, ServerCallContext, validateVersion } from '@a2a-js/sdk/server';
import type { Clock } from '../../../../kit/clock.ts';
import { assistantSchema, type Assistant } from '../../../../contract/agent/assistant.ts';
import { isObject } from '../../../../kit/json-object.ts';
import { fromJson } from '../../../../kit/json-text.ts';
import { writeComment } from '../../../../kit/sse/write-event.ts';
import { beat } from '../../api/event-stream.ts';
import { heartbeatJson } from '../../api/heartbeat-json.ts';
import type { InternalApi } from '../internal-api.ts';
import { agentCard } from './card.ts';
import { Tasks, type TaskDependencies } from './tasks.ts';
import type { Logger } from '../../../../kit/logger.ts';

/** A call of the agent-to-agent protocol, with what it needs of the server. */
export interface A2aCall extends Pick<TaskDependencies, 'api' | 'findTask' | 'log'> {
  /** The assistant's id, or a graph's. */
  assistantId: string;
  /** The absolute URL of the assistant. */
  address: string;
  body: string;
  headers: Headers;
  clock: Clock;
}

/** Reads the assistant as the caller; throws a refusal if there is none. */
export const readAssistant = (api: InternalApi, assistantId: string): Promise<Assistant> =>
  api.read(assistantSchema, 'GET', `/assistants/${encodeURIComponent(assistantId)}`);

/** Handles a JSON-RPC call, in the protocol version of its method. */
export async function answerA2a(call: A2aCall): Promise<Response> {
  const { api, findTask, clock, log } = call;
  const body = fromJson(call.body);
  if (!isObject(body)) {
    const error = { code: -32_700, message: 'The body is not a call of JSON-RPC.' };
    return Response.json({ jsonrpc: '2.0', id: null, error }, { status: 400 });
  }
  if (!isId(body['id'])) {
    const error = { code: -32_600, message: 'The id of a call is a text, a whole number or null.' };
    return Response.json({ jsonrpc: '2.0', id: null, error });
  }
  const assistant = await readAssistant(api, call.assistantId);
  const card = agentCard(assistant, call.address);
  const gone = new AbortController();
  const tasks = new Tasks({ assistant, card, api, findTask, gone: gone.signal, log });
  const isCurrent = isV1JsonRpcMethod(body['method']);
  const handler = isCurrent ? new JsonRpcTransportHandler(tasks) : new LegacyJsonRpcTransportHandler(tasks);
  const inError = (error: unknown) => {
    const { id = null } = body;
    const reported = isCurrent
      ? JsonRpcTransportHandler.mapToJSONRPCError(error)
      : LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(error);
    return { jsonrpc: '2.0', id, error: reported };
  };
  const version = call.headers.get(A2A_VERSION_HEADER) ?? (isCurrent ? '1.0' : A2A_LEGACY_PROTOCOL_VERSION);
  try {
    validateVersion(version, card, 'JSONRPC');
  } catch (error) {
    return Response.json(inError(error));
  }
  const answer = handler.handle(inProtocolForm(body), new ServerCallContext({ requestedVersion: version }));
  const leave = () => gone.abort(new Error('The caller disconnected.'));
  if (!streamed.has(String(body['method']))) {
    const json = answer.then((result) => JSON.stringify(result));
    return heartbeatJson(json, { clock, onGone: leave, headers: {} });
  }
  const result = await answer;
  return isStream(result) ? asEvents(result, { clock, leave, inError, log }) : Response.json(result);
}

const isId = (id: unknown): boolean => id == null || typeof id === 'string' || Number.isSafeInteger(id);

/** The methods with a stream of events as response, in both versions. */
const streamed = new Set(['message/stream', 'tasks/resubscribe', 'SendStreamingMessage', 'SubscribeToTask']);

type Streamed = AsyncGenerator<unknown, void, undefined>;

const isStream = (result: object): result is Streamed => Symbol.asyncIterator in result;

interface StreamDependencies {
  clock: Clock;
  leave: () => void;
  inError: (error: unknown) => object;
  log: Logger;
}

/** Streams responses as server-sent events. A failure before the first one is a plain response. */
async function asEvents(answers: Streamed, { clock, leave, inError, log }: StreamDependencies): Promise<Response> {
  const first = await answers.next().catch((error: unknown) => ({ failed: inError(error) }));
  if ('failed' in first) return Response.json(first.failed);
  const encoder = new TextEncoder();
  const done = new AbortController();
  let quiet = true;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      if (first.done) return controller.close();
      controller.enqueue(encoder.encode(formatSSEEvent(first.value)));
      void beat(clock, done.signal, () => {
        if (quiet) controller.enqueue(encoder.encode(writeComment('heartbeat')));
        quiet = true;
      });
    },
    // One response per pull: the run's own stream bounds the backlog.
    pull: async (controller) => {
      const end = (text = '') => {
        done.abort();
        if (text !== '') controller.enqueue(encoder.encode(text));
        controller.close();
      };
      try {
        const next = await answers.next();
        if (next.done) return end();
        quiet = false;
        controller.enqueue(encoder.encode(formatSSEEvent(next.value)));
      } catch (error) {
        if (done.signal.aborted) return;
        log.warn(`A stream of the agent-to-agent protocol broke off: ${stackOf(error)}`);
        end(formatSSEErrorEvent(inError(error)));
      }
    },
    cancel: () => {
      done.abort();
      leave();
    },
  });
  const { Connection: _, ...headers } = SSE_HEADERS;
  return new Response(body, { headers });
}

/** Converts a call with the names of the public API: `thread.threadId`, `taskId` and the role `assistant`. */
export function inProtocolForm(call: Record<string, unknown>): Record<string, unknown> {
  const { params } = call;
  if (!isObject(params)) return call;
  const { thread, taskId, message, ...rest } = params;
  return {
    ...call,
    params: {
      ...rest,
      ...(taskId === undefined || rest['id'] !== undefined ? {} : { id: taskId }),
      ...(isObject(message) ? { message: messageIn(message, thread) } : message === undefined ? {} : { message }),
    },
  };
}

function messageIn(message: Record<string, unknown>, thread: unknown): Record<string, unknown> {
  const context = isObject(thread) ? thread['threadId'] : undefined;
  return {
    ...message,
    ...(message['role'] === 'assistant' ? { role: 'agent' } : {}),
    ...(context === undefined || message['contextId'] ? {} : { contextId: context }),
  };
}
