import { silentLogger } from '../../../src/kit/logger.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { workMigrations, workMigrationTable, workSchema } from '../../../app/reconcile/migrations.ts';
import { PostgresStore } from '../../../app/reconcile/postgres-store.ts';
import { startReconcileWorkers } from '../../../app/create-app-work.ts';
import type { AppContext } from '../../../app/context.ts';
import { systemClock } from '../../../src/kit/clock.ts';
import { openDatabase, type Database } from '../../../src/kit/postgres/database.ts';
import { migrate } from '../../../src/kit/postgres/migrate.ts';
import { openQueue, type Queue } from '../../../src/kit/postgres/queue.ts';
import { startTestPostgres, type TestPostgres } from '../../kit/postgres/postgres.ts';
import { KeyedControl, QueueFixture, supportDeployment } from './queue-fixture.ts';
import { commitOf, requestOf } from './requests.ts';
import type { IntentFields } from '../../../app/reconcile/intent.ts';

let postgres: TestPostgres;
let database: Database<unknown>;

beforeAll(async () => {
  postgres = await startTestPostgres();
  database = openDatabase<unknown>({ url: postgres.url, max: 8 });
  await migrate(database.db, workMigrations, { schema: workSchema, table: workMigrationTable });
});
afterAll(async () => {
  await database.close();
  await postgres.stop();
});

const [a, b] = [commitOf('a'), commitOf('b')];

/** A context with one deployment on a real database, whose revisions go live at once. */
function contextOn(queue: Queue): { context: AppContext; fixture: QueueFixture; control: KeyedControl } {
  const fixture = new QueueFixture();
  const control = new KeyedControl(systemClock, () => fixture.githubApi.head_ ?? '');
  control.live = (commit) => [{ after: 0, status: 'DEPLOYED', ...(commit ? { commit } : {}) }];
  control.has(supportDeployment, [{ after: 0, status: 'DEPLOYED', commit: commitOf('0') }]);
  const store = new PostgresStore({ pool: database.pool, queue, clock: systemClock });
  return { context: { ...fixture.context, clock: systemClock, store, control }, fixture, control };
}

test('completes a push, and continues at once what a dead process left open', async () => {
  const queue = await openQueue({ url: postgres.url, log: silentLogger });
  try {
    const { context, fixture, control } = contextOn(queue);
    const { store } = context;
    fixture.githubApi.commits.push(a, b);
    fixture.githubApi.head_ = b;
    await store.request(requestOf(a, { deploymentId: 'd1', key: 'one' }));
    await store.request(requestOf(b, { deploymentId: 'd1', key: 'two' }));
    // A process took the lease and died; its job went with an older queue.
    expect(await store.takeLease('d1', 'dead', 60_000)).toBeDefined();
    await startReconcileWorkers({ queue, context, alone: true });
    await expect
      .poll(async () => (await store.lastIntents('d1', 5)).map(({ end }: IntentFields) => end?.kind))
      .toEqual(['deployed', 'superseded']);
    expect(control.service.revisions).toHaveLength(2);
    expect((await store.intentsOf('d1', a))[0]).toMatchObject({
      end: { by: { commit: b, contains: true }, liveIn: b },
    });
    expect(await store.pendingReports()).toHaveLength(3);
    expect(await store.busyDeployments()).toEqual([]);
  } finally {
    await queue.stop({ timeoutMs: 1_000 });
  }
});
