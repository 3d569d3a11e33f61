import type { Kysely, KyselyPlugin } from 'kysely';
import { type Clock, steadyNow } from '../../clock.ts';
import type { RevisionStatus } from '../../contract/control/revision-status.ts';
import type { IdRange } from '../isolation/deployment-users.ts';
import type { DatabaseState } from '../deployments/status.ts';
import type { KeyedWrite } from '../validation/idempotency-key.ts';
import { listChanges, recordChange, type Change, type ChangesPage, type Doing } from './audit.ts';
import { agentUids, agentUser } from './agent-users.ts';
import { changeDeployment, createDeployment, findDeployment } from '../deployments/repository.ts';
import {
  askDeletion,
  deletionsToCarryOut,
  finishDeletion,
  noteDeletionProblem,
  noteStopped,
  revisionIds,
} from '../deployments/deletion-repository.ts';
import { listDeployments, type DeploymentPage } from '../deployments/list-query.ts';
import { eventsOf } from '../revisions/insert-revision.ts';
import { retentionStore } from '../retention/repository.ts';
import { integrationStore } from '../integrations/repository.ts';
import { keyStore } from '../api-keys/repository.ts';
import { claimWork, type Claimer } from '../listeners/work-repository.ts';
import { releaseClaim, renewClaim, reportWork, secretsOfClaim, type Report } from '../listeners/claims.ts';
import { listenerStore } from '../listeners/repository.ts';
import { logStore } from '../logs/repository.ts';
import { giveUp, noteLive } from '../revisions/live-revision.ts';
import { controlSchema } from './migrations.ts';
import type { DeploymentChange, NewDeployment } from './records.ts';
import { renameDatabases } from './database-names.ts';
import {
  activate,
  claimNextRevision,
  setDatabaseState,
  setStatus,
  type StepDetails,
} from '../revisions/work-repository.ts';
import {
  activeRevisions,
  agentDatabases,
  deploymentsWithWork,
  findRevision,
  listRevisions,
  namedBuilds,
  noteCommit,
  revisionsWithBuild,
  type RevisionPage,
} from '../revisions/repository.ts';
import type { ControlDatabase, ControlTables, DeploymentRecord, ListenerRecord } from './tables.ts';
import { tenantStore } from '../api-keys/operator-database.ts';
import { pushStore } from '../pushes/repository.ts';
import { uploadStore } from '../uploads/repository.ts';
import { tracingStore } from '../tracing-projects/repository.ts';
import { forgetOldKeys } from './write-keys.ts';
import { writeOnce, type CallerWrite, type Recorder } from './write-once.ts';
import type { Logger } from '../../logger.ts';

/**
 * The control service's store, over a database that is migrated by `controlMigrations`. Each operation is one statement or
 * one transaction and safe with several processes; each is described at its definition.
 *
 * @param encryption encrypts secrets in the tables (`encryptionPlugin`); without it they are stored in plain text.
 */
