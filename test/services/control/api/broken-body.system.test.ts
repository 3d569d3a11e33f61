import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openServiceFixture } from '../service-fixture.ts';
import type { ServiceFixture } from '../service-fixture.ts';

let fixture: ServiceFixture;
beforeAll(async () => {
  fixture = await openServiceFixture();
});
afterAll(() => fixture.close());

test('a client that disconnects during a body leaves nothing, not even in the log', async () => {
  const { hostname, port } = new URL(fixture.baseUrl);
  const socket = connect(Number(port), hostname);
  const headers = [
    'Host: here',
    `X-Api-Key: ${fixture.apiKey}`,
    'Content-Type: application/json',
    'Content-Length: 50',
  ];
  // The response to `Expect` arrives once the service reads.
  socket.write(`POST /v2/deployments HTTP/1.1\r\n${headers.join('\r\n')}\r\nExpect: 100-continue\r\n\r\n`);
  await once(socket, 'data');
  socket.write('{"name":');
  await new Promise((resolve) => setTimeout(resolve, 50));
  socket.destroy();
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(fixture.logged).toEqual([]);
  expect((await fixture.control.listDeployments({})).resources).toEqual([]);
});
