import type { Kysely } from 'kysely';
import type { Clock } from '../../clock.ts';
import { controlSchema } from '../store/migrations.ts';
import { createStore } from '../store/store.ts';
import type { ControlStore } from '../store/store.ts';
import type { ControlTables } from '../store/tables.ts';
import { reencrypt, encryptionKeysInUse } from './reencrypt.ts';
import { encryptionPlugin } from './encryption-plugin.ts';
import { readCipher } from './secrets-key.ts';

/** Where the encryption key comes from, and where messages go. */
export interface SealedStoreSettings {
  env: Readonly<Record<string, string | undefined>>;
  dataDir: string;
  clock: Clock;
  log: (message: string) => void;
}

/**
 * Opens the store of a service on a migrated database that no other service uses. Values that are plain or encrypted with
 * a former key are encrypted with the current one first.
 *
 * @throws WrongKeyError, or Error with advice, where the keys are not those of the encrypted secrets.
 */
export async function openSealedStore(
  database: Kysely<ControlTables>,
  { env, dataDir, clock, log }: SealedStoreSettings,
): Promise<ControlStore> {
  const secretCipher = await readCipher({ env, dataDir, inUse: await encryptionKeysInUse(database, controlSchema) });
  const count = await reencrypt(database, controlSchema, secretCipher);
  if (count > 0) log(`${count} secret values are encrypted with the key ${secretCipher.keyId} now.`);
  return createStore(database, clock, encryptionPlugin(secretCipher));
}
