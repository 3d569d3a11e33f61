import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { choosePort } from '../../../src/kit/postgres/embedded/launch.ts';
import { asOrdinaryUser } from './ordinary-user.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** The file with the former port, and a port that was free a moment ago. */
async function lastTime(): Promise<{ folder: string; file: string; port: number; close: () => Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'landfall-port-'));
  folders.push(folder);
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it listens on no port');
  const close = (): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
  writeFileSync(join(folder, 'port'), String(address.port));
  return { folder, file: join(folder, 'port'), port: address.port, close };
}

test('uses the former port if it is free', async () => {
  const { file, port, close } = await lastTime();
  await close();
  expect(await choosePort(file)).toBe(port);
});

test('uses any other port if the former one is taken', async () => {
  const { file, port, close } = await lastTime();
  const chosen = await choosePort(file);
  await close();
  expect([chosen === port, chosen > 1023]).toEqual([false, true]);
});

test('uses any other port if the file is not readable, as after a run as root', async () => {
  const { folder, file, close } = await lastTime();
  await close();
  chmodSync(file, 0o000);
  expect(await asOrdinaryUser([folder], () => choosePort(file))).toBeGreaterThan(1023);
});
