import { Hono } from 'hono';
import type { Context } from 'hono';
import type { Clock } from '../../clock.ts';
import type { Graphs } from '../graphs/graphs.ts';
import { Refusal } from '../refusal.ts';
import type { RefusalStatus } from '../refusal.ts';
import { MOST_BYTES, readQuery, readText } from '../routes/body.ts';
import { cardQuery } from './a2a/card-query.ts';
import type { FindTask } from './a2a/task-places.ts';
import { publicBase } from './address.ts';
import { EndpointRefusal, ownApi } from './own-api.ts';
import type { Fetch } from './own-api.ts';

/** The dependencies of the protocol routes. */
export interface ProtocolParts {
  /** The server's own endpoints, without the middleware in front of them. */
  fetch: Fetch;
  findTask: FindTask;
  graphs: Pick<Graphs, 'list'>;
  /** The mount prefix of the server's public paths. */
  prefix: string | undefined;
  /** Of the server. */
  version: string;
  clock: Clock;
  log: (line: string) => void;
}

// The SDKs are loaded on first use: most processes never need them and start faster.
const loadA2a = () => import('./a2a/answer.ts');
const loadCards = () => import('./a2a/card.ts');
const loadMcp = () => import('./mcp/answer.ts');

/** `POST /a2a/{assistant_id}` and the cards of assistants (section "What the service does", endpoint groups). */
export function a2aRoutes({ fetch, findTask, graphs, prefix = '', clock, log }: ProtocolParts): Hono {
  const routes = new Hono();

  const addressOf = (c: Context, assistantId: string): string =>
    new URL(`a2a/${encodeURIComponent(assistantId)}`, publicBase(c.req.url, c.req.raw.headers, prefix)).href;

  routes.post('/a2a/:assistant_id', async (c) => {
    const assistantId = c.req.param('assistant_id');
    const body = await readText(c);
    const { answerA2a } = await loadA2a();
    const call = { assistantId, address: addressOf(c, assistantId), body, headers: c.req.raw.headers };
    return refusing(() => answerA2a(call, { api: ownApi(fetch, c.req.raw.headers), findTask, clock, log }));
  });

  routes.get('/.well-known/agent-card.json', async (c) => {
    const { assistant_id = theOnly(graphs.list()) } = readQuery(c, cardQuery);
    const [{ readAssistant }, { agentCard, writeCard }] = await Promise.all([loadA2a(), loadCards()]);
    return refusing(async () => {
      const assistant = await readAssistant(ownApi(fetch, c.req.raw.headers), assistant_id);
      return c.json(writeCard(agentCard(assistant, addressOf(c, assistant_id))));
    });
  });

  return routes;
}

/** `/mcp`, with and without the slash of the public description. */
export function mcpRoutes({ fetch, version, clock, log }: ProtocolParts): Hono {
  const routes = new Hono();
  for (const path of ['/mcp', '/mcp/']) {
    routes.post(path, async (c) => {
      const { answerMcp } = await loadMcp();
      const api = ownApi(fetch, c.req.raw.headers);
      return answerMcp(c.req.raw, { api, version, mostBytes: MOST_BYTES, clock, log });
    });
    routes.get(path, (c) =>
      c.json({ detail: 'Server-initiated streams are not supported. Send a POST instead.' }, 405, { allow: 'POST' }),
    );
    routes.delete(path, (c) => c.json({ detail: 'There are no sessions to end: the endpoint is stateless.' }, 404));
  }
  return routes;
}

/** The only graph of the server. */
function theOnly(graphs: ReturnType<Graphs['list']>): string {
  const [graph, ...others] = graphs;
  if (graph && others.length === 0) return graph.graphId;
  const msg = `names the assistant, or one of the graphs ${graphs.map(({ graphId }) => graphId).join(', ')}`;
  throw new Refusal(422, [{ loc: ['query', 'assistant_id'], msg, type: 'missing' }]);
}

/** Passes a refusal of an endpoint through as the protocol endpoint's own. */
async function refusing(answer: () => Promise<Response>): Promise<Response> {
  try {
    return await answer();
  } catch (error) {
    if (error instanceof EndpointRefusal) throw new Refusal(statusOf(error.status), error.message);
    throw error;
  }
}

const STATUSES: readonly RefusalStatus[] = [400, 403, 404, 405, 409, 413, 422, 503];

const statusOf = (status: number): RefusalStatus => STATUSES.find((one) => one === status) ?? 503;
