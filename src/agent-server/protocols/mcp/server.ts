import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import * as z from 'zod';
import {
  assistantSchema,
  type Assistant,
  graphSchemas,
  type GraphSchemas,
  pageBounds,
} from '../../../contract/agent/assistant.ts';
import { errorKey, failedRunBody } from '../../../contract/agent/run.ts';
import { EndpointRefusal } from '../own-api.ts';
import type { OwnApi } from '../own-api.ts';
import { toolInput, toolNames } from './tools.ts';

/** The page size of the tool list: each tool includes its schema. */
const toolsAPage = 100;

/**
 * Creates a server of the model context protocol for one request. Every assistant that the caller may see is a tool;
 * calling it runs the assistant without a thread.
 *
 * @param version of the server.
 */
export function mcpServer(api: OwnApi, version: string): Server {
  const server = new Server({ name: 'landfall-agent-server', version }, { capabilities: { tools: {} } });

  server.setRequestHandler('tools/list', async ({ params }) => {
    const begin = readCursor(params?.cursor);
    const names = [...toolNames(await allAssistants(api))];
    const page = names.slice(begin, begin + toolsAPage);
    const tools = await Promise.all(page.map(([name, assistant]) => describe(api, name, assistant)));
    const end = begin + page.length;
    return { tools, ...(end < names.length ? { nextCursor: String(end) } : {}) };
  });

  server.setRequestHandler('tools/call', async ({ params: { name, arguments: args = {} } }, { mcpReq }) => {
    const assistant = toolNames(await allAssistants(api)).get(name);
    if (!assistant) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool "${name}".`);
    return call(api, assistant, args, mcpReq.signal);
  });

  return server;
}

const assistantList = z.array(assistantSchema);

async function allAssistants(api: OwnApi): Promise<Assistant[]> {
  const found: Assistant[] = [];
  for (;;) {
    const page = await api.read(assistantList, 'POST', '/assistants/search', {
      body: { limit: pageBounds.maxLimit, offset: found.length, sort_by: 'created_at', sort_order: 'asc' },
    });
    found.push(...page);
    if (page.length < pageBounds.maxLimit) return found;
  }
}

async function describe(api: OwnApi, name: string, { assistant_id, graph_id, description }: Assistant): Promise<Tool> {
  const { schema } = toolInput(await inputSchema(api, assistant_id));
  return { name, description: description ?? `Runs the graph "${graph_id}".`, inputSchema: schema };
}

/** The input schema of an assistant's graph; undefined if unknown, or if another revision has the graph. */
async function inputSchema(api: OwnApi, assistantId: string): Promise<GraphSchemas['input_schema']> {
  try {
    return (await api.read(graphSchemas, 'GET', `/assistants/${assistantId}/schemas`)).input_schema;
  } catch (error) {
    if (error instanceof EndpointRefusal) return undefined;
    throw error;
  }
}

/** Reports a failed run to the model as a tool error, so that the model can react. */
async function call(
  api: OwnApi,
  { assistant_id }: Assistant,
  args: Record<string, unknown>,
  signal: AbortSignal,
): Promise<CallToolResult> {
  try {
    const input = toolInput(await inputSchema(api, assistant_id)).of(args);
    const values = await api.read(z.unknown(), 'POST', '/runs/wait', { body: { assistant_id, input }, signal });
    const failed = failedRunBody.safeParse(values);
    if (!failed.success) return { content: [{ type: 'text', text: JSON.stringify(values) }] };
    const { error, message } = failed.data[errorKey];
    return { isError: true, content: [{ type: 'text', text: `${error}: ${message}` }] };
  } catch (error) {
    if (error instanceof EndpointRefusal) return { isError: true, content: [{ type: 'text', text: error.message }] };
    throw error;
  }
}

function readCursor(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  if (!/^\d{1,9}$/.test(cursor))
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid cursor. Use the one of the former page.');
  return Number(cursor);
}
