import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { runListener } from '../../../src/services/listener/listener-command.ts';

test.each([
  ['with a full stop', 'Send a key of this service in the header X-Api-Key.'],
  ['without one', 'Send a key of this service in the header X-Api-Key'],
])('a refused listener, with a reason %s, exits with whole sentences', async (_, detail) => {
  const server = createServer((_request, response) => {
    response.writeHead(401, { 'content-type': 'application/json' }).end(JSON.stringify({ detail }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = address !== null && typeof address !== 'string' ? address.port : 0;
  const reported: string[] = [];
  try {
    const code = await runListener(['--base-url', `http://127.0.0.1:${port}`, '--compute-id', 'cluster'], {
      env: { LANDFALL_API_KEY: 'a-key' },
      version: '0',
      say: () => {},
      printError: (text) => reported.push(text),
      leave: new Promise(() => {}),
    });
    expect(code).toBe(1);
    expect(reported.at(-1)).toContain('in the header X-Api-Key. Check the base address');
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
