import {
  ensureAgentDatabase,
  usableDatabases,
  usualConnections,
  type AgentDatabase,
} from '../../../kit/postgres/databases.ts';
import { databasePrefix } from '../store/database-names.ts';
import type { ControlStore } from '../store/store.ts';
import type { Retry } from './retry-policy.ts';
import type { DeploymentRecord } from '../store/tables.ts';

/**
 * The name of the database that all revisions of a deployment share, and of its one role: unique among services on one
 * server. Every role of the server can read the names of all others, so it contains no information.
 */
export function databaseOf(
  deployment: Pick<DeploymentRecord, 'database_name' | 'database_password'> & Partial<DeploymentRecord>,
): AgentDatabase {
  const { database_name, database_password, source_config } = deployment;
  // 0 is not allowed, as in a cluster: a role without connections could not log in.
  const connections = source_config?.resource_spec?.db_max_connections || undefined;
  return { database: database_name, role: database_name, password: database_password, connections };
}

/** Opens a relay that limits a deployment's connections to its database; resolves with the folder of its socket. */
export type WayToDatabase = (deployment: { id: string }, connections: number) => Promise<string>;

/** Connections beyond the limit that have not logged in: the server limits those that have. */
const connectionsForLogin = 4;

/**
 * Returns a function that creates a deployment's database on the server of `adminUrl` where it is missing. Its result is
 * the URL of the database, a secret.
 */
export const ensureDatabaseOn =
  (adminUrl: string, openSocketFolder: WayToDatabase | undefined) =>
  async (deployment: DeploymentRecord): Promise<string> => {
    const database = databaseOf(deployment);
    const url = new URL(await ensureAgentDatabase(adminUrl, database));
    const host = await openSocketFolder?.(deployment, (database.connections ?? usualConnections) + connectionsForLogin);
    if (host !== undefined) url.searchParams.set('host', host);
    return url.href;
  };

/**
 * Checks all agents' databases and records which have disappeared or returned. A missing one is not created here: the
 * new database would hide that its data is lost.
 */
export async function recordDatabaseStates({
  store,
  retry,
  adminDatabaseUrl,
}: {
  store: ControlStore;
  retry: Retry;
  adminDatabaseUrl: string;
}): Promise<void> {
  // Read these before the server's list: then a database that is created in between is not recorded as missing.
  const databases = await retry(() => store.agentDatabases());
  if (databases.length === 0) return;
  const usableNames = await retry(() => usableDatabases(adminDatabaseUrl, databasePrefix));
  for (const { id, database_name, database_state } of databases) {
    const state = usableNames.has(database_name) ? 'ready' : 'unreachable';
    if (state !== database_state) await retry(() => store.setDatabaseState(id, state));
  }
}
