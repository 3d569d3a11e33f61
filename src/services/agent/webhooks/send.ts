import { lookup } from 'node:dns/promises';
import { unlessAborted } from '../../../kit/clock.ts';
import * as http from 'node:http';
import * as https from 'node:https';
import type { LookupAddress } from 'node:dns';
import { codeOf } from '../../../kit/errors.ts';
import { addressIn, addressProblem, ownOrigin, type WebhookTarget } from './parse-target.ts';
import { toAttemptOutcome, type AttemptOutcome } from './outcome.ts';
import type { UrlRules } from './settings.ts';

/** Resolves a host name to all its addresses; rejects if there is none. */
export type Resolve = (host: string) => Promise<LookupAddress[]>;

export interface WebhookSendOptions {
  body: string;
  headers: Readonly<Record<string, string>>;
  rules: UrlRules;
  resolve: Resolve;
  /** Aborts after `withinMs` with a `TimeoutError`. */
  signal: AbortSignal;
  withinMs: number;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** How much (bytes) of a response body is read and ignored, so that the sender can end properly. */
const maxAnswerBytes = 64 * 1024;

/**
 * Sends a webhook to an external receiver, at exactly the addresses that were checked, so that a changed DNS response
 * gains nothing. One forbidden address rejects the name. No proxy, no redirects.
 */
export async function sendExternal(
  to: Extract<WebhookTarget, { kind: 'outside' }>,
  sending: WebhookSendOptions,
): Promise<AttemptOutcome> {
  try {
    const addresses = await addressesOf(to.host, sending);
    for (const { address } of addresses) {
      const problem = addressProblem(address, to.host, sending.rules);
      if (problem !== undefined) return { kind: 'refused', why: problem };
    }
    if (addresses.length === 0) return { kind: 'failed', why: 'has no address' };
    return await post(to, addresses, sending);
  } catch (error) {
    return { kind: 'failed', why: reasonOf(sending.signal.aborted ? sending.signal.reason : error, sending.withinMs) };
  }
}

/** The addresses of a host, unless the attempt is aborted first. */
async function addressesOf(host: string, { resolve, signal }: WebhookSendOptions): Promise<LookupAddress[]> {
  const address = addressIn(host);
  if (address !== undefined) return [{ address, family: address.includes(':') ? 6 : 4 }];
  return unlessAborted(resolve(host), signal);
}

function post(
  { url, host, port }: Extract<WebhookTarget, { kind: 'outside' }>,
  addresses: LookupAddress[],
  { body, headers, signal, now }: WebhookSendOptions,
): Promise<AttemptOutcome> {
  const isSecure = url.protocol === 'https:';
  const address = addressIn(host);
  return new Promise((resolve, reject) => {
    const request = (isSecure ? https : http).request({
      method: 'POST',
      hostname: address ?? host,
      port,
      path: `${url.pathname}${url.search}`,
      headers: { ...headers, host: url.host, 'content-length': Buffer.byteLength(body) },
      // A separate agent: the global one may use a proxy, or reuse a connection that other rules allowed.
      agent: isSecure ? new https.Agent({ keepAlive: false }) : new http.Agent({ keepAlive: false }),
      ...(isSecure && address === undefined ? { servername: host } : {}),
      lookup: (_, { all }, callback) => {
        const [first] = addresses;
        if (all === true) callback(null, addresses);
        else callback(null, first?.address ?? '', first?.family ?? 4);
      },
      signal,
    });
    let tried: AttemptOutcome | undefined;
    request.on('error', (error) => (tried ? resolve(tried) : reject(error)));
    request.on('response', (response) => {
      const answered = toAttemptOutcome(response.statusCode ?? 0, response.headers['retry-after'], now());
      tried = answered;
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.byteLength;
        if (bytes > maxAnswerBytes) response.destroy();
      });
      // The status decides: a broken body changes nothing.
      response.on('error', () => resolve(answered));
      response.on('close', () => resolve(answered));
    });
    // A response that switches protocols ends the attempt: without a listener the request would never settle.
    request.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve(toAttemptOutcome(response.statusCode ?? 0, undefined, now()));
    });
    request.end(body);
  });
}

/** Sends a webhook to the server's own routes, without the network. */
export async function sendInternal(
  path: string,
  fetch: (request: Request) => Response | Promise<Response>,
  { body, headers, signal, withinMs, now }: Omit<WebhookSendOptions, 'rules' | 'resolve'>,
): Promise<AttemptOutcome> {
  try {
    const request = new Request(`${ownOrigin}${path}`, { method: 'POST', headers, body });
    const response = await unlessAborted(Promise.resolve(fetch(request)), signal);
    const tried = toAttemptOutcome(response.status, response.headers.get('retry-after') ?? undefined, now());
    await hear(response, signal);
    return tried;
  } catch (error) {
    return { kind: 'failed', why: reasonOf(error, withinMs) };
  }
}

/** Reads a response's body until it or the attempt ends: work for a connected caller ends with the body. */
async function hear(response: Response, signal: AbortSignal): Promise<void> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  try {
    while (!(await unlessAborted(reader.read(), signal)).done);
  } catch (error) {
    // The status decides: a broken body changes nothing.
    await reader.cancel(error).catch(() => undefined);
  }
}

/** Why there was no response, without the URL. */
function reasonOf(error: unknown, withinMs: number): string {
  if (!(error instanceof Error)) return 'could not be reached';
  if (error.name === 'TimeoutError') return `did not answer within ${withinMs / 1000} s`;
  return `could not be reached (${codeOf(error) || error.name})`;
}

export const resolveByMachine: Resolve = (host) => lookup(host, { all: true, order: 'verbatim' });

/** Merges concurrent lookups of a name: slow ones would block the few lookup threads, which the agent needs too. */
export function onceAtATime(resolve: Resolve): Resolve {
  const underWay = new Map<string, ReturnType<Resolve>>();
  return (host) => {
    const resolution = underWay.get(host) ?? resolve(host).finally(() => underWay.delete(host));
    underWay.set(host, resolution);
    return resolution;
  };
}
