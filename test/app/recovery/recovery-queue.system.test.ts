import { silentLogger } from '../../../src/kit/logger.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { intervalMs, recoveryJob, startRecovery } from '../../../app/recovery/recovery-job.ts';
import type { RecoveryClients } from '../../../app/recovery/recover.ts';
import { systemClock } from '../../../src/kit/clock.ts';
import { openDatabase, type Database } from '../../../src/kit/postgres/database.ts';
import { openQueue, type Queue } from '../../../src/kit/postgres/queue.ts';
import { startTestPostgres, type TestPostgres } from '../../kit/postgres/postgres.ts';
import { HandlerFixture } from '../events/handler-fixture.ts';

let postgres: TestPostgres;
let database: Database<object>;
const queues: Queue[] = [];
beforeAll(async () => {
  postgres = await startTestPostgres();
  database = openDatabase({ url: postgres.url, max: 2, applicationName: 'test', log: silentLogger });
  for (let copy = 0; copy < 2; copy += 1) queues.push(await openQueue({ url: postgres.url, log: silentLogger }));
});
afterAll(async () => {
  await Promise.all(queues.map((queue) => queue.stop()));
  await database.close();
  await postgres.stop();
});

async function* nothing(): AsyncGenerator<never> {
  yield* [];
}
const none = nothing();

test('two copies on one database do a run once, and schedule one job for the next', async () => {
  // In the middle of a slot to come: no edge of one passes while the test runs, and the next job is not due yet.
  const now = (Math.floor(systemClock.now() / intervalMs) + 1.55) * intervalMs;
  const context = { ...new HandlerFixture().context, clock: { ...systemClock, now: () => now } };
  const ran = Promise.withResolvers<void>();
  let runs = 0;
  const clients: RecoveryClients = {
    deliveries: {
      page: async () => {
        runs += 1;
        ran.resolve();
        return { deliveries: [] };
      },
      requestRedelivery: async () => undefined,
    },
    inbox: { neverReceived: async () => [], prune: async () => 0 },
    repositories: { repositories: () => none },
    enqueueReports: async () => undefined,
  };
  await Promise.all(queues.map((queue) => startRecovery(queue, context, clients, new AbortController().signal)));
  await ran.promise;
  const jobs = async () =>
    (
      await database.pool.query<{ state: string; data: object; start_after: Date }>(
        `select state::text, data, start_after from pgboss.job where name = $1 order by start_after`,
        [recoveryJob],
      )
    ).rows;
  await expect.poll(async () => (await jobs()).map(({ state }) => state).toSorted()).toEqual(['completed', 'created']);
  const next = (await jobs()).find(({ state }) => state === 'created');
  expect(runs).toBe(1);
  const slot = Math.floor(now / intervalMs) + 1;
  expect(next?.data).toEqual({ slot, since: now });
  // As long from now as by the clock of the copies, whatever time it is there.
  const waitMs = (next?.start_after.getTime() ?? 0) - systemClock.now();
  expect(Math.abs(waitMs - (slot * intervalMs - now))).toBeLessThan(30_000);
});
