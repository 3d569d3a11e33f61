import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Clock } from '../../../clock.ts';
import { heartbeatJson } from '../../api/heartbeat-json.ts';
import type { OwnApi } from '../own-api.ts';
import { mcpServer } from './server.ts';
import type { Logger } from '../../../logger.ts';

/** The dependencies of the endpoint. */
export interface McpParts {
  api: OwnApi;
  version: string;
  /** The largest body (bytes) that is read. */
  mostBytes: number;
  clock: Clock;
  log: Logger;
}

/**
 * Handles a POST of the model context protocol: a single response, as the public description says. Stateless: nothing is
 * kept between requests.
 */
export async function answerMcp(request: Request, parts: McpParts): Promise<Response> {
  const { api, version, mostBytes: maxRequestBodySize, clock, log } = parts;
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
  return whenReady(answer, clock, close);
}

/** Passes a quick response on as it is; keeps the connection of a slow one alive. */
async function whenReady(answer: Promise<Response>, clock: Clock, onGone: () => void): Promise<Response> {
  const waited = new AbortController();
  const soon = await Promise.race([answer, clock.sleep(maxWaitMs, waited.signal)]);
  waited.abort();
  if (soon) return soon;
  return heartbeatJson(
    answer.then((response) => response.text()),
    { clock, onGone, headers: {} },
  );
}

/** How long (ms) to wait for a response with its own status: slower ones all come from runs. */
const maxWaitMs = 1000;
