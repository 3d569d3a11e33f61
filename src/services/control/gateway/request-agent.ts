import { request as openRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { agentTokenHeader } from './headers.ts';
import { urlToHttpOptions } from 'node:url';
import { pause, type Clock } from '../../../kit/clock.ts';
import { readBounded } from '../../../kit/read-bounded.ts';

/** The address of an agent's process, and the token that it requires. */
export interface Upstream {
  /** `http://<host>:<port>`, or `unix:<path>` of its socket. */
  origin: string;
  token: string;
}

const socketScheme = 'unix:';

/** The origin of an agent that listens on a Unix socket. */
export const originAt = (socketPath: string): string => `${socketScheme}${socketPath}`;

/** How to connect to an origin: `http://<host>:<port>`, or a Unix socket. */
export function addressOf(origin: string): RequestOptions {
  return origin.startsWith(socketScheme)
    ? { socketPath: origin.slice(socketScheme.length) }
    : urlToHttpOptions(new URL(origin));
}

/**
 * Sends a request of the service itself to an agent and resolves with the response head; the caller must read or
 * destroy the body. Never follows a redirect: it could lead anywhere.
 *
 * @throws Error when there is no response, or when `signal` aborts before it.
 */
export function requestAgent({ origin, token }: Upstream, path: string, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { [agentTokenHeader]: token };
    const outgoing = openRequest({ ...addressOf(origin), path, headers, agent: false, signal });
    outgoing.on('error', reject);
    outgoing.on('response', (incoming) => {
      // A response that is cut must not raise an unhandled error.
      incoming.on('error', () => undefined);
      resolve(incoming);
    });
    // A protocol upgrade ends here without an error.
    outgoing.on('close', () => reject(new Error('the agent closed the connection')));
    outgoing.end();
  });
}

const isOk = ({ statusCode = 0 }: IncomingMessage): boolean => statusCode >= 200 && statusCode < 300;

/** Requests JSON from an agent. @throws Error for another status than a 2xx, or more than `maxBytes`. */
export async function requestJson(agent: Upstream, path: string, signal: AbortSignal, maxBytes: number) {
  const response = await requestAgent(agent, path, signal);
  try {
    if (!isOk(response)) throw new Error(`the agent sent the status ${response.statusCode}`);
    const bytes = await readBounded(response, maxBytes);
    if (!bytes) throw new Error('the agent sent too much');
    const json: unknown = JSON.parse(bytes.toString());
    return json;
  } finally {
    response.destroy();
  }
}

const healthPollMs = 200;

/** Polls an agent's health (`GET /ok`) until it succeeds; false when `signal` aborts first. */
export async function becomesHealthy(agent: Upstream, clock: Clock, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    // Without a response, the agent has stopped listening or the time is up. The caller checks which.
    const response = await requestAgent(agent, '/ok', signal).catch(() => undefined);
    response?.destroy();
    if (response && isOk(response)) return true;
    await pause(clock, healthPollMs, signal);
  }
  return false;
}
