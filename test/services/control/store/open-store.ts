import { randomBytes } from 'node:crypto';
import { secretCipher, encryptionKey } from '../../../../src/services/control/encryption/cipher.ts';
import { encryptionPlugin } from '../../../../src/services/control/encryption/encryption-plugin.ts';
import { controlMigrations, controlSchema } from '../../../../src/services/control/store/migrations.ts';
import { createStore } from '../../../../src/services/control/store/store.ts';
import type { ControlStore } from '../../../../src/services/control/store/store.ts';
import type { ControlTables } from '../../../../src/services/control/store/tables.ts';
import type { Clock } from '../../../../src/kit/clock.ts';
import { openDatabase } from '../../../../src/kit/postgres/database.ts';
import { migrate } from '../../../../src/kit/postgres/migrate.ts';
import { startTestPostgres } from '../../../kit/postgres/postgres.ts';

/** A store on an empty database of its own. */
export interface TestStore {
  store: ControlStore;
  /** Address of the database. */
  url: string;
  /** Removes the database. */
  close(): Promise<void>;
}

/** Encrypts with a key generated for this run. */
export const testCipher = secretCipher(encryptionKey(randomBytes(32)));

/** A clock that advances by a millisecond on every read, so that all times differ. */
function tickingClock(from = Date.UTC(2030, 0, 1)): Clock {
  let now = from;
  return { now: () => (now += 1), sleep: () => Promise.resolve() };
}

/** Opens a migrated store on a fresh database. */
export async function openTestStore(clock: Clock = tickingClock()): Promise<TestStore> {
  const postgres = await startTestPostgres();
  const database = openDatabase<ControlTables>({ url: postgres.url });
  await migrate(database.db, controlMigrations, { schema: controlSchema });
  return {
    store: createStore(database.db, clock, encryptionPlugin(testCipher)),
    url: postgres.url,
    close: async () => {
      await database.close();
      await postgres.stop();
    },
  };
}
