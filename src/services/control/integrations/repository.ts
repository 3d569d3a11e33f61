import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../kit/clock.ts';
import type { InstalledRepository, Installation } from './github-app.ts';
import { inTransaction } from '../store/statements.ts';
import type { ControlDatabase, IntegrationRecord, RepositoryRecord } from '../store/tables.ts';

/** The rows per insert: a statement may have 65,535 values. */
const maxRowsPerInsert = 5_000;

/** The integrations that a tenant sees: bound to it, and neither suspended nor uninstalled when last read. */
const visibleIntegrations = (db: ControlDatabase, tenantId: string) =>
  db
    .selectFrom('integrations')
    .leftJoin('github_installations', 'github_installations.id', 'integrations.installation_id')
    .selectAll('integrations')
    .where('integrations.tenant_id', '=', tenantId)
    .where('integrations.unbound_at', 'is', null)
    .where((where) =>
      where.or([
        where('github_installations.id', 'is', null),
        where.and([
          where('github_installations.is_gone', '=', false),
          where('github_installations.is_suspended', '=', false),
        ]),
      ]),
    );

const newIntegration = (tenant_id: string, installationId: number, name: string, created_at: Date) => ({
  id: randomUUID(),
  tenant_id,
  installation_id: String(installationId),
  name,
  created_at,
  unbound_at: null,
});

/** An installation with its tenants, for the operator. */
export interface InstallationBinding {
  installation_id: string;
  account: string;
  is_suspended: boolean;
  is_gone: boolean;
  tenant_ids: string[];
}

export const integrationStore = (db: ControlDatabase, clock: Clock) => ({
  /** Binds an installation to a tenant. If it was bound before, its integration has the same id again. */
  bindInstallation: (tenantId: string, installationId: number, name: string): Promise<IntegrationRecord> =>
    db
      .insertInto('integrations')
      .values(newIntegration(tenantId, installationId, name, new Date(clock.now())))
      .onConflict((conflict) =>
        conflict.constraint('integrations_installation').doUpdateSet({ name, unbound_at: null }),
      )
      .returningAll()
      .executeTakeFirstOrThrow(),

  /** Unbinds an installation from a tenant; false where it was not bound. */
  async unbindInstallation(tenantId: string, installationId: number): Promise<boolean> {
    const unbound = await db
      .updateTable('integrations')
      .set({ unbound_at: new Date(clock.now()) })
      .where('tenant_id', '=', tenantId)
      .where('installation_id', '=', String(installationId))
      .where('unbound_at', 'is', null)
      .returning('id')
      .executeTakeFirst();
    return unbound !== undefined;
  },

  /**
   * Stores the current list of installations; marks missing ones as uninstalled. Binds every one that was never bound to
   * the only tenant; with several tenants, the operator binds them.
   */
  async putInstallations(installations: readonly Installation[]): Promise<void> {
    const now = new Date(clock.now());
    await inTransaction(db, async (trx) => {
      await trx.updateTable('github_installations').set({ is_gone: true }).execute();
      for (const { id, account, isSuspended } of installations) {
        const values = { account, is_suspended: isSuspended, is_gone: false, seen_at: now };
        await trx
          .insertInto('github_installations')
          .values({ id: String(id), ...values })
          .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
          .execute();
        await trx
          .updateTable('integrations')
          .set({ name: account })
          .where('installation_id', '=', String(id))
          .where('name', '<>', account)
          .execute();
      }
      const [only, another] = await trx.selectFrom('tenants').select('id').limit(2).execute();
      if (!only || another) return;
      for (const { id, account } of installations) {
        await trx
          .insertInto('integrations')
          .values(newIntegration(only.id, id, account, now))
          .onConflict((conflict) => conflict.constraint('integrations_installation').doNothing())
          .execute();
      }
    });
  },

  async putRepositories(integrationId: string, repositories: readonly InstalledRepository[]): Promise<void> {
    await inTransaction(db, async (trx) => {
      await trx.deleteFrom('repositories').where('integration_id', '=', integrationId).execute();
      const rows = repositories.map(({ id, defaultBranch, ...repository }) => ({
        ...repository,
        integration_id: integrationId,
        id: String(id),
        default_branch: defaultBranch,
      }));
      for (let from = 0; from < rows.length; from += maxRowsPerInsert) {
        await trx
          .insertInto('repositories')
          .values(rows.slice(from, from + maxRowsPerInsert))
          .onConflict((conflict) => conflict.doNothing())
          .execute();
      }
    });
  },

  /** A tenant's integrations, oldest first. */
  async listIntegrations(tenantId: string): Promise<IntegrationRecord[]> {
    return visibleIntegrations(db, tenantId).orderBy('integrations.created_at').orderBy('integrations.id').execute();
  },

  async findIntegration(tenantId: string, id: string): Promise<IntegrationRecord | undefined> {
    return visibleIntegrations(db, tenantId).where('integrations.id', '=', id).executeTakeFirst();
  },

  listRepositories: (integrationId: string): Promise<RepositoryRecord[]> =>
    db.selectFrom('repositories').selectAll().where('integration_id', '=', integrationId).orderBy('id').execute(),

  /** Every installation that was ever listed or bound, by its number. */
  async listInstallations(): Promise<InstallationBinding[]> {
    const installations = await db.selectFrom('github_installations').selectAll().execute();
    const bindings = await db
      .selectFrom('integrations')
      .select(['installation_id', 'name', 'tenant_id'])
      .where('unbound_at', 'is', null)
      .orderBy('created_at')
      .execute();
    const byId = new Map<string, InstallationBinding>();
    for (const { id, account, is_suspended, is_gone } of installations) {
      byId.set(id, { installation_id: id, account, is_suspended, is_gone, tenant_ids: [] });
    }
    for (const { installation_id, name, tenant_id } of bindings) {
      const unlisted = { installation_id, account: name, is_suspended: false, is_gone: false, tenant_ids: [] };
      const entry = byId.get(installation_id) ?? unlisted;
      entry.tenant_ids.push(tenant_id);
      byId.set(installation_id, entry);
    }
    return [...byId.values()].toSorted((one, other) => Number(one.installation_id) - Number(other.installation_id));
  },
});
