import type { Selectable } from 'kysely';
import type { Clock } from '../../../kit/clock.ts';
import { useWrittenEvery } from '../api-keys/repository.ts';
import { inTransaction, keepNewest } from '../store/statements.ts';
import type { ControlDatabase } from '../store/tables.ts';
import type { SessionsTable } from '../store/access-tables.ts';

/** How long a session lasts without a request (ms). */
export const sessionIdleMs = 12 * 3_600_000;

/** The most sessions of a key; the oldest ends. */
const maxSessions = 100;

export type StoredSession = Pick<Selectable<SessionsTable>, 'hash' | 'key_id' | 'tenant_id' | 'last_used_at'>;

/** Sessions of browsers. */
export const sessionStore = (db: ControlDatabase, clock: Clock) => ({
  /** Stores a new session; undefined where its key was revoked. */
  addSession(session: Omit<StoredSession, 'last_used_at'>): Promise<StoredSession | undefined> {
    const now = new Date(clock.now());
    return inTransaction(db, async (trx) => {
      const key = await trx
        .selectFrom('api_keys')
        .select('id')
        .where('id', '=', session.key_id)
        .where('revoked_at', 'is', null)
        .forUpdate()
        .executeTakeFirst();
      if (!key) return undefined;
      const where = ['key_id', key.id] as const;
      await keepNewest(trx, { table: 'sessions', key: 'hash', where, order: 'created_at', max: maxSessions - 1 });
      const added = { ...session, last_used_at: now };
      await trx
        .insertInto('sessions')
        .values({ ...added, created_at: now })
        .execute();
      return added;
    });
  },

  /** The session with one of these hashes that has not ended; undefined where there are several. */
  async findSession(hashes: readonly Buffer[]): Promise<StoredSession | undefined> {
    const found = await db
      .selectFrom('sessions')
      .select(['hash', 'key_id', 'tenant_id', 'last_used_at'])
      .where('hash', 'in', hashes)
      .where('last_used_at', '>', new Date(clock.now() - sessionIdleMs))
      .execute();
    return found.length === 1 ? found[0] : undefined;
  },

  /** Records the use of a session, unless a recent use is recorded. @returns the recorded time. */
  async noteSessionUse({ hash, last_used_at }: Pick<StoredSession, 'hash' | 'last_used_at'>): Promise<Date> {
    const now = new Date(clock.now());
    if (now.getTime() - last_used_at.getTime() < useWrittenEvery) return last_used_at;
    await db.updateTable('sessions').set({ last_used_at: now }).where('hash', '=', hash).execute();
    return now;
  },

  /** Changes the tenant of a session; false where its key has no access to that tenant. */
  async chooseSessionTenant({ hash, key_id }: StoredSession, tenantId: string): Promise<boolean> {
    const { numUpdatedRows } = await db
      .updateTable('sessions')
      .set({ tenant_id: tenantId })
      .where('hash', '=', hash)
      .where((where) =>
        where.exists(
          where
            .selectFrom('key_tenants')
            .select('key_id')
            .where('key_id', '=', key_id)
            .where('tenant_id', '=', tenantId),
        ),
      )
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  },

  /** Ends sessions. */
  async endSessions(hashes: readonly Buffer[]): Promise<void> {
    if (hashes.length > 0) await db.deleteFrom('sessions').where('hash', 'in', hashes).execute();
  },

  /** The tenants of a key, oldest first. */
  tenantsOfKey: (keyId: string): Promise<{ id: string; name: string }[]> =>
    db
      .selectFrom('key_tenants')
      .innerJoin('tenants', 'tenants.id', 'key_tenants.tenant_id')
      .select(['tenants.id', 'tenants.name'])
      .where('key_id', '=', keyId)
      .orderBy('tenants.created_at')
      .orderBy('tenants.id')
      .execute(),
});
export type SessionStore = ReturnType<typeof sessionStore>;
