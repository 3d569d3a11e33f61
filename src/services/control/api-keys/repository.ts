import type { Selectable } from 'kysely';
import type { Clock } from '../../../kit/clock.ts';
import { inTransaction } from '../store/statements.ts';
import type { ApiKeysTable } from '../store/access-tables.ts';
import type { ControlDatabase } from '../store/tables.ts';
import type { ApiKeyScope } from '../../../contract/control/api-key-scopes.ts';

/** A key to store: only its hash. */
export interface NewKey {
  id: string;
  tenant_id: string;
  /** Further tenants: then it is an organisation's key. */
  other_tenants?: readonly string[];
  hash: Buffer;
  name?: string;
  is_kept?: boolean;
  /** `admin` when absent. */
  scopes?: readonly ApiKeyScope[] | undefined;
  expires_at?: Date | null | undefined;
}

/** A stored key, with the facts for authentication; the first tenant, and all of them, oldest first. */
export type StoredKey = Pick<
  Selectable<ApiKeysTable>,
  'id' | 'name' | 'hash' | 'last_used_at' | 'scopes' | 'expires_at'
> & {
  tenant_id: string;
  tenant_ids: readonly string[];
};

/** A key in a list, with its tenants, oldest first. */
export type ListedKey = Omit<Selectable<ApiKeysTable>, 'hash' | 'revoked_at'> & { tenant_ids: readonly string[] };

/** The interval (ms) at which the last use of a key is recorded. */
export const useWrittenEvery = 5 * 60_000;

/** API keys. */
export function keyStore(db: ControlDatabase, clock: Clock) {
  /** Keys that were not revoked and have not expired. */
  const validKeys = () =>
    db
      .selectFrom('api_keys')
      .where('revoked_at', 'is', null)
      .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', new Date(clock.now()))]));

  const store = {
    /** Stores a key's hash; false where its id is taken, also by a revoked key. */
    async addKey(key: NewKey): Promise<boolean> {
      const { id, hash, tenant_id, other_tenants = [], name = 'unnamed', is_kept = false } = key;
      const { scopes = ['admin'], expires_at = null } = key;
      return inTransaction(db, async (trx) => {
        const added = await trx
          .insertInto('api_keys')
          .values({
            id,
            hash,
            name,
            is_kept,
            created_at: new Date(clock.now()),
            revoked_at: null,
            scopes: [...new Set(scopes)],
            expires_at,
          })
          .onConflict((conflict) => conflict.column('id').doNothing())
          .returning('id')
          .executeTakeFirst();
        if (!added) return false;
        const tenants = [...new Set([tenant_id, ...other_tenants])];
        await trx
          .insertInto('key_tenants')
          .values(tenants.map((tenant) => ({ tenant_id: tenant, key_id: id })))
          .execute();
        return true;
      });
    },

    /** The key of this id, unless it was revoked or has expired. */
    findKey: async (id: string): Promise<StoredKey | undefined> => {
      const rows = await validKeys()
        .innerJoin('key_tenants', 'key_tenants.key_id', 'api_keys.id')
        .innerJoin('tenants', 'tenants.id', 'key_tenants.tenant_id')
        .select(['api_keys.id', 'api_keys.name', 'hash', 'last_used_at', 'scopes', 'expires_at', 'tenant_id'])
        .where('api_keys.id', '=', id)
        .orderBy('tenants.created_at')
        .orderBy('tenants.id')
        .execute();
      const [first] = rows;
      return first && { ...first, tenant_ids: rows.map(({ tenant_id }) => tenant_id) };
    },

    /** Records the use of a key, unless that was done some minutes ago. */
    noteKeyUse: async ({ id, last_used_at }: Pick<StoredKey, 'id' | 'last_used_at'>): Promise<void> => {
      const now = clock.now();
      const due = new Date(now - useWrittenEvery);
      if (last_used_at !== null && last_used_at > due) return;
      await db
        .updateTable('api_keys')
        .set({ last_used_at: new Date(now) })
        .where('id', '=', id)
        .where((where) => where.or([where('last_used_at', 'is', null), where('last_used_at', '<=', due)]))
        .execute();
    },

    async markKept(id: string, name: string): Promise<void> {
      await db
        .updateTable('api_keys')
        .set({ is_kept: true, name })
        .where('id', '=', id)
        .where('is_kept', '=', false)
        .execute();
    },

    /** Valid keys, newest first: all of them, or those of a tenant. */
    async listKeys(
      tenantId?: string,
      { limit, offset = 0 }: { limit?: number | undefined; offset?: number | undefined } = {},
    ): Promise<ListedKey[]> {
      let select = validKeys().select(['id', 'name', 'is_kept', 'created_at', 'last_used_at', 'scopes', 'expires_at']);
      if (tenantId !== undefined) {
        select = select.where('id', 'in', (query) =>
          query.selectFrom('key_tenants').select('key_id').where('tenant_id', '=', tenantId),
        );
      }
      if (limit !== undefined) select = select.limit(limit);
      const keys = await select.orderBy('created_at', 'desc').orderBy('id').offset(offset).execute();
      if (keys.length === 0) return [];
      const ids = keys.map(({ id }) => id);
      const tenants = await db
        .selectFrom('key_tenants')
        .innerJoin('tenants', 'tenants.id', 'key_tenants.tenant_id')
        .select(['key_id', 'tenant_id'])
        .where('key_id', 'in', ids)
        .orderBy('tenants.created_at')
        .orderBy('tenants.id')
        .execute();
      return keys.map((key) => ({
        ...key,
        tenant_ids: tenants.filter(({ key_id }) => key_id === key.id).map(({ tenant_id }) => tenant_id),
      }));
    },

    /** The keys of a tenant under a lock: of two concurrent revocations the second one sees the result of the first. */
    async lockKeysOf(tenantId: string): Promise<ListedKey[]> {
      await db.selectFrom('tenants').select('id').where('id', '=', tenantId).forUpdate().execute();
      return store.listKeys(tenantId);
    },

    /** Revokes a key. False where there is no such key, or it was revoked before. */
    async revokeKey(id: string): Promise<boolean> {
      const revoked = await db
        .updateTable('api_keys')
        .set({ revoked_at: new Date(clock.now()) })
        .where('id', '=', id)
        .where('revoked_at', 'is', null)
        .returning('id')
        .executeTakeFirst();
      return revoked !== undefined;
    },
  };
  return store;
}
