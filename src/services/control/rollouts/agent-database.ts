import {
  ensureAgentDatabase,
  usableDatabases,
  usualConnections,
  type AgentDatabase,
} from '../../../kit/postgres/databases.ts';
import { databasePrefix } from '../store/database-names.ts';
import type { ControlStore } from '../store/store.ts';
import type { Retrying } from './retry-policy.ts';
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

/** The folder of the socket through which a deployment reaches its database, and its connection limit. */
export type WayToDatabase = (deployment: { id: string }, connections: number) => Promise<string>;

/** Connections beyond the limit that have not logged in: the server limits those that have. */
const connectionsForLogin = 4;

/** Creates a deployment's database where needed, on the server of `adminUrl`; returns its address, which is a secret. */
export const ensureOn =
  (adminUrl: string, wayTo: WayToDatabase | undefined) =>
  async (deployment: DeploymentRecord): Promise<string> => {
    const database = databaseOf(deployment);
    const url = new URL(await ensureAgentDatabase(adminUrl, database));
    const host = await wayTo?.(deployment, (database.connections ?? usualConnections) + connectionsForLogin);
    if (host !== undefined) url.searchParams.set('host', host);
    return url.href;
  };

/**
 * Checks all agents' databases and records which have disappeared or returned. A missing one is not created here: the
 * new database would hide that its data is lost.
 */
export async function recordDatabaseStates({
  store,
  retrying,
  adminDatabaseUrl,
}: {
  store: ControlStore;
  retrying: Retrying;
  adminDatabaseUrl: string;
}): Promise<void> {
  // Read before the list: a database that is created in between is in the list, and not taken for missing.
  const known = await retrying(() => store.agentDatabases());
  if (known.length === 0) return;
  const names = await retrying(() => usableDatabases(adminDatabaseUrl, databasePrefix));
  for (const { id, database_name, database_state } of known) {
    const state = names.has(database_name) ? 'ready' : 'unreachable';
    if (state !== database_state) await retrying(() => store.setDatabaseState(id, state));
  }
}
