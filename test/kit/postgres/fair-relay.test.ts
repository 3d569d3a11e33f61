import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fairRelay, type FairRelay } from '../../../src/kit/postgres/relay/fair-relay.ts';

let folder: string;
let server: Server;
let relay: FairRelay;
/** Connections that the server has. */
let held: Socket[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'landfall-relay-'));
  held = [];
  server = createServer((socket) => held.push(socket));
  await new Promise<void>((resolve) => server.listen(join(folder, 'server'), resolve));
  relay = fairRelay({ target: join(folder, 'server'), places: 4 });
});
afterEach(async () => {
  for (const socket of held) socket.destroy();
  await relay.close();
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

async function entrance(name: string, limit: number): Promise<() => Socket> {
  const path = join(folder, name);
  await relay.open(path, limit);
  return () => connect(path).on('error', () => undefined);
}

test('a client in the middle of a query sees that the server died', async () => {
  const client = (await entrance('a', 4))();
  client.write('a query');
  const [connection] = await once(server, 'connection');
  await once(connection, 'data');
  connection.end('half an answer');
  expect(await text(client)).toBe('half an answer');
});

test('a client beyond the bound is refused as Postgres would refuse it', async () => {
  const open = await entrance('a', 1);
  open();
  await once(server, 'connection');
  expect(await text(open())).toContain('C53300');
});

test('a client that reads nothing keeps its place until it is disconnected', async () => {
  const open = await entrance('a', 1);
  const client = open();
  client.pause();
  const [connection] = await once(server, 'connection');
  connection.end(Buffer.alloc(4_000_000));
  connection.destroySoon();
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await text(open())).toContain('C53300');
  connection.destroy();
  client.destroy();
});

test('one entrance can not keep another one out', async () => {
  const [greedy, other] = [await entrance('a', 4), await entrance('b', 4)];
  const clients = [greedy(), greedy(), greedy(), greedy()];
  while (held.length < 4) await once(server, 'connection');
  // The server lets go as soon as a client hangs up, as Postgres does.
  for (const socket of held) socket.on('end', () => socket.destroy()).resume();
  const late = other();
  late.write('hello');
  const [connection] = await once(server, 'connection');
  const [said] = await once(connection, 'data');
  expect(String(said)).toBe('hello');
  for (const client of [...clients, late]) client.destroy();
});
