import * as z from 'zod';
import { graphSchemas, type GraphSchemas } from '../../../contract/agent/assistant.ts';
import { fromJson } from '../../../kit/json-text.ts';
import { withExactNumbers } from '../api/body.ts';
import { Refusal } from '../refusal.ts';

/** Handles a request without the network. */
export type Fetch = (request: Request) => Response | Promise<Response>;

export interface InternalRequestOptions {
  body?: object;
  headers?: Record<string, string>;
  /** Aborts the response; a run that the call started then ends as its request says. */
  signal?: AbortSignal;
  /** Whether `read` keeps numbers as they were written. */
  keepsNumbers?: boolean;
}

/** Calls the server's own endpoints as the protocol's caller, with their authorization, limits and defaults. */
export interface InternalApi {
  /** @throws Refusal for every error status, and for a redirect. */
  ask(method: 'GET' | 'POST', path: string, asking?: InternalRequestOptions): Promise<Response>;
  /** Parses the JSON of a response by a schema; skips leading white space. */
  read<T>(schema: z.ZodType<T>, method: 'GET' | 'POST', path: string, asking?: InternalRequestOptions): Promise<T>;
}

/** Headers about the caller's own message or protocol. */
const notPassedOn =
  /^(?:content-.*|accept.*|x-landfall-.*|host|connection|keep-alive|transfer-encoding|te|trailer|upgrade|sec-websocket-.*|expect|last-event-id|mcp-.*|(?:x-)?a2a-.*)$/i;

/** The headers of a request that calls on its sender's behalf pass on, with its credentials. */
export const passedOn = (headers: Headers): [string, string][] =>
  [...headers].filter(([name]) => !notPassedOn.test(name));

/** The header by which these calls see the error of a cancelled run in its stream. */
export const cancellationHeader = 'x-landfall-cancellation';

/** The header by which a run is started whose events are those of the thread-stream protocol. */
export const threadStreamHeader = 'x-landfall-thread-stream';

const refusedBody = z.object({
  detail: z.union([z.string(), z.array(z.looseObject({ loc: z.array(z.unknown()), msg: z.string() }))]),
});

/** @param headers of the caller, with its credentials. */
export function createInternalApi(fetch: Fetch, headers: Headers): InternalApi {
  const ask: InternalApi['ask'] = async (method, path, { body, signal, headers: added = {} } = {}) => {
    signal?.throwIfAborted();
    const request = new Request(new URL(path, 'http://own'), {
      method,
      headers: [
        ...passedOn(headers),
        [cancellationHeader, 'error'],
        ...Object.entries(added),
        ...(body ? [['content-type', 'application/json'] satisfies [string, string]] : []),
      ],
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const response = await fetch(request);
    if (response.status < 400 && !response.ok) {
      // No protocol can answer with a redirect of the agent's own middleware.
      const problem = `The agent's own middleware answered ${method} ${path} with ${response.status}.`;
      throw new Refusal(500, `${problem} It must pass on the server's own paths.`);
    }
    if (!response.ok) throw new Refusal(response.status, refusalOf(await response.text()));
    return signal === undefined ? response : abortedBy(response, signal);
  };
  return {
    ask,
    read: async (schema, method, path, asking) => {
      const json = await (await ask(method, path, asking)).text();
      const read = schema.parse(JSON.parse(json));
      return asking?.keepsNumbers === true ? withExactNumbers(schema, json, read) : read;
    },
  };
}

function refusalOf(text: string): string {
  const refused = refusedBody.safeParse(fromJson(text));
  if (!refused.success) return text === '' ? 'The request was refused.' : text;
  const { detail } = refused.data;
  return typeof detail === 'string' ? detail : detail.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; ');
}

/** The input schema of an assistant's graph; undefined if unknown, or if another revision has the graph. */
export async function readInputSchema(api: InternalApi, assistantId: string): Promise<GraphSchemas['input_schema']> {
  try {
    return (await api.read(graphSchemas, 'GET', `/assistants/${assistantId}/schemas`)).input_schema;
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

/** The same response, aborted with the signal as if the caller had disconnected. */
export function abortedBy(response: Response, signal: AbortSignal): Response {
  const { body } = response;
  if (!body) return response;
  const through = new TransformStream<Uint8Array, Uint8Array>();
  // The reader receives the error.
  body.pipeTo(through.writable, { signal }).catch(() => undefined);
  return new Response(through.readable, response);
}
