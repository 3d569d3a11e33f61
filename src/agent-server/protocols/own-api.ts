import * as z from 'zod';
import { fromJson } from '../../contract/json-text.ts';

/** Answers a request without the network. */
export type Fetch = (request: Request) => Response | Promise<Response>;

/** What an endpoint of ours refused, to be told in a protocol's own words. */
export class EndpointRefusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'EndpointRefusal';
    this.status = status;
  }
}

/** How an endpoint is asked. */
export interface Asking {
  body?: object;
  /** Ends the answer when it aborts; a run that was started by it is then ended as its request says. */
  signal?: AbortSignal;
}

/**
 * The server's own endpoints, asked as the caller of a protocol would ask them: whatever guards, fills in or bounds a
 * request there holds for the protocols too.
 */
export interface OwnApi {
  /** @throws EndpointRefusal for every status but those of success. */
  ask(method: 'GET' | 'POST', path: string, asking?: Asking): Promise<Response>;
  /** The JSON of an answer, held to a schema; white space before it is passed over. */
  read<T>(schema: z.ZodType<T>, method: 'GET' | 'POST', path: string, asking?: Asking): Promise<T>;
}

/** Headers that speak of the caller's own message or protocol. */
const NOT_PASSED_ON =
  /^(?:content-.*|accept.*|host|connection|keep-alive|transfer-encoding|te|trailer|upgrade|expect|last-event-id|mcp-.*|(?:x-)?a2a-.*)$/i;

const Refused = z.object({
  detail: z.union([z.string(), z.array(z.looseObject({ loc: z.array(z.unknown()), msg: z.string() }))]),
});

/** @param headers those of the caller: they say who asks. */
export function ownApi(fetch: Fetch, headers: Headers): OwnApi {
  const passedOn = [...headers].filter(([name]) => !NOT_PASSED_ON.test(name));
  const ask: OwnApi['ask'] = async (method, path, { body, signal } = {}) => {
    signal?.throwIfAborted();
    const request = new Request(new URL(path, 'http://own'), {
      method,
      headers: [...passedOn, ...(body ? [['content-type', 'application/json'] satisfies [string, string]] : [])],
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const response = await fetch(request);
    if (!response.ok) throw new EndpointRefusal(response.status, refusalOf(await response.text()));
    return signal === undefined ? response : cancelledBy(response, signal);
  };
  return {
    ask,
    read: async (schema, method, path, asking) => schema.parse(await (await ask(method, path, asking)).json()),
  };
}

function refusalOf(text: string): string {
  const refused = Refused.safeParse(fromJson(text));
  if (!refused.success) return text === '' ? 'The request was refused.' : text;
  const { detail } = refused.data;
  return typeof detail === 'string' ? detail : detail.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; ');
}

/** The same answer, let go of when the signal aborts, as if the caller's connection had broken. */
function cancelledBy(response: Response, signal: AbortSignal): Response {
  const { body } = response;
  if (!body) return response;
  const through = new TransformStream<Uint8Array, Uint8Array>();
  // What breaks it off is told to whoever reads.
  body.pipeTo(through.writable, { signal }).catch(() => undefined);
  return new Response(through.readable, response);
}
