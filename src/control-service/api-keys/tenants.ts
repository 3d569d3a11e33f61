import { randomUUID } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { ControlDatabase } from '../store/tables.ts';

/** A tenant as the operator sees it. */
export interface Tenant {
  id: string;
  name: string;
  created_at: Date;
}

/** Tenants. */
export const tenantStore = (db: ControlDatabase, clock: Clock) => ({
  /** Makes a tenant and answers its id. */
  async addTenant(name: string, id: string = randomUUID()): Promise<string> {
    await db
      .insertInto('tenants')
      .values({ id, name, created_at: new Date(clock.now()) })
      .execute();
    return id;
  },

  /** The tenant that was made first, if there is one. */
  async firstTenant(): Promise<string | undefined> {
    const found = await db.selectFrom('tenants').select('id').orderBy('created_at').limit(1).executeTakeFirst();
    return found?.id;
  },

  /** Every tenant, oldest first. */
  async listTenants(): Promise<Tenant[]> {
    return db.selectFrom('tenants').selectAll().orderBy('created_at').orderBy('id').execute();
  },
});
