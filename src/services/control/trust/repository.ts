import type { Insertable, Selectable } from 'kysely';
import type { Clock } from '../../../kit/clock.ts';
import type { TrustPoliciesTable } from '../store/access-tables.ts';
import type { ControlDatabase } from '../store/tables.ts';

/** What is read of a policy, and shown to its tenant. */
const columns = [
  'id',
  'name',
  'issuer',
  'audience',
  'claims',
  'scopes',
  'key_minutes',
  'created_at',
  'last_used_at',
] as const;

/** A policy as it is stored. */
export type StoredPolicy = Pick<Selectable<TrustPoliciesTable>, (typeof columns)[number]>;

/** Trust policies, and the tokens that were exchanged by them. */
export const trustStore = (db: ControlDatabase, clock: Clock) => ({
  async addTrustPolicy(policy: Omit<Insertable<TrustPoliciesTable>, 'created_at' | 'id'>): Promise<StoredPolicy> {
    return db
      .insertInto('trust_policies')
      .values({ ...policy, created_at: new Date(clock.now()) })
      .returning(columns)
      .executeTakeFirstOrThrow();
  },

  /** A tenant's policies, newest first. */
  listTrustPolicies: async (
    tenantId: string,
    { limit, offset }: { limit: number; offset: number },
  ): Promise<StoredPolicy[]> =>
    db
      .selectFrom('trust_policies')
      .select(columns)
      .where('tenant_id', '=', tenantId)
      .orderBy('created_at', 'desc')
      .orderBy('id')
      .limit(limit)
      .offset(offset)
      .execute(),

  /** Removes a tenant's policy. @returns its name; undefined where there is none */
  async deleteTrustPolicy(tenantId: string, id: string): Promise<string | undefined> {
    const removed = await db
      .deleteFrom('trust_policies')
      .where('tenant_id', '=', tenantId)
      .where('id', '=', id)
      .returning('name')
      .executeTakeFirst();
    return removed?.name;
  },

  /** A tenant's policies for tokens of an issuer. */
  trustPoliciesFor: async (issuer: string, tenantId: string): Promise<StoredPolicy[]> =>
    db
      .selectFrom('trust_policies')
      .select(columns)
      .where('tenant_id', '=', tenantId)
      .where('issuer', '=', issuer)
      .orderBy('created_at')
      .execute(),

  /** Records that a token is exchanged; false where it was before. */
  async useToken(digest: Buffer, expiresAt: Date): Promise<boolean> {
    const added = await db
      .insertInto('used_tokens')
      .values({ digest, expires_at: expiresAt })
      .onConflict((conflict) => conflict.doNothing())
      .returning('digest')
      .executeTakeFirst();
    return added !== undefined;
  },

  async notePolicyUse(ids: readonly string[]): Promise<void> {
    await db
      .updateTable('trust_policies')
      .set({ last_used_at: new Date(clock.now()) })
      .where('id', 'in', ids)
      .execute();
  },
});
