import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { assistantStore } from '../../../../src/services/agent/assistants/store.ts';
import { cronStore } from '../../../../src/services/agent/crons/store.ts';
import { runQueue } from '../../../../src/services/agent/runs/queue.ts';
import { openStorage, type Storage } from '../../../../src/services/agent/storage/open.ts';
import { liveThreadCondition } from '../../../../src/services/agent/threads/lifetime.ts';
import { Deliveries } from '../../../../src/services/agent/webhooks/deliveries.ts';
import { systemClock } from '../../../../src/kit/clock.ts';
import { silentLogger } from '../../../../src/kit/logger.ts';
import { startTestPostgres, type TestPostgres } from '../../../kit/postgres/postgres.ts';

const processId = randomUUID();
let postgres: TestPostgres;
let storage: Storage;
beforeAll(async () => {
  postgres = await startTestPostgres();
  storage = await openStorage(postgres.url, processId, silentLogger);
});
afterAll(async () => {
  await storage.close();
  await postgres.stop();
});

const now = new Date();

test.each<[table: string, read: () => Promise<unknown>]>([
  [
    'runs',
    () => runQueue(storage, processId, systemClock).claimable({ inHand: [], hasRoom: true, graphs: ['a'], limit: 10 }),
  ],
  [
    'crons',
    () =>
      cronStore(
        storage,
        liveThreadCondition(() => 'false', systemClock),
      ).due(now, 10),
  ],
  ['assistants', () => assistantStore(storage, systemClock).get('a')],
  [
    'webhook_deliveries',
    () => new Deliveries(storage).claim({ now: now.getTime(), forMs: 1_000, limit: 10, notTo: [] }),
  ],
])('%s are read on, also once a later revision has added a column', async (table, read) => {
  const before = await read();
  await storage.pool.query(`alter table ${table} add column of_a_later_revision text`);
  expect(await read()).toEqual(before);
});
