import type { RequestOptions } from 'node:http';
import { urlToHttpOptions } from 'node:url';

const socketScheme = 'unix:';

/** The origin of an agent that listens on a Unix socket. */
export const originAt = (socketPath: string): string => `${socketScheme}${socketPath}`;

/** How to connect to an origin: `http://<host>:<port>`, or a Unix socket. */
export function addressOf(origin: string): RequestOptions {
  return origin.startsWith(socketScheme)
    ? { socketPath: origin.slice(socketScheme.length) }
    : urlToHttpOptions(new URL(origin));
}
