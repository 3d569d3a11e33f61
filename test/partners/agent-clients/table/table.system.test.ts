// The table of docs/design/agent-comparison.md: each row is a request to both servers.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { installPublicAgentServer } from '../../start-public-agent-server.ts';
import { assistantRows } from './assistant-rows.ts';
import { guarded, ourServer, thePublicServer, toReceiver } from './contender.ts';
import type { Contender } from './contender.ts';
import { guardedRows } from './guarded-rows.ts';
import { cronRows, killedRows, storeRows, systemRows } from './other-rows.ts';
import { lineOf, readTable } from './comparison-table.ts';
import { Asking } from './row.ts';
import type { Row } from './row.ts';
import { runRows } from './run-rows.ts';
import { threadRows } from './thread-rows.ts';
import { deadlyWebhookRows, strictWebhookRows, webhookRows } from './webhook-rows.ts';

// Most of a question is waiting, which many can do at once.
vi.setConfig({ maxConcurrency: 12 });
const quiet = [...assistantRows, ...threadRows, ...runRows, ...cronRows, ...storeRows, ...webhookRows, ...systemRows];
// These take their time, and the last of them kill the servers, or hang them.
const loud = [...deadlyWebhookRows, ...killedRows, ...strictWebhookRows];
const table = readTable();

let servers: Contender[] | undefined;
let withRules: Contender[] | undefined;
// Installing the public server takes as long as the registry does.
beforeAll(async () => {
  await installPublicAgentServer();
  [servers, withRules] = await Promise.all(
    [toReceiver, guarded].map((settings) => Promise.all([thePublicServer(settings), ourServer(settings)])),
  );
});
afterAll(async () => {
  for (const server of [...(servers ?? []), ...(withRules ?? [])]) await server.close();
});

const lineIn = (contract: string) => lineOf(table.find(([of]) => of === contract) ?? []);
const lineBy = async ({ contract, ask }: Row, requested: readonly Contender[] = []) =>
  lineOf([contract, ...(await Promise.all(requested.map((server) => ask(new Asking(server)))))]);

test('the table has the rows of this test in the same order', () => {
  expect(table.map(([contract]) => contract)).toEqual(
    [...quiet, ...guardedRows, ...loud].map(({ contract }) => contract),
  );
});

describe.concurrent('both servers answer as the table says', () => {
  test.each(quiet)('$contract', async (row) => {
    expect(await lineBy(row, servers)).toBe(lineIn(row.contract));
  });
  test.each(guardedRows)('$contract', async (row) => {
    expect(await lineBy(row, withRules)).toBe(lineIn(row.contract));
  });
});

describe('and then', () => {
  test.each(loud)('$contract', async (row) => {
    expect(await lineBy(row, servers)).toBe(lineIn(row.contract));
  });
});
