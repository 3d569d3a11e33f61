import { controlMigrations, controlSchema } from '../../../src/control-service/store/migrations.ts';
import { createStore } from '../../../src/control-service/store/store.ts';
import type { ControlStore } from '../../../src/control-service/store/store.ts';
import type { ControlTables } from '../../../src/control-service/store/tables.ts';
import type { Clock } from '../../../src/clock.ts';
import { openDatabase } from '../../../src/database/database.ts';
import { migrate } from '../../../src/database/migrate.ts';
import { startTestPostgres } from '../../database/postgres.ts';

/** A store on an empty database of its own. */
export interface TestStore {
  store: ControlStore;
  /** Removes the database. */
  close(): Promise<void>;
}

/** A clock that goes on by a millisecond whenever it is asked, so that no two moments are the same. */
export function tickingClock(from = Date.UTC(2030, 0, 1)): Clock {
  let now = from;
  return { now: () => (now += 1), sleep: () => Promise.resolve() };
}

/** Opens a migrated store on a fresh database. */
export async function openTestStore(clock: Clock = tickingClock()): Promise<TestStore> {
  const postgres = await startTestPostgres();
  const database = openDatabase<ControlTables>({ url: postgres.url });
  await migrate(database.db, controlMigrations, { schema: controlSchema });
  return {
    store: createStore(database.db, clock),
    close: async () => {
      await database.close();
      await postgres.stop();
    },
  };
}
