import {
  ensureAgentDatabase,
  usableDatabases,
  usualConnections,
  type AgentDatabase,
} from '../../postgres/databases.ts';
import { databasePrefix } from '../store/database-names.ts';
import type { DeploymentRecord } from '../store/tables.ts';

/**
 * The database that all revisions of a deployment keep their state in, and its one role, of the same name: one by which
 * two services on one server do not meet. Every role of the server reads the names of all others, so it says nothing.
 */
export function databaseOf({
  database_name,
  database_password,
  source_config,
}: Pick<DeploymentRecord, 'database_name' | 'database_password'> &
  Partial<Pick<DeploymentRecord, 'source_config'>>): AgentDatabase {
  // 0 is not given, as in a cluster: a role without connections could not log in.
  const connections = source_config?.resource_spec?.db_max_connections || undefined;
  return { database: database_name, role: database_name, password: database_password, connections };
}

/** Creates a deployment's database where needed and returns its address, which is a secret. */
export type EnsureDatabase = (deployment: DeploymentRecord) => Promise<string>;

/** The folder of the socket by which a deployment comes to its database, with at most so many connections at once. */
export type WayToDatabase = (deployment: { id: string }, connections: number) => Promise<string>;

/** Further connections, which have not logged in: the server bounds those that have. */
const connectionsForLogin = 4;

/** On the server that `adminUrl` names; see `ensureAgentDatabase` for what its role has to be allowed. */
export const ensureOn =
  (adminUrl: string, wayTo?: WayToDatabase): EnsureDatabase =>
  async (deployment) => {
    const database = databaseOf(deployment);
    const url = new URL(await ensureAgentDatabase(adminUrl, database));
    const host = await wayTo?.(deployment, (database.connections ?? usualConnections) + connectionsForLogin);
    if (host !== undefined) url.searchParams.set('host', host);
    return url.href;
  };

/** The names of the agents' databases that their roles can use at the moment. */
export const usableAgentDatabases = (adminUrl: string): Promise<Set<string>> =>
  usableDatabases(adminUrl, databasePrefix);
