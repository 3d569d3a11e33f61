import type { ControlStore } from '../store/store.ts';
import type { Retrying } from './retry-policy.ts';

/** What looking at the agents' databases stands on. */
export interface DatabaseWatch {
  store: Pick<ControlStore, 'agentDatabases' | 'setDatabaseState'>;
  retrying: Retrying;
  /** The names of the agents' databases that can be used. */
  usable: () => Promise<Set<string>>;
}

/**
 * Looks at the databases that agents keep their state in, all at once by the server's own lists, and writes down which of
 * them have gone or come back: somebody may have dropped one, or locked its role. One that is gone is not made again
 * here, for nobody could see then that what was in it is lost.
 */
export async function lookAtDatabases({ store, retrying, usable }: DatabaseWatch): Promise<void> {
  // Before the list: one that is made meanwhile is in the list, and the other way round it would pass for gone.
  const known = await retrying(() => store.agentDatabases());
  if (known.length === 0) return;
  const names = await retrying(usable);
  for (const { id, database_name, database_state } of known) {
    const state = names.has(database_name) ? 'ready' : 'unreachable';
    if (state !== database_state) await retrying(() => store.setDatabaseState(id, state));
  }
}
