import { randomUUID } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { ControlDatabase } from './tables.ts';

/** Makes a tenant and answers its id. */
export async function addTenant(db: ControlDatabase, clock: Clock, name: string): Promise<string> {
  const id = randomUUID();
  await db
    .insertInto('tenants')
    .values({ id, name, created_at: new Date(clock.now()) })
    .execute();
  return id;
}

/** The tenant that was made first, if there is one. */
export async function firstTenant(db: ControlDatabase): Promise<string | undefined> {
  const found = await db.selectFrom('tenants').select('id').orderBy('created_at').limit(1).executeTakeFirst();
  return found?.id;
}

/** A key as it is kept: only the hash of its secret part. */
export interface StoredKey {
  id: string;
  tenant_id: string;
  hash: Buffer;
}

/** Keeps a key's hash; false where its id is taken, by a key that was revoked too. */
export async function addKey(db: ControlDatabase, clock: Clock, key: StoredKey): Promise<boolean> {
  const added = await db
    .insertInto('api_keys')
    .values({ ...key, created_at: new Date(clock.now()), revoked_at: null })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .executeTakeFirst();
  return added !== undefined;
}

/** The key of this id, unless it was revoked. */
export async function findKey(db: ControlDatabase, id: string): Promise<StoredKey | undefined> {
  return db
    .selectFrom('api_keys')
    .select(['id', 'tenant_id', 'hash'])
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
}

/** Ends a key: from now on it opens nothing. */
export async function revokeKey(db: ControlDatabase, clock: Clock, id: string): Promise<void> {
  await db
    .updateTable('api_keys')
    .set({ revoked_at: new Date(clock.now()) })
    .where('id', '=', id)
    .execute();
}
