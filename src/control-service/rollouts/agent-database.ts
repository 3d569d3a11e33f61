import { ensureAgentDatabase, usableDatabases, type AgentDatabase } from '../../database/databases.ts';
import type { DeploymentRecord } from '../store/tables.ts';

/** What the names of all agents' databases begin with. */
const prefix = 'landfall_agent_';

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
  const name = `${prefix}${id.replaceAll('-', '')}`;
  // 0 is not given, as in a cluster: a role without connections could not log in.
  const connections = source_config?.resource_spec?.db_max_connections || undefined;
  return { database: name, role: name, password: database_password, connections };
}

/** Makes sure of a deployment's database and tells its address, which is a secret. */
export type EnsureDatabase = (deployment: DeploymentRecord) => Promise<string>;

/** On the server that `adminUrl` names; see `ensureAgentDatabase` for what its role has to be allowed. */
export const ensureOn =
  (adminUrl: string): EnsureDatabase =>
  (deployment) =>
    ensureAgentDatabase(adminUrl, databaseOf(deployment));

/** The names of the agents' databases that their roles can use at the moment. */
export const usableAgentDatabases = (adminUrl: string): Promise<Set<string>> => usableDatabases(adminUrl, prefix);
