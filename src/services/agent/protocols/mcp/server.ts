import {
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type CallToolResult,
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import {
  assistantSchema,
  isDefaultAssistant,
  pageBounds,
  type Assistant,
} from '../../../../contract/agent/assistant.ts';
import { errorKey, failedRunBody } from '../../../../contract/agent/run.ts';
import { readInputSchema, type InternalApi } from '../internal-api.ts';
import { Refusal } from '../../refusal.ts';
import type { FreeObject } from '../../../../contract/agent/open-word.ts';
import type { Clock } from '../../../../kit/clock.ts';
import { maxBodyBytes as maxRequestBodySize } from '../../api/body.ts';
import { heartbeatJson } from '../../api/heartbeat-json.ts';
import type { Logger } from '../../../../kit/logger.ts';

/** The page size of the tool list: each tool includes its schema. */
const toolsAPage = 100;

/** A server of the model context protocol for one request: every assistant that the caller may see is a tool. */
export function mcpServer(api: InternalApi, version: string): Server {
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

async function allAssistants(api: InternalApi): Promise<Assistant[]> {
  const found: Assistant[] = [];
  for (;;) {
    const page = await api.read(assistantList, 'POST', '/assistants/search', {
      body: { limit: pageBounds.maxLimit, offset: found.length, sort_by: 'created_at', sort_order: 'asc' },
    });
    found.push(...page);
    if (page.length < pageBounds.maxLimit) return found;
  }
}

async function describe(api: InternalApi, name: string, { assistant_id, graph_id, description }: Assistant) {
  const { schema } = toolInput(await readInputSchema(api, assistant_id));
  return { name, description: description ?? `Runs the graph "${graph_id}".`, inputSchema: schema };
}

/** Reports a failed run to the model as a tool error, so that the model can react. */
async function call(
  api: InternalApi,
  { assistant_id }: Assistant,
  args: Record<string, unknown>,
  signal: AbortSignal,
): Promise<CallToolResult> {
  try {
    const input = toolInput(await readInputSchema(api, assistant_id)).of(args);
    const asking = { body: { assistant_id, input }, signal, keepsNumbers: true };
    const values = await api.read(z.unknown(), 'POST', '/runs/wait', asking);
    const failed = failedRunBody.safeParse(values);
    if (!failed.success) return { content: [{ type: 'text', text: JSON.stringify(values) }] };
    const { error, message } = failed.data[errorKey];
    return { isError: true, content: [{ type: 'text', text: `${error}: ${message}` }] };
  } catch (error) {
    if (error instanceof Refusal) return { isError: true, content: [{ type: 'text', text: error.message }] };
    throw error;
  }
}

function readCursor(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  if (!/^\d{1,9}$/.test(cursor))
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid cursor. Use the one of the former page.');
  return Number(cursor);
}

type ToolAssistant = Pick<Assistant, 'assistant_id' | 'graph_id' | 'name' | 'metadata'>;

/** The longest tool name that model hosts accept. */
const maxNameLength = 64;
/** The number of characters of an assistant's id that make a duplicate name unique. */
const mark = 8;

/**
 * Maps tool names to assistants: the graph's id, or the name without unsupported characters. Of duplicates the first
 * keeps it, the others get a part of their id. @param assistants oldest first, so that names stay.
 */
export function toolNames<A extends ToolAssistant>(assistants: readonly A[]): Map<string, A> {
  const tools = new Map<string, A>();
  const [defaults, others] = [
    assistants.filter(isDefaultAssistant),
    assistants.filter((one) => !isDefaultAssistant(one)),
  ];
  for (const assistant of [...defaults, ...others]) {
    const { assistant_id: id } = assistant;
    const name = describable(isDefaultAssistant(assistant) ? assistant.graph_id : (assistant.name ?? ''));
    const marked = `${name.slice(0, maxNameLength - mark - 1)}_${id.slice(0, mark)}`;
    const free = [name, marked, id].find((one) => one !== '' && !tools.has(one));
    if (free !== undefined) tools.set(free, assistant);
  }
  return tools;
}

const describable = (name: string): string => name.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, maxNameLength);

/** The input of a tool: the graph's input, wrapped in an object if it is none. */
interface ToolInput {
  schema: { type: 'object' } & FreeObject;
  /** The graph's input, from the tool's arguments. */
  of: (args: FreeObject) => unknown;
}

/** The field that wraps an input which is not an object. */
const held = 'input';

/** @param schema of the graph's input; undefined if unknown. */
export function toolInput(schema: FreeObject | null | undefined): ToolInput {
  const { type } = schema ?? {};
  if (type === undefined || type === 'object') {
    const { $schema: _, ...rest } = schema ?? {};
    return { schema: { ...rest, type: 'object' }, of: (args) => args };
  }
  return {
    schema: { type: 'object', properties: { [held]: schema }, required: [held] },
    of: (args) => args[held],
  };
}

export interface McpDependencies {
  api: InternalApi;
  version: string;
  clock: Clock;
  log: Logger;
}

/**
 * Handles a POST of the model context protocol: a single response, as the public description says. Stateless: nothing
 * is kept between requests.
 */
export async function answerMcp(request: Request, { api, version, clock, log }: McpDependencies): Promise<Response> {
  const onerror = (error: Error) => log.warn(`The model context protocol: ${error.message}`);
  const factory = () => mcpServer(api, version);
  if (!(await isLegacyRequest(request, undefined, { maxRequestBodySize }))) {
    return createMcpHandler(factory, { legacy: 'reject', maxRequestBodySize, onerror }).fetch(request);
  }
  const server = factory();
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true, maxRequestBodySize });
  await server.connect(transport);
  const close = () => void server.close().catch(onerror);
  const answer = transport.handleRequest(request).finally(close);
  return heartbeatJson(answer, { clock, onGone: close, headers: {} });
}
