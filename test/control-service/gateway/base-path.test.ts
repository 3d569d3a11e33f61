import { once } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import { createHttpServer } from '../../../src/control-service/server.ts';

const servers: ReturnType<typeof createHttpServer>[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

test.each([
  ['below a base path an agent is told of that too', '/api-host', {}, '/api-host'],
  ['and of what stands before it', '/api-host', { 'x-forwarded-prefix': '/outer' }, '/outer/api-host'],
  ['without one nothing is added', '', {}, undefined],
])('%s', async (_, basePath, headers, prefix) => {
  const seen: unknown[] = [];
  const server = createHttpServer({
    fetch: () => expect.unreachable(),
    agents: (request, response) => {
      seen.push([request.url, request.headers['x-forwarded-prefix']]);
      response.end();
      return true;
    },
    basePath,
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const { port } = Object(server.address());
  await fetch(`http://127.0.0.1:${port}${basePath}/agents/one/ok`, { headers });
  expect(seen).toEqual([['/agents/one/ok', prefix]]);
});
