import { randomUUID } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { ControlDatabase } from '../store/tables.ts';

/** A tenant as the operator sees it. */
export interface Tenant {
  id: string;
  name: string;
  created_at: Date;
}

/** Makes a tenant and answers its id. */
export async function addTenant(
  db: ControlDatabase,
  clock: Clock,
  name: string,
  id: string = randomUUID(),
): Promise<string> {
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

/** Every tenant, oldest first. */
export async function listTenants(db: ControlDatabase): Promise<Tenant[]> {
  return db.selectFrom('tenants').selectAll().orderBy('created_at').orderBy('id').execute();
}
