import { request as openRequest, type IncomingMessage } from 'node:http';
import { addressOf } from './agent-address.ts';
import { agentTokenHeader } from './headers.ts';
import type { Upstream } from './agent-route.ts';

/**
 * Sends a request of the service itself to an agent and resolves with the response head; the caller must read or destroy
 * the body. Never follows a redirect: it could lead anywhere.
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

/** Whether a response is a success. */
export const isOk = ({ statusCode = 0 }: IncomingMessage): boolean => statusCode >= 200 && statusCode < 300;
