import { type Kysely, sql, type QueryExecutorProvider } from 'kysely';
import type { Clock } from '../../../kit/clock.ts';
import { controlSchema } from '../store/migrations.ts';
import { createStore, type ControlStore } from '../store/store.ts';
import type { ControlTables } from '../store/tables.ts';
import { encryptionPlugin, encryptedTables } from './encryption-plugin.ts';
import { readCipher, envelopePrefix, encryptionKeyOf, WrongKeyError, type SecretCipher } from './cipher.ts';
import type { Logger } from '../../../kit/logger.ts';

export interface EncryptedStoreDependencies {
  env: Readonly<Record<string, string | undefined>>;
  dataDir: string;
  clock: Clock;
  log: Logger;
}

/**
 * Opens the store on a migrated database that no other service uses, after encrypting everything with the current key.
 * @throws WrongKeyError, or Error with advice, where the keys are not those of the encrypted secrets.
 */
export async function openEncryptedStore(
  database: Kysely<ControlTables>,
  { env, dataDir, clock, log }: EncryptedStoreDependencies,
): Promise<ControlStore> {
  const secretCipher = await readCipher({ env, dataDir, inUse: await encryptionKeysInUse(database, controlSchema) });
  const count = await reencrypt(database, controlSchema, secretCipher);
  if (count > 0) log.info(`${count} secret values are encrypted with the key ${secretCipher.keyId} now.`);
  return createStore(database, clock, encryptionPlugin(secretCipher));
}

type EncryptedTable = (typeof encryptedTables)[number];

/** The text of an encrypted column, of either type. */
const textOf = ({ column, storedAs }: EncryptedTable) =>
  storedAs === 'json' ? sql`(${sql.ref(column)} #>> '{}')` : sql.ref(column);

const atOnce = 500;

/** The ids of all keys of envelopes in the schema. */
async function encryptionKeysInUse(db: QueryExecutorProvider, schema: string): Promise<string[]> {
  const ids = new Set<string>();
  for (const place of encryptedTables) {
    const { rows } = await sql<{ begin: string }>`
      select distinct substr(${textOf(place)}, 1, ${sql.lit(envelopePrefix('0'.repeat(16)).length)}) as begin
      from ${sql.id(schema, place.table)} where ${textOf(place)} like 'sealed:v1:%'`.execute(db);
    for (const { begin } of rows) {
      const id = /^sealed:v1:([0-9a-f]{16}):$/.exec(begin)?.[1];
      if (id !== undefined) ids.add(id);
    }
  }
  return [...ids];
}

/**
 * Encrypts with the current key every value that is plain or encrypted with a previous key. Call it at the start, from
 * the only service on the database, on a connection without the encryption plugin. An interrupted run continues at the
 * next start.
 *
 * @returns how many values it encrypted.
 * @throws WrongKeyError where a value was encrypted with a key that `secretCipher` does not have: then nothing is
 * changed.
 */
async function reencrypt(db: QueryExecutorProvider, schema: string, secretCipher: SecretCipher): Promise<number> {
  const strange = (await encryptionKeysInUse(db, schema)).filter((id) => !secretCipher.keyIds.includes(id));
  if (strange.length > 0) throw new WrongKeyError(strange);
  let count = 0;
  for (const place of encryptedTables) count += await reencryptTable(db, schema, place, secretCipher);
  return count;
}

async function reencryptTable(
  db: QueryExecutorProvider,
  schema: string,
  place: EncryptedTable,
  secretCipher: SecretCipher,
): Promise<number> {
  const { table, column, storedAs } = place;
  const begin = `${envelopePrefix(secretCipher.keyId)}%`;
  let count = 0;
  for (;;) {
    const { rows } = await sql<{ at: string; value: string }>`
      select ctid::text as at, ${textOf(place)} as value from ${sql.id(schema, table)}
      where ${sql.ref(column)} is not null and ${textOf(place)} not like ${begin} limit ${sql.lit(atOnce)}`.execute(db);
    const sealed = rows.map(({ value }) => {
      const clear = encryptionKeyOf(value) === undefined ? value : secretCipher.decrypt(column, value);
      return secretCipher.encrypt(column, clear);
    });
    await sql`
      update ${sql.id(schema, table)} as row set ${sql.ref(column)} = ${storedAs === 'json' ? sql`to_jsonb(fresh.value)` : sql`fresh.value`}
      from unnest(${rows.map(({ at }) => at)}::text[]::tid[], ${sealed}::text[]) as fresh (at, value)
      where row.ctid = fresh.at`.execute(db);
    count += rows.length;
    if (rows.length < atOnce) return count;
  }
}
