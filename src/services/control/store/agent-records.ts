import type { ControlDatabase } from './tables.ts';

/** What a deployment's agents know that others must not. */
export interface AgentRecord {
  deploymentId: string;
  projectId: string | null;
  /** Those of the deployment now, and of some revisions. */
  secrets: readonly { value: string }[];
  databasePassword: string;
}

export const agentRecordStore = (db: ControlDatabase) => ({
  /** The agent of a deployment or tracing project, if any. @param revisionIds whose secrets count, too. */
  async agentRecord(by: { deploymentId: string } | { projectId: string }, revisionIds: readonly string[]) {
    const deployments = db
      .selectFrom('deployments')
      .select(['id', 'secrets', 'database_password', 'tracing_project_id']);
    const deployment = await (
      'projectId' in by
        ? deployments.where('tracing_project_id', '=', by.projectId)
        : deployments.where('id', '=', by.deploymentId)
    ).executeTakeFirst();
    if (!deployment) return undefined;
    const revisions =
      revisionIds.length === 0
        ? []
        : await db
            .selectFrom('revisions')
            .select('secrets')
            .where('deployment_id', '=', deployment.id)
            .where('id', 'in', revisionIds)
            .execute();
    return {
      deploymentId: deployment.id,
      projectId: deployment.tracing_project_id,
      secrets: [deployment, ...revisions].flatMap(({ secrets }) => secrets),
      databasePassword: deployment.database_password,
    };
  },
});
