import { afterAll, beforeAll, expect, test } from 'vitest';
import { workMigrations, workMigrationTable, workSchema } from '../../../app/work/migrations.ts';
import { PostgresStore } from '../../../app/work/postgres-store.ts';
import { workOnLanes } from '../../../app/work/workers.ts';
import type { World } from '../../../app/world.ts';
import { systemClock } from '../../../src/clock.ts';
import { openDatabase, type Database } from '../../../src/database/database.ts';
import { migrate } from '../../../src/database/migrate.ts';
import { openQueue, type Queue } from '../../../src/database/queue.ts';
import { startTestPostgres, type TestPostgres } from '../../database/postgres.ts';
import { KeyedControl, LaneHouse, supportDeployment } from './lane-house.ts';
import { commitOf, wishOf } from './wishes.ts';

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

/** A world of one deployment on a real database, in which a revision goes live at once. */
function worldOn(queue: Queue): { world: World; house: LaneHouse; control: KeyedControl } {
  const house = new LaneHouse();
  const control = new KeyedControl(systemClock, () => house.hub.head_ ?? '');
  control.live = (commit) => [{ after: 0, status: 'DEPLOYED', ...(commit ? { commit } : {}) }];
  control.has(supportDeployment, [{ after: 0, status: 'DEPLOYED', commit: commitOf('0') }]);
  const store = new PostgresStore({ pool: database.pool, queue, clock: systemClock });
  return { world: { ...house.world, clock: systemClock, store, control }, house, control };
}

test('a push goes from the queue to its end, and what a dead process held is gone on with at once', async () => {
  const queue = await openQueue({ url: postgres.url, log: () => undefined });
  try {
    const { world, house, control } = worldOn(queue);
    const { store } = world;
    house.hub.commits.push(a, b);
    house.hub.head_ = b;
    await store.wish(wishOf(a, { deploymentId: 'd1', key: 'one' }));
    await store.wish(wishOf(b, { deploymentId: 'd1', key: 'two' }));
    // A process took the lane up and died; its job went with an older queue.
    expect(await store.takeLease('d1', 'dead', 60_000)).toBeDefined();
    await workOnLanes({ queue, world, alone: true });
    await expect
      .poll(async () => (await store.lastIntents('d1', 5)).map(({ end }) => end?.kind), { timeout: 15_000 })
      .toEqual(['deployed', 'superseded']);
    expect(control.service.revisions).toHaveLength(2);
    expect((await store.intentsOf('d1', a))[0]?.end).toMatchObject({ by: { commit: b, contains: true }, liveIn: b });
    expect(await store.untoldReports()).toHaveLength(3);
    expect(await store.busyDeployments()).toEqual([]);
  } finally {
    await queue.stop({ timeoutMs: 1_000 });
  }
});
