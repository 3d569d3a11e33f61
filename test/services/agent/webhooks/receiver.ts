import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { text } from 'node:stream/consumers';

/** A received request, whatever the response. */
export interface Received {
  method: string | undefined;
  /** Path and query. */
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
  at: number;
}

/** A status, a complete response, or a failure instead of one. */
export type Answer =
  | number
  | { status: number; headers?: Record<string, string>; body?: string }
  | 'hang'
  | 'hang-in-body'
  | 'hang-up'
  | ((request: IncomingMessage, response: ServerResponse) => void);

/** A fake webhook receiver: records requests, and responds as a test sets it, path by path. */
export interface Receiver {
  port: number;
  /** Its URL; `path` may have a query. */
  at(path: string): string;
  received: Received[];
  /** The requests to a path, ignoring the query. */
  to(path: string): Received[];
  /** Responds to requests to a path in this order; the last response repeats. */
  answer(path: string, ...answers: Answer[]): void;
  close(): Promise<void>;
}

/** A receiver on this machine; uses TLS if it has a certificate. */
export async function startReceiver(certificate?: { key: string; cert: string }, port = 0): Promise<Receiver> {
  const received: Received[] = [];
  const answers = new Map<string, Answer[]>();
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    void (async () => {
      const { method, url = '', headers } = request;
      const body = await text(request).catch(() => '');
      received.push({ method, url, headers, body, at: Date.now() });
      const queue = answers.get(pathOf(url)) ?? [];
      const next = queue.length > 1 ? queue.shift() : queue[0];
      carryOut(next ?? 200, request, response);
    })();
  };
  const server = certificate ? createSecureServer(certificate, listener) : createServer(listener);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the receiver has no port');
  return {
    port: address.port,
    at: (path) => `${certificate ? 'https' : 'http'}://127.0.0.1:${address.port}${path}`,
    received,
    to: (path) => received.filter(({ url }) => pathOf(url) === path),
    answer: (path, ...some) => void answers.set(path, some),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const pathOf = (url: string): string => url.split('?')[0] ?? '';

function carryOut(answer: Answer, request: IncomingMessage, response: ServerResponse): void {
  if (typeof answer === 'function') return answer(request, response);
  if (answer === 'hang') return;
  if (answer === 'hang-up') return void request.socket.destroy();
  if (answer === 'hang-in-body') return void response.writeHead(200, { 'content-length': '10' }).write('started');
  const { status, headers = {}, body = '' } = typeof answer === 'number' ? { status: answer } : answer;
  response.writeHead(status, headers).end(body);
}
