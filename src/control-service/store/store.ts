import type { Kysely } from 'kysely';
import type { Clock } from '../../clock.ts';
import type { RevisionStatus } from '../../contract/control/revision.ts';
import type { IdRange } from '../isolation/id-range.ts';
import type { DatabaseState } from '../rules/deployment-status.ts';
import type { KeyedWrite } from '../rules/idempotency-key.ts';
import { agentUids, agentUser } from './agent-users.ts';
import { changeDeployment, createDeployment, findDeployment } from './deployments.ts';
import {
  askDeletion,
  deletionsToCarryOut,
  finishDeletion,
  noteDeletionProblem,
  noteStopped,
  revisionIds,
} from './deletion.ts';
import { listDeployments } from './deployments-list.ts';
import type { DeploymentPage } from './deployments-list.ts';
import { eventsOf } from './events.ts';
import { findIntegration, listIntegrations, listRepositories, putIntegration } from './integrations.ts';
import type { NewIntegration } from './integrations.ts';
import { addListener, findListener, listListeners } from './listeners.ts';
import type { NewListener } from './listeners.ts';
import { appendLog, readLog, trimLog } from './log-lines.ts';
import type { LogPageQuery, NewLogLine } from './log-lines.ts';
import { controlSchema } from './migrations.ts';
import type { DeploymentChange, NewDeployment } from './records.ts';
import { activate, claimNextRevision, setDatabaseState, setStatus } from './revision-work.ts';
import type { StepDetails } from './revision-work.ts';
import {
  activeRevisions,
  deploymentsWithWork,
  findRevision,
  listRevisions,
  namedBuilds,
  noteCommit,
  revisionsWithBuild,
} from './revisions.ts';
import type { RevisionPage } from './revisions.ts';
import type { ControlTables, DeploymentRecord, LogKind } from './tables.ts';
import { addKey, addTenant, findKey, firstTenant, revokeKey } from './tenants.ts';
import type { StoredKey } from './tenants.ts';
import { addTracingProject, findTracingProject } from './tracing-projects.ts';
import { forgetOldKeys } from './write-keys.ts';

/**
 * All that the control service remembers, over a database that is migrated by `controlMigrations`. Each operation is
 * one statement or one transaction and safe under several processes; each is described where it is defined.
 */
export function createStore(database: Kysely<ControlTables>, clock: Clock) {
  const db = database.withSchema(controlSchema);
  const forgetOld = forgetOldKeys(db, clock);
  return {
    createDeployment: async (tenantId: string, asked: NewDeployment, keyed?: KeyedWrite) => {
      if (keyed) await forgetOld();
      return createDeployment(db, clock, tenantId, asked, keyed);
    },
    changeDeployment: async <Refusal>(
      tenantId: string,
      id: string,
      decide: (current: DeploymentRecord) => DeploymentChange | { refused: Refusal },
      keyed?: KeyedWrite,
    ) => {
      if (keyed) await forgetOld();
      return changeDeployment(db, clock, tenantId, id, decide, keyed);
    },
    findDeployment: (tenantId: string, id: string) => findDeployment(db, tenantId, id),
    listDeployments: (tenantId: string, query: DeploymentPage) => listDeployments(db, tenantId, query),
    /** A deployment of whichever tenant: for the work, not for a caller. */
    deployment: (id: string): Promise<DeploymentRecord | undefined> =>
      db.selectFrom('deployments').selectAll().where('id', '=', id).executeTakeFirst(),

    findRevision: (deploymentId: string, revisionId: string) => findRevision(db, deploymentId, revisionId),
    listRevisions: (deploymentId: string, page: RevisionPage) => listRevisions(db, deploymentId, page),
    eventsOf: (revisionId: string) => eventsOf(db, revisionId),

    claimNextRevision: (deploymentId: string) => claimNextRevision(db, clock, deploymentId),
    setStatus: (revisionId: string, from: readonly RevisionStatus[], to: RevisionStatus, details?: StepDetails) =>
      setStatus(db, clock, revisionId, from, to, details),
    activate: (deploymentId: string, revisionId: string) => activate(db, clock, deploymentId, revisionId),
    setDatabaseState: (deploymentId: string, state: DatabaseState) => setDatabaseState(db, clock, deploymentId, state),
    agentUser: (deploymentId: string, range: IdRange) => agentUser(db, deploymentId, range),
    agentUids: () => agentUids(db),
    deploymentsWithWork: () => deploymentsWithWork(db),
    activeRevisions: () => activeRevisions(db),
    revisionsWithBuild: (deploymentId: string) => revisionsWithBuild(db, deploymentId),
    namedBuilds: () => namedBuilds(db),
    noteCommit: (revisionId: string, commit: string) => noteCommit(db, clock, revisionId, commit),

    askDeletion: (tenantId: string, id: string, asked: { deleteTracingProject: boolean }) =>
      askDeletion(db, clock, tenantId, id, asked),
    deletionsToCarryOut: () => deletionsToCarryOut(db),
    noteStopped: (id: string) => noteStopped(db, clock, id),
    noteDeletionProblem: (id: string, problem: string) => noteDeletionProblem(db, clock, id, problem),
    finishDeletion: (id: string) => finishDeletion(db, id),
    revisionIds: (deploymentId: string) => revisionIds(db, deploymentId),

    appendLog: (revisionId: string, kind: LogKind, lines: readonly NewLogLine[]) =>
      appendLog(db, clock, revisionId, kind, lines),
    trimLog: (revisionId: string, kind: LogKind, keep?: number) => trimLog(db, revisionId, kind, keep),
    readLog: (revisionIds: readonly string[], kind: LogKind, query: LogPageQuery) =>
      readLog(db, revisionIds, kind, query),

    addListener: (tenantId: string, listener: NewListener) => addListener(db, clock, tenantId, listener),
    listListeners: (tenantId: string, page: { limit?: number | undefined; offset?: number | undefined }) =>
      listListeners(db, tenantId, page),
    findListener: (tenantId: string, id: string) => findListener(db, tenantId, id),

    putIntegration: (tenantId: string, integration: NewIntegration) => putIntegration(db, clock, tenantId, integration),
    listIntegrations: (tenantId: string) => listIntegrations(db, tenantId),
    findIntegration: (tenantId: string, id: string) => findIntegration(db, tenantId, id),
    listRepositories: (integrationId: string) => listRepositories(db, integrationId),

    addTenant: (name: string) => addTenant(db, clock, name),
    firstTenant: () => firstTenant(db),
    addKey: (key: StoredKey) => addKey(db, clock, key),
    findKey: (id: string) => findKey(db, id),
    revokeKey: (id: string) => revokeKey(db, clock, id),

    addTracingProject: (tenantId: string, name: string) => addTracingProject(db, clock, tenantId, name),
    findTracingProject: (tenantId: string, name: string) => findTracingProject(db, tenantId, name),
  };
}
export type ControlStore = ReturnType<typeof createStore>;
