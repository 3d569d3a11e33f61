import type { Kysely, KyselyPlugin } from 'kysely';
import { type Clock, steadyNow } from '../../../kit/clock.ts';
import { keyStore } from '../api-keys/repository.ts';
import { tenantStore } from '../api-keys/operator-database.ts';
import { deletionStore } from '../deployments/deletion-repository.ts';
import { deploymentQueries } from '../deployments/queries.ts';
import { deploymentStore } from '../deployments/repository.ts';
import { healthStore } from '../health/repository.ts';
import { integrationStore } from '../integrations/repository.ts';
import { claimStore } from '../listeners/claims.ts';
import { listenerStore } from '../listeners/repository.ts';
import { claimWork, type Claimer } from '../listeners/work-repository.ts';
import { logStore } from '../logs/repository.ts';
import type { Logger } from '../../../kit/logger.ts';
import { pushStore } from '../pushes/repository.ts';
import { retentionStore } from '../retention/repository.ts';
import { holdStore } from '../revisions/hold-repository.ts';
import { revisionStore } from '../revisions/repository.ts';
import { revisionWorkStore } from '../revisions/work-repository.ts';
import { sessionStore } from '../sessions/repository.ts';
import { trustStore } from '../trust/repository.ts';
import { tracingStore } from '../tracing-projects/repository.ts';
import { uploadStore } from '../uploads/repository.ts';
import { smokeTestStore } from '../smoke-tests/repository.ts';
import { historyStore } from '../revisions/history-repository.ts';
import { summaryStore } from '../deployments/summary-repository.ts';
import { agentRecordStore } from './agent-records.ts';
import { agentUserStore } from './agent-users.ts';
import { listChanges, recordChange, type AuditedChange, type ChangesPage } from './audit.ts';
import { renameDatabases } from './database-names.ts';
import { controlSchema } from './migrations.ts';
import type { ControlDatabase, ControlTables, ListenerRecord } from './tables.ts';
import { deleteOldKeys } from './write-keys.ts';
import { writeOnce, type CallerWrite, type Recorder } from './write-once.ts';

/**
 * The control service's store, over a database that is migrated by `controlMigrations`. Each operation is one statement
 * or one transaction and safe with several processes; each is described at its definition.
 *
 * @param encryption encrypts secrets in the tables (`encryptionPlugin`); without it they are stored in plain text.
 */
export function createStore(database: Kysely<ControlTables>, clock: Clock, encryption?: KyselyPlugin) {
  const db = (encryption ? database.withPlugin(encryption) : database).withSchema(controlSchema);
  const deleteExpired = throttle(clock, () => deleteOldKeys(db, clock));
  return {
    ...operations(db, clock, deleteExpired),
    /** Does a caller's write once, with its record; see `writeOnce`. `within` uses its transaction. */
    once: async <T>(write: CallerWrite<T>, work: (within: StoreOperations, record: Recorder) => Promise<T>) => {
      await deleteExpired();
      return writeOnce(db, clock, write, (trx, record) =>
        work(
          operations(trx, clock, async () => {}),
          record,
        ),
      );
    },
  };
}
export type ControlStore = ReturnType<typeof createStore>;

/** The operations of a store, each by itself or all in one transaction. */
export type StoreOperations = ReturnType<typeof operations>;

function operations(db: ControlDatabase, clock: Clock, deleteExpired: () => Promise<void>) {
  return {
    ...deploymentStore(db, clock, deleteExpired),
    ...deploymentQueries(db),
    ...deletionStore(db, clock),
    ...revisionStore(db, clock),
    ...revisionWorkStore(db, clock),
    ...holdStore(db, clock),
    ...historyStore(db),
    ...summaryStore(db),
    ...smokeTestStore(db, clock),
    ...logStore(db, clock),
    uploads: uploadStore(db, clock),
    pushes: pushStore(db, clock),
    ...retentionStore(db, clock),

    ...listenerStore(db, clock),
    ...claimStore(db, clock),
    claimWork: (listener: ListenerRecord, claimer: Claimer) => claimWork(db, clock, listener, claimer),

    ...integrationStore(db, clock),
    ...tracingStore(db, clock),
    ...agentRecordStore(db),
    ...healthStore(db, clock),

    ...tenantStore(db, clock),
    ...keyStore(db, clock),
    ...sessionStore(db, clock),
    ...trustStore(db, clock),
    recordChange: (change: AuditedChange) => recordChange(db, new Date(clock.now()), change),
    listChanges: (tenantId: string, page: ChangesPage) => listChanges(db, tenantId, page),

    ...agentUserStore(db),
    renameDatabases: (log: Logger) => renameDatabases(db, log),
  };
}

const betweenMs = 3_600_000;

/** Creates a function that cleans up at its first call, and then at most once an hour. */
function throttle(clock: Clock, clean: () => Promise<void>): () => Promise<void> {
  let next = -Infinity;
  return async () => {
    const now = steadyNow(clock);
    if (now < next) return;
    next = now + betweenMs;
    await clean();
  };
}
