import { sql } from 'kysely';
import { verdictReported } from '../store/audit.ts';
import type { ControlDatabase } from '../store/tables.ts';

/** All that a summary shows of a deployment. */
export type SummaryRow = Awaited<ReturnType<ReturnType<typeof summaryStore>['summariesOf']>>[number];

export const summaryStore = (db: ControlDatabase) => ({
  /** The facts of the states of a tenant's deployments, by name. */
  listStates: (tenantId: string, nameContains?: string) => {
    let select = db
      .selectFrom('deployments')
      .leftJoin('revisions', 'revisions.id', 'deployments.latest_revision_id')
      .select([
        'deployments.id',
        'deployments.active_revision_id',
        'deployments.deletion',
        'revisions.status as latest',
        sql<boolean>`deployments.source = 'internal_source' and revisions.source_revision_config ->> 'source_tarball_path' is null`.as(
          'isWithoutSource',
        ),
      ])
      .where('deployments.tenant_id', '=', tenantId);
    if (nameContains !== undefined) {
      select = select.where(sql<number>`strpos(deployments.name, ${nameContains})`, '>', 0);
    }
    return select.orderBy(sql`deployments.name collate "C"`).execute();
  },

  /** What the summaries of these deployments show, in one statement. */
  summariesOf: async (tenantId: string, ids: readonly string[]) => {
    if (ids.length === 0) return [];
    return db
      .selectFrom('deployments')
      .leftJoin('revisions', 'revisions.id', 'deployments.active_revision_id')
      .leftJoinLateral(
        (query) =>
          query
            .selectFrom('audit')
            // Without the tenant, whose index would be chosen and read from its end: no other has records of its deployments.
            .select(['audit.at', 'audit.actor', 'audit.key_name', 'audit.operation'])
            .where(sql<boolean>`audit.subject ->> 'deployment_id' = deployments.id::text`)
            .where(sql<boolean>`audit.operation <> ${sql.lit(verdictReported)}`)
            .orderBy('audit.id', 'desc')
            .limit(1)
            .as('change'),
        (join) => join.onTrue(),
      )
      .leftJoinLateral(
        (query) =>
          query
            .selectFrom('verdicts')
            .select('verdicts.kind')
            .whereRef('verdicts.deployment_id', '=', 'deployments.id')
            .orderBy('verdicts.revision_sequence', 'desc')
            .orderBy('verdicts.sequence', 'desc')
            .limit(1)
            .as('verdict'),
        (join) => join.onTrue(),
      )
      .select([
        'deployments.id',
        'deployments.name',
        'deployments.source',
        'deployments.source_config',
        'deployments.latest_revision_id',
        'deployments.active_revision_id',
        'revisions.repo_commit_sha',
        'revisions.commit_subject',
        'revisions.commit_author',
        'revisions.commit_authored_at',
        'change.at',
        'change.actor',
        'change.key_name',
        'change.operation',
        'verdict.kind as verdict',
      ])
      .where('deployments.tenant_id', '=', tenantId)
      .where('deployments.id', 'in', ids)
      .execute();
  },
});
