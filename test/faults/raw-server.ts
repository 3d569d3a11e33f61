import { createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';

/** A request as received. */
export interface RawRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
}

export interface RawServer extends AsyncDisposable {
  url: string;
  port: number;
  /** Every complete request, in order of arrival. */
  requests: RawRequest[];
  /** How many connections were opened. */
  connections: () => number;
}

/** Does something to the socket of the `count`th request (from 1). */
export type Answer = (socket: Socket, request: RawRequest, count: number) => void;

/** A server whose raw responses a test writes: it reads complete requests and leaves the response to the test. */
export async function rawServer(answer: Answer): Promise<RawServer> {
  const sockets = new Set<Socket>();
  const requests: RawRequest[] = [];
  let opened = 0;
  const server = createServer((socket) => {
    opened += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    // A peer that goes away in the middle is what these tests are about.
    socket.on('error', () => socket.destroy());
    let waiting = '';
    socket.on('data', (chunk) => {
      waiting += chunk.toString('latin1');
      for (let read = readRequest(waiting); read; read = readRequest(waiting)) {
        waiting = read.rest;
        requests.push(read.request);
        answer(socket, read.request, requests.length);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (!isTcp(address)) throw new Error('the server has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    requests,
    connections: () => opened,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

const isTcp = (address: AddressInfo | string | null): address is AddressInfo =>
  typeof address === 'object' && address !== null;

function readRequest(text: string): { request: RawRequest; rest: string } | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = text.slice(0, end).split('\r\n');
  const [method = '', path = ''] = first.split(' ');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const length = Number(headers['content-length'] ?? 0);
  const rest = text.slice(end + 4);
  if (rest.length < length) return undefined;
  return { request: { method, path, headers, body: rest.slice(0, length) }, rest: rest.slice(length) };
}

/** A port of this machine without a listener. */
export async function closedPort(): Promise<number> {
  const server = await rawServer(() => undefined);
  await server[Symbol.asyncDispose]();
  return server.port;
}

/** A complete response with a content length. */
export function reply(status: number, body: string, headers: Record<string, string> = {}): string {
  const all = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)), ...headers };
  return `${head(status, all)}${body}`;
}

/** The head of an answer. */
export function head(status: number, headers: Record<string, string>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Status\r\n${lines.join('')}\r\n`;
}

/** One piece of a body in the chunked coding; the empty one ends it. */
export const chunk = (text: string | Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${text.length.toString(16)}\r\n`), Buffer.from(text), Buffer.from('\r\n')]);

export const lastChunk = '0\r\n\r\n';

export const streamHead = head(200, { 'content-type': 'text/event-stream', 'transfer-encoding': 'chunked' });
