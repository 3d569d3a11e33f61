import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { connect, type Socket } from 'node:net';

export interface ProxyServer extends AsyncDisposable {
  url: string;
  /** The first line of every request, and its headers. */
  seen: { line: string; headers: Record<string, unknown> }[];
}

/**
 * A forward proxy that also tunnels (CONNECT). Whatever the host, it connects to `port` of this machine: a name that only
 * a proxy can resolve. With `credentials` (`user:password`) it refuses everyone else.
 */
export async function proxyServer(port: number, credentials?: string): Promise<ProxyServer> {
  const seen: ProxyServer['seen'] = [];
  const sockets = new Set<Socket>();
  const expected = credentials && `Basic ${Buffer.from(credentials).toString('base64')}`;
  const isLetIn = (headers: Record<string, unknown>): boolean =>
    expected === undefined || headers['proxy-authorization'] === expected;

  const server = createServer((incoming, outgoing) => {
    seen.push({ line: `${incoming.method} ${incoming.url}`, headers: incoming.headers });
    if (!isLetIn(incoming.headers)) {
      outgoing.writeHead(407, { 'proxy-authenticate': 'Basic' }).end('a user and a password, please');
      return;
    }
    const target = new URL(incoming.url ?? '');
    const { method, headers } = incoming;
    const path = `${target.pathname}${target.search}`;
    const onward = request({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  server.on('connect', (incoming, socket, rest) => {
    seen.push({ line: `CONNECT ${incoming.url}`, headers: incoming.headers });
    if (!isLetIn(incoming.headers)) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n');
      return;
    }
    const onward = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      onward.write(rest);
      onward.pipe(socket);
      socket.pipe(onward);
    });
    sockets.add(onward);
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
  });
  server.on('connection', (socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  return {
    url: `http://${credentials ? `${credentials}@` : ''}127.0.0.1:${address.port}`,
    seen,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
