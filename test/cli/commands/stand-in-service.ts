import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { deploymentId, deploymentReply, revisionId, revisionReply } from '../../client/stand-in.ts';

export const threadId = '0c1d2e3f-0000-4000-8000-00000000000a';
const at = '2026-11-21T12:00:00Z';
const assistant = {
  assistant_id: '0c1d2e3f-0000-4000-8000-00000000000b',
  graph_id: 'talk',
  metadata: { created_by: 'system' },
  created_at: at,
  updated_at: at,
  config: {},
};
const schemas = { graph_id: 'talk', input_schema: { properties: { input: { type: 'string' } } } };
const newThread = { thread_id: threadId, created_at: at, updated_at: at, status: 'idle', config: {}, metadata: {} };

/** What a service differs in from one whose only deployment `support` serves. */
export interface StandIn {
  deployment?: object;
  revision?: object;
  /** The graphs of its agent; `talk` alone by default. */
  graphs?: readonly string[];
  /** Its only thread. */
  thread?: object;
  /** The events of its runs. */
  events?: readonly { event: string; data: unknown }[];
  /** Whether its runs go on after them. */
  isOpen?: boolean;
  /** Its log. */
  logs?: readonly string[];
}

/** A service with one deployment and its agent, which keeps what it is asked. */
export async function startStandIn({
  deployment,
  revision,
  graphs = ['talk'],
  thread,
  events = [],
  isOpen,
  logs = [],
}: StandIn): Promise<{
  env: Record<string, string>;
  requests: { path: string; body: unknown }[];
}> {
  const requests: { path: string; body: unknown }[] = [];
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname: path } = new URL(request.url ?? '/', 'http://stand-in.test');
    const text = (await request.toArray()).join('');
    const body: unknown = text === '' ? undefined : JSON.parse(text);
    requests.push({ path: `${request.method} ${path}`, body });
    const url = `http://${request.headers.host}`;
    const current = { ...deploymentReply, url, active_revision_id: revisionId, ...deployment };
    const replies: Record<string, unknown> = {
      '/v2/deployments': { resources: [current], offset: 0 },
      [`/v2/deployments/${deploymentId}`]: current,
      [`/v2/deployments/${deploymentId}/revisions/${revisionId}`]: {
        ...revisionReply,
        status: 'DEPLOYED',
        ...revision,
      },
      '/assistants/search': graphs.map((graph_id) => ({ ...assistant, graph_id })),
      [`/assistants/${assistant.assistant_id}/schemas`]: schemas,
      '/threads': newThread,
      ...(thread === undefined ? {} : { [`/threads/${threadId}`]: { ...newThread, ...thread } }),
    };
    if (path.endsWith('/runs/stream')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const { event, data } of events) response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
      if (!isOpen) response.end();
      return;
    }
    const reply = path.includes('log')
      ? { logs: logs.map((message, id) => ({ id: String(id), timestamp: at, message })) }
      : replies[path];
    response.writeHead(reply === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(reply ?? { detail: 'not found' }));
  };
  const server = createServer((request, response) => void respond(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return {
    requests,
    env: { LANDFALL_BASE_URL: `http://127.0.0.1:${Object(server.address()).port}`, LANDFALL_API_KEY: 'key' },
  };
}
