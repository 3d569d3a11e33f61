import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHttpServer, listen } from '../../../src/services/control/server.ts';

const server = createHttpServer({ fetch: () => new Response('"fine"'), agents: () => false, basePath: '' });
let port = 0;
beforeAll(async () => {
  port = await listen(server, 0);
});
afterAll(async () => {
  server.close();
  await once(server, 'close');
});

async function exchange(request: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(request);
  return text(socket);
}

test.each([
  [
    'an address that is too long',
    `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: here\r\n\r\n`,
    '431',
    'more than 16 KB',
  ],
  ['what is no HTTP', '\u0016\u0003\u0001 hello\r\n\r\n', '400', 'no valid HTTP request'],
])('explains %s', async (_, request, status, detail) => {
  const [head = '', body = ''] = (await exchange(request)).split('\r\n\r\n');
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(JSON.parse(body)).toEqual({ detail: expect.stringContaining(detail) });
});
