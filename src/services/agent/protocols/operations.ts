import type { Context } from 'hono';
import { freeObject } from '../../../contract/agent/open-word.ts';
import type { Operation } from '../../../kit/http/operation.ts';
import { readQuery, readText } from '../api/body.ts';
import { publicBase } from '../api/public-base.ts';
import { operationsOf, type Env } from '../api/operation.ts';
import { a2aVersion, accept, mcpVersion } from '../api/parameters.ts';
import type { Graphs } from '../graphs/graphs.ts';
import { Refusal } from '../refusal.ts';
import { mcpMessage, rpcAnswer, rpcCall, rpcRefusal } from './messages.ts';
import { createInternalApi } from './internal-api.ts';
import * as z from 'zod';

/** The id of the assistant, or of a graph for its default assistant. Optional on a server with one graph. */
const cardQuery = z.object({ assistant_id: z.string().min(1).optional() });

// The SDKs are loaded on first use: most processes never need them and start faster.
const loadA2a = () => import('./a2a/answer.ts');
const loadCards = () => import('./a2a/card.ts');
const loadMcp = () => import('./mcp/server.ts');

const defineA2a = operationsOf('A2A');
const defineMcp = operationsOf('MCP');

// The public description ends the path with a slash; clients also send it without.
const mcp: readonly Operation<Env>[] = [
  defineMcp.post('/mcp', 'post_mcp', {
    aliases: ['/mcp/'],
    summary: 'Call the model context protocol',
    description:
      'Every assistant is a tool; calling it runs it without a thread. Nothing is remembered between requests.',
    headers: [accept, mcpVersion],
    body: { schema: mcpMessage, required: true },
    responses: {
      200: { description: 'The response.', schema: mcpMessage, type: 'text/event-stream' },
      202: { description: 'The message was accepted.' },
      400: { description: 'Not a valid message, or an unsupported protocol revision.', schema: rpcRefusal },
      406: { description: 'The client does not accept JSON.', schema: rpcRefusal },
      413: { description: 'The body is larger than 16 MB.', schema: rpcRefusal },
      415: { description: 'The content type is not JSON.', schema: rpcRefusal },
    },
    errors: [405, 500],
    async handle(c) {
      const { info, clock, log } = c.var.dependencies;
      const { answerMcp } = await loadMcp();
      return answerMcp(c.req.raw, { api: apiFor(c), version: info.version, clock, log });
    },
  }),
  defineMcp.get('/mcp', 'get_mcp', {
    aliases: ['/mcp/'],
    summary: 'Open a stream of server-initiated messages (not supported)',
    description: 'Always refused: the server sends nothing without a request.',
    responses: {},
    also: [405],
    handle: (c) =>
      c.json({ detail: 'Server-initiated streams are not supported. Send a POST instead.' }, 405, { allow: 'POST' }),
  }),
  defineMcp.delete('/mcp', 'delete_mcp', {
    aliases: ['/mcp/'],
    summary: 'End a session (not supported: the endpoint is stateless)',
    description: 'Always refused: nothing is remembered between requests.',
    responses: {},
    also: [404],
    handle: (c) => c.json({ detail: 'There are no sessions to end: the endpoint is stateless.' }, 404),
  }),
];

export const protocolOperations: readonly Operation<Env>[] = [
  defineA2a.post('/a2a/:assistant_id', 'post_a2a', {
    summary: 'Call an assistant by the agent-to-agent protocol',
    description:
      'JSON-RPC of its versions 1.0 and 0.3. A context is a thread and a task a run. `message/stream`, `tasks/resubscribe` and their like are answered by server-sent events.',
    headers: [accept, a2aVersion],
    body: { schema: rpcCall, required: true },
    responses: {
      200: { description: 'The response, or an error.', schema: rpcAnswer, type: 'text/event-stream' },
      400: { description: 'The body is not a JSON-RPC request.', schema: rpcRefusal },
    },
    errors: [404, 413, 500],
    async handle(c) {
      const { findTask, clock, log } = c.var.dependencies;
      const assistantId = c.req.param('assistant_id');
      const body = await readText(c);
      const { answerA2a } = await loadA2a();
      const call = { assistantId, address: addressOf(c, assistantId), body, headers: c.req.raw.headers };
      return answerA2a({ ...call, api: apiFor(c), findTask, clock, log });
    },
  }),
  defineA2a.get('/.well-known/agent-card.json', 'get_agent_card', {
    summary: 'Read the card of an assistant',
    description: 'What the assistant can do and where, for clients of the agent-to-agent protocol.',
    query: cardQuery,
    headers: [a2aVersion],
    responses: { 200: { description: 'The card, for both versions of the protocol.', schema: freeObject } },
    also: [404],
    async handle(c) {
      const { assistant_id = theOnly(c.var.dependencies.graphs.list()) } = readQuery(c, cardQuery);
      const [{ readAssistant }, { agentCard, writeCard }] = await Promise.all([loadA2a(), loadCards()]);
      const assistant = await readAssistant(apiFor(c), assistant_id);
      return c.json(writeCard(agentCard(assistant, addressOf(c, assistant_id))));
    },
  }),
  ...mcp,
];

/** The server's own operations, as the caller of a request. */
export const apiFor = (c: Context<Env>) => createInternalApi(c.var.dependencies.fetch, c.req.raw.headers);

const addressOf = (c: Context<Env>, assistantId: string): string =>
  new URL(
    `a2a/${encodeURIComponent(assistantId)}`,
    publicBase(c.req.url, c.req.raw.headers, c.var.dependencies.mountPrefix ?? ''),
  ).href;

function theOnly(graphs: ReturnType<Graphs['list']>): string {
  const [graph, ...others] = graphs;
  if (graph && others.length === 0) return graph.graphId;
  const msg = `names the assistant, or one of the graphs ${graphs.map(({ graphId }) => graphId).join(', ')}`;
  throw new Refusal(422, [{ loc: ['query', 'assistant_id'], msg, type: 'missing' }]);
}
