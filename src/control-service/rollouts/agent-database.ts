import { ensureAgentDatabase, type AgentDatabase } from '../../database/databases.ts';
import type { DeploymentRecord } from '../store/tables.ts';

/**
 * The database that all revisions of a deployment keep their state in, and its one role. Both bear the deployment's id,
 * so that two services on one server do not meet.
 */
export function databaseOf({
  id,
  database_password,
  source_config,
}: Pick<DeploymentRecord, 'id' | 'database_password'> &
  Partial<Pick<DeploymentRecord, 'source_config'>>): AgentDatabase {
  const name = `landfall_agent_${id.replaceAll('-', '')}`;
  const connections = source_config?.resource_spec?.db_max_connections ?? undefined;
  return { database: name, role: name, password: database_password, connections };
}

/** Makes sure of a deployment's database and tells its address, which is a secret. */
export type EnsureDatabase = (deployment: DeploymentRecord) => Promise<string>;

/** On the server that `adminUrl` names; see `ensureAgentDatabase` for what its role has to be allowed. */
export const ensureOn =
  (adminUrl: string): EnsureDatabase =>
  (deployment) =>
    ensureAgentDatabase(adminUrl, databaseOf(deployment));
