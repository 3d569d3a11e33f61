import type { ControlStore } from '../store/store.ts';
import type { Retrying } from './retry-policy.ts';

/** The dependencies of the check. */
export interface DatabaseWatch {
  store: Pick<ControlStore, 'agentDatabases' | 'setDatabaseState'>;
  retrying: Retrying;
  /** The names of the agents' databases that are usable. */
  usable: () => Promise<Set<string>>;
}

/**
 * Checks the databases of agents, all at once in Postgres' catalogs, and records which of them have disappeared or
 * returned: someone may have dropped one, or locked its role. A missing one is not created here: the new database would
 * hide that its data is lost.
 */
export async function lookAtDatabases({ store, retrying, usable }: DatabaseWatch): Promise<void> {
  // Read before the list: a database that is created in between is in the list, and not taken for missing.
  const known = await retrying(() => store.agentDatabases());
  if (known.length === 0) return;
  const names = await retrying(usable);
  for (const { id, database_name, database_state } of known) {
    const state = names.has(database_name) ? 'ready' : 'unreachable';
    if (state !== database_state) await retrying(() => store.setDatabaseState(id, state));
  }
}