export function createStore(database: Kysely<ControlTables>, clock: Clock, encryption?: KyselyPlugin) {
  const db = (encryption ? database.withPlugin(encryption) : database).withSchema(controlSchema);
  const forgetOld = onceAWhile(clock, () => forgetOldKeys(db, clock));
  return {
    ...operations(db, clock, forgetOld),
    /** Does a caller's write once, with its record; see `writeOnce`. `within` uses its transaction. */
    once: async <T>(write: CallerWrite<T>, work: (within: StoreOperations, record: Recorder) => Promise<T>) => {
      await forgetOld();
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

function operations(db: ControlDatabase, clock: Clock, forgetOld: () => Promise<void>) {
  return {
    createDeployment: async (tenantId: string, requested: NewDeployment, keyed?: KeyedWrite, doing?: Doing) => {
      await forgetOld();
      return createDeployment(db, clock, tenantId, requested, keyed, doing);
    },
    changeDeployment: async <Refusal>(
      tenantId: string,
      id: string,
      decide: (current: DeploymentRecord) => DeploymentChange | { refused: Refusal },
      keyed?: KeyedWrite,
      doing?: Doing,
    ) => {
      await forgetOld();
      return changeDeployment(db, clock, tenantId, id, decide, keyed, doing);
    },
    findDeployment: (tenantId: string, id: string) => findDeployment(db, tenantId, id),
    listDeployments: (tenantId: string, query: DeploymentPage) => listDeployments(db, tenantId, query),
    /** A deployment of any tenant: for internal work, not for a caller. */
    deployment: (id: string): Promise<DeploymentRecord | undefined> =>
      db.selectFrom('deployments').selectAll().where('id', '=', id).executeTakeFirst(),

    /** The tenant of a deployment. */
    tenantOf: async (id: string): Promise<string | undefined> =>
      (await db.selectFrom('deployments').select('tenant_id').where('id', '=', id).executeTakeFirst())?.tenant_id,

    findRevision: (deploymentId: string, revisionId: string) => findRevision(db, deploymentId, revisionId),
    listRevisions: (deploymentId: string, page: RevisionPage) => listRevisions(db, deploymentId, page),
    eventsOf: (revisionId: string) => eventsOf(db, revisionId),

    claimNextRevision: (deploymentId: string) => claimNextRevision(db, clock, deploymentId),
    setStatus: (revisionId: string, from: readonly RevisionStatus[], to: RevisionStatus, details?: StepDetails) =>
      setStatus(db, clock, revisionId, from, to, details),
    activate: (deploymentId: string, revisionId: string, imageVersion?: string | null) =>
      activate(db, clock, deploymentId, revisionId, imageVersion),
    setDatabaseState: (deploymentId: string, state: DatabaseState) => setDatabaseState(db, clock, deploymentId, state),
    noteLive: (revisionId: string, message: string | null) => noteLive(db, clock, revisionId, message),
    giveUp: (deploymentId: string, revisionId: string, message: string) =>
      giveUp(db, clock, deploymentId, revisionId, message),
    agentUser: (deploymentId: string, range: IdRange) => agentUser(db, deploymentId, range),
    agentUids: () => agentUids(db),
    agentDatabases: () => agentDatabases(db),
    renameDatabases: (log: Logger) => renameDatabases(db, log),
    deploymentsWithWork: () => deploymentsWithWork(db),
    activeRevisions: () => activeRevisions(db),
    revisionsWithBuild: (deploymentId: string) => revisionsWithBuild(db, deploymentId),
    namedBuilds: () => namedBuilds(db),
    noteCommit: (revisionId: string, commit: string) => noteCommit(db, clock, revisionId, commit),

    askDeletion: (
      tenantId: string,
      id: string,
      requested: { deleteTracingProject: boolean; withoutListener?: boolean },
    ) => askDeletion(db, clock, tenantId, id, requested),
    deletionsToCarryOut: () => deletionsToCarryOut(db),
    noteStopped: (id: string) => noteStopped(db, clock, id),
    noteDeletionProblem: (id: string, problem: string) => noteDeletionProblem(db, clock, id, problem),
    finishDeletion: (id: string) => finishDeletion(db, id),
    revisionIds: (deploymentId: string) => revisionIds(db, deploymentId),

    uploads: uploadStore(db, clock),
    pushes: pushStore(db, clock),
    ...retentionStore(db, clock),

    ...logStore(db, clock),
    ...listenerStore(db, clock),
    claimWork: (listener: ListenerRecord, claimer: Claimer) => claimWork(db, clock, listener, claimer),
    renewClaim: (listenerId: string, claimId: string) => renewClaim(db, clock, listenerId, claimId),
    reportWork: (listenerId: string, claimId: string, report: Report) =>
      reportWork(db, clock, listenerId, claimId, report),
    secretsOfClaim: (listenerId: string, claimId: string) => secretsOfClaim(db, listenerId, claimId),
    releaseClaim: (listenerId: string, claimId: string, how: { isUndone: boolean }) =>
      releaseClaim(db, clock, listenerId, claimId, how),

    ...integrationStore(db, clock),

    ...tenantStore(db, clock),
    ...keyStore(db, clock),
    recordChange: (change: Change) => recordChange(db, new Date(clock.now()), change),
    listChanges: (tenantId: string, page: ChangesPage) => listChanges(db, tenantId, page),

    ...tracingStore(db, clock),
  };
}

/** The shortest interval between two cleanups (ms). */
const betweenMs = 3_600_000;

/** Creates a function that cleans up at its first call, and then at most once an hour. */
function onceAWhile(clock: Clock, clean: () => Promise<void>): () => Promise<void> {
  let next = -Infinity;
  return async () => {
    const now = steadyNow(clock);
    if (now < next) return;
    next = now + betweenMs;
    await clean();
  };
}
