import * as z from 'zod';
import { freeObject } from '../../contract/agent/open-word.ts';
import { cardQuery } from '../protocols/a2a/card-query.ts';
import type { Operation } from './operation.ts';
import { validationErrorResponse } from './responses.ts';

/** The methods of the agent-to-agent protocol, in versions 0.3 and 1.0. */
const a2aMethods = [
  'message/send',
  'message/stream',
  'tasks/get',
  'tasks/cancel',
  'tasks/resubscribe',
  'SendMessage',
  'SendStreamingMessage',
  'GetTask',
  'ListTasks',
  'CancelTask',
  'SubscribeToTask',
] as const;

/** A call of JSON-RPC 2.0. */
export const rpcCall = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.int()]).nullable().optional(),
  method: z.enum(a2aMethods),
  params: z
    .looseObject({
      message: z
        .looseObject({
          role: z.string().optional(),
          parts: z
            .array(
              z.looseObject({
                kind: z.string().optional(),
                text: z.string().optional(),
                data: freeObject.optional(),
              }),
            )
            .optional(),
          messageId: z.string().optional(),
        })
        .optional(),
      thread: z.looseObject({ threadId: z.string().optional() }).optional(),
      taskId: z.string().optional(),
    })
    .optional(),
});
/** A response of JSON-RPC 2.0. */
export const rpcAnswer = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.int()]).nullable(),
  result: z.unknown().optional(),
  error: z.looseObject({ code: z.int(), message: z.string(), data: z.unknown().optional() }).optional(),
});
/** The error for an unreadable request: that of JSON-RPC, or that of every endpoint. */
const rpcRefusal = z.union([rpcAnswer, validationErrorResponse]);
/** A message of the model context protocol. */
const mcpMessage = freeObject;

const mcp = (path: '/mcp' | '/mcp/', name: string): readonly Operation[] => [
  {
    method: 'post',
    path,
    id: `post_${name}`,
    summary: 'Call the model context protocol',
    description:
      'Every assistant is a tool; calling it runs it without a thread. Nothing is remembered between requests.',
    tag: 'MCP',
    headers: ['accept', 'mcpVersion'],
    body: { schema: mcpMessage, required: true },
    answers: {
      200: { description: 'The response.', schema: mcpMessage, type: 'text/event-stream' },
      202: { description: 'The message was accepted.' },
      400: {
        description: 'Not a valid message, or an unsupported protocol revision.',
        schema: rpcRefusal,
      },
      406: { description: 'The client does not accept JSON.', schema: rpcRefusal },
      413: { description: 'The body is larger than 16 MB.', schema: rpcRefusal },
      415: { description: 'The content type is not JSON.', schema: rpcRefusal },
    },
    errors: [405, 500],
  },
  {
    method: 'get',
    path,
    id: `get_${name}`,
    summary: 'Open a stream of server-initiated messages (not supported)',
    tag: 'MCP',
    answers: {},
    errors: [405],
  },
  {
    method: 'delete',
    path,
    id: `delete_${name}`,
    summary: 'End a session (not supported: the endpoint is stateless)',
    tag: 'MCP',
    answers: {},
    errors: [404],
  },
];

/** The protocols for other agents and for models. */
export const protocolOperations: readonly Operation[] = [
  {
    method: 'post',
    path: '/a2a/{assistant_id}',
    id: 'post_a2a',
    summary: 'Call an assistant by the agent-to-agent protocol',
    description:
      'JSON-RPC of its versions 1.0 and 0.3. A context is a thread and a task a run. `message/stream`, `tasks/resubscribe` and their like are answered by server-sent events.',
    tag: 'A2A',
    headers: ['accept', 'a2aVersion'],
    body: { schema: rpcCall, required: true },
    answers: {
      200: { description: 'The response, or an error.', schema: rpcAnswer, type: 'text/event-stream' },
      400: { description: 'The body is not a JSON-RPC request.', schema: rpcRefusal },
    },
    errors: [404, 413, 500],
  },
  {
    method: 'get',
    path: '/.well-known/agent-card.json',
    id: 'get_agent_card',
    summary: 'Read the card of an assistant',
    tag: 'A2A',
    query: cardQuery,
    headers: ['a2aVersion'],
    answers: { 200: { description: 'The card, for both versions of the protocol.', schema: freeObject } },
    errors: [404, 422],
  },
  ...mcp('/mcp/', 'mcp'),
  ...mcp('/mcp', 'mcp_without_slash'),
];
