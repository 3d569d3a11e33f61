import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { freePort, isFree } from '../../src/kit/free-port.ts';

test('is a port that no system hands out by itself', async () => {
  const ports = await Promise.all(Array.from({ length: 50 }, freePort));
  expect(ports.filter((port) => port < 1024 || port >= 32_768)).toEqual([]);
  expect(new Set(ports).size).toBeGreaterThan(40);
});

test('tells a port that is taken from a free one', async () => {
  const port = await freePort();
  expect(await isFree(port)).toBe(true);
  await using server = createServer().listen(port, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  expect(await isFree(port)).toBe(false);
});
