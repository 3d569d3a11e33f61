// The table of the agent server's README: each line is a question that both servers are asked here.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assistantRows } from './assistant-rows.ts';
import { ourServer, thePublicServer } from './contender.ts';
import type { Contender } from './contender.ts';
import { cronRows, killedRows, storeRows, systemRows } from './other-rows.ts';
import { lineOf, readTable } from './readme-table.ts';
import { Asking } from './row.ts';
import { runRows } from './run-rows.ts';
import { threadRows } from './thread-rows.ts';
import { deadlyWebhookRows, webhookRows } from './webhook-rows.ts';

const quiet = [...assistantRows, ...threadRows, ...runRows, ...cronRows, ...storeRows, ...webhookRows, ...systemRows];
const loud = [...killedRows, ...deadlyWebhookRows];
const table = readTable();

let servers: Contender[] = [];
// Installing the public server takes as long as the registry does.
beforeAll(async () => {
  servers = [await thePublicServer(), await ourServer()];
}, 300_000);
afterAll(async () => {
  for (const server of servers) await server.close();
});

const answersTo = (ask: (server: Asking) => Promise<string>): Promise<string[]> =>
  Promise.all(servers.map((server) => ask(new Asking(server))));

test('the table has every question, in this order, and no other line', () => {
  expect(table.map(([contract]) => contract)).toEqual([...quiet, ...loud].map(({ contract }) => contract));
});

describe.concurrent('both servers answer as the table says', () => {
  test.each(quiet)('$contract', async ({ contract, ask }) => {
    const line = table.find(([of]) => of === contract) ?? [];
    expect(lineOf([contract, ...(await answersTo(ask))])).toBe(lineOf(line));
  });
});

// These kill the servers, or hang them.
describe('and then', () => {
  test.each(loud)('$contract', { timeout: 90_000 }, async ({ contract, ask }) => {
    const line = table.find(([of]) => of === contract) ?? [];
    expect(lineOf([contract, ...(await answersTo(ask))])).toBe(lineOf(line));
  });
});
