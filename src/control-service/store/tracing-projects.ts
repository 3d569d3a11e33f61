import { randomUUID } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { ControlDatabase } from './tables.ts';

/** A tenant's tracing project as it is told. */
export interface TracingProject {
  id: string;
  name: string;
  deployment_id: string | null;
}

/** The tracing project of this name. */
export async function findTracingProject(
  db: ControlDatabase,
  tenantId: string,
  name: string,
): Promise<TracingProject | undefined> {
  return db
    .selectFrom('tracing_projects')
    .select(['id', 'name', 'deployment_id'])
    .where('tenant_id', '=', tenantId)
    .where('name', '=', name)
    .executeTakeFirst();
}

/** Makes a tracing project that no deployment belongs to. */
export async function addTracingProject(
  db: ControlDatabase,
  clock: Clock,
  tenantId: string,
  name: string,
): Promise<string> {
  const id = randomUUID();
  await db
    .insertInto('tracing_projects')
    .values({ id, tenant_id: tenantId, name, deployment_id: null, created_at: new Date(clock.now()) })
    .execute();
  return id;
}
