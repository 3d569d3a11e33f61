import { sql } from 'kysely';
import type { DeploymentsQuery, DeploymentStatus } from '../../../contract/control/deployment.ts';
import { withRevision } from '../revisions/repository.ts';
import type { DeploymentView } from '../store/records.ts';
import type { ControlDatabase, DeploymentRecord } from '../store/tables.ts';

/** The default number of entries in a page. */
export const defaultPageSize = 20;

/** A query of deployments; with valid statuses only. */
export interface DeploymentPage extends Omit<DeploymentsQuery, 'status' | 'tag_value_ids'> {
  statuses?: readonly DeploymentStatus[] | undefined;
}

export const deploymentQueries = (db: ControlDatabase) => ({
  async findDeployment(tenantId: string, id: string): Promise<DeploymentView | undefined> {
    const found = await db
      .selectFrom('deployments')
      .selectAll()
      .where('id', '=', id)
      .where('tenant_id', '=', tenantId)
      .execute();
    const [view] = await withLatest(db, found);
    return view;
  },

  /** A page of a tenant's deployments, newest first. */
  async listDeployments(tenantId: string, query: DeploymentPage): Promise<DeploymentView[]> {
    let select = db.selectFrom('deployments').selectAll().where('tenant_id', '=', tenantId);
    if (query.name !== undefined) select = select.where('name', '=', query.name);
    if (query.name_contains !== undefined) {
      select = select.where(sql<number>`strpos(name, ${query.name_contains})`, '>', 0);
    }
    if (query.statuses?.length === 0 || query.deployment_ids?.length === 0) return [];
    if (query.statuses !== undefined) select = select.where('status', 'in', query.statuses);
    if (query.deployment_ids !== undefined) select = select.where('id', 'in', query.deployment_ids);
    if (query.image_version !== undefined) select = select.where('image_version', '=', query.image_version);
    if (query.deployment_type !== undefined) {
      select = select.where(sql<string>`source_config ->> 'deployment_type'`, '=', query.deployment_type);
    }
    if (query.remote_reconciled !== undefined) {
      select = select.where('listener_id', query.remote_reconciled ? 'is not' : 'is', null);
    }
    const page = await select
      .orderBy('created_at', 'desc')
      .orderBy('id')
      .limit(query.limit ?? defaultPageSize)
      .offset(query.offset ?? 0)
      .execute();
    return withLatest(db, page);
  },

  /** A deployment of any tenant, for internal use only. */
  deployment: (id: string): Promise<DeploymentRecord | undefined> =>
    db.selectFrom('deployments').selectAll().where('id', '=', id).executeTakeFirst(),

  tenantOf: async (id: string): Promise<string | undefined> =>
    (await db.selectFrom('deployments').select('tenant_id').where('id', '=', id).executeTakeFirst())?.tenant_id,
});

/** Joins every deployment with its latest revision. */
export async function withLatest(
  db: ControlDatabase,
  deployments: readonly DeploymentRecord[],
): Promise<DeploymentView[]> {
  const joined = await withRevision(db, deployments, 'latest_revision_id');
  return joined.map(({ deployment, revision }) => ({ deployment, latest: revision }));
}
