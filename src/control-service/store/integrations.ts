import { randomUUID } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { ControlDatabase, IntegrationRecord, RepositoryRecord } from './tables.ts';

/** An installation of a GitHub App and the repositories that it reaches. */
export interface NewIntegration {
  /** GitHub's number of the installation. */
  installation_id: number;
  /** GitHub's name of the account. */
  name: string;
  repositories: { id: number; name: string; owner: string; url: string; default_branch?: string }[];
}

/** Makes an integration, or puts the name and the repositories of the one with this installation up to date. */
export async function putIntegration(
  db: ControlDatabase,
  clock: Clock,
  tenantId: string,
  { installation_id, name, repositories }: NewIntegration,
): Promise<IntegrationRecord> {
  return db.transaction().execute(async (trx) => {
    const integration = await trx
      .insertInto('integrations')
      .values({
        id: randomUUID(),
        tenant_id: tenantId,
        installation_id: String(installation_id),
        name,
        created_at: new Date(clock.now()),
      })
      .onConflict((conflict) => conflict.constraint('integrations_installation').doUpdateSet({ name }))
      .returningAll()
      .executeTakeFirstOrThrow();
    await trx.deleteFrom('repositories').where('integration_id', '=', integration.id).execute();
    const rows = repositories.map(({ id, default_branch = null, ...repository }) => ({
      ...repository,
      integration_id: integration.id,
      id: String(id),
      default_branch,
    }));
    if (rows.length > 0) await trx.insertInto('repositories').values(rows).execute();
    return integration;
  });
}

/** A tenant's integrations, oldest first. */
export async function listIntegrations(db: ControlDatabase, tenantId: string): Promise<IntegrationRecord[]> {
  return db
    .selectFrom('integrations')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

/** A tenant's integration. */
export async function findIntegration(
  db: ControlDatabase,
  tenantId: string,
  id: string,
): Promise<IntegrationRecord | undefined> {
  return db
    .selectFrom('integrations')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** The repositories that an integration reaches. */
export async function listRepositories(db: ControlDatabase, integrationId: string): Promise<RepositoryRecord[]> {
  return db.selectFrom('repositories').selectAll().where('integration_id', '=', integrationId).orderBy('id').execute();
}
