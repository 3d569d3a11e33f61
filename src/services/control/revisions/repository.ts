import type { Clock } from '../../../kit/clock.ts';
import type { RevisionsQuery } from '../../../contract/control/revision.ts';
import type { RevisionStatus } from '../../../contract/control/revision-status.ts';
import type { Commit } from '../builds/build.ts';
import { unfinishedStatuses } from './states.ts';
import type { ControlDatabase, DeploymentRecord, RevisionEvent, RevisionRecord } from '../store/tables.ts';

/** A query of revisions; with valid statuses only. */
export interface RevisionPage extends Pick<RevisionsQuery, 'limit' | 'offset'> {
  statuses?: readonly RevisionStatus[] | undefined;
}

export const revisionStore = (db: ControlDatabase, clock: Clock) => ({
  findRevision: (deploymentId: string, revisionId: string) => findRevision(db, deploymentId, revisionId),

  /** A revision of any deployment of a tenant. */
  async findRevisionOfTenant(tenantId: string, revisionId: string): Promise<RevisionRecord | undefined> {
    return db
      .selectFrom('revisions')
      .innerJoin('deployments', 'deployments.id', 'revisions.deployment_id')
      .selectAll('revisions')
      .where('revisions.id', '=', revisionId)
      .where('deployments.tenant_id', '=', tenantId)
      .executeTakeFirst();
  },

  /** Records that a revision's commit is built, and no build is copied. */
  async forgetBuildOf(revisionId: string): Promise<void> {
    await db.updateTable('revisions').set({ build_of: null }).where('id', '=', revisionId).execute();
  },

  /** Records the digest of a build (`builds/<id>`) once it was copied; null where it is made again. */
  async noteBuildDigest(build: string, digest: string | null): Promise<void> {
    await db.updateTable('revisions').set({ build_digest: digest }).where('build_folder', '=', build).execute();
  },

  /** A page of a deployment's revisions, newest first. */
  async listRevisions(deploymentId: string, { limit = 20, offset = 0, statuses }: RevisionPage) {
    if (statuses?.length === 0) return [];
    const select = revisionsOf(db, deploymentId).orderBy('sequence', 'desc').limit(limit).offset(offset);
    return (statuses ? select.where('status', 'in', statuses) : select).execute();
  },

  /** Every status of a revision, oldest first. */
  async eventsOf(revisionId: string): Promise<RevisionEvent[]> {
    return db.selectFrom('revision_events').selectAll().where('revision_id', '=', revisionId).orderBy('id').execute();
  },

  /** The ids of the deployments with a waiting or running revision, except those of listeners. */
  async deploymentsWithWork(): Promise<string[]> {
    const found = await db
      .selectFrom('revisions')
      .innerJoin('deployments', 'deployments.id', 'revisions.deployment_id')
      .select('revisions.deployment_id')
      .distinct()
      .where('revisions.status', 'in', unfinishedStatuses)
      .where('deployments.listener_id', 'is', null)
      .execute();
    return found.map(({ deployment_id }) => deployment_id);
  },

  /** Every deployment whose agents have a database of this machine, with its last known state. */
  agentDatabases: (): Promise<Pick<DeploymentRecord, 'id' | 'database_name' | 'database_state'>[]> =>
    db
      .selectFrom('deployments')
      .select(['id', 'database_name', 'database_state'])
      .where('database_state', '<>', 'absent')
      .where('deletion', '=', 'none')
      .where('listener_id', 'is', null)
      .execute(),

  /** The live deployments whose agents are scaled to zero when idle, with the seconds. */
  async idleTimes(): Promise<{ id: string; idle_after_seconds: number }[]> {
    const found = await db
      .selectFrom('deployments')
      .select(['id', 'idle_after_seconds'])
      .where('idle_after_seconds', 'is not', null)
      .where('active_revision_id', 'is not', null)
      .where('deletion', '=', 'none')
      .where('listener_id', 'is', null)
      .execute();
    return found.flatMap(({ id, idle_after_seconds }) =>
      idle_after_seconds === null ? [] : [{ id, idle_after_seconds }],
    );
  },

  /** Every deployment with its live revision, except those of listeners: their agents run in this service. */
  async activeRevisions(): Promise<{ deployment: DeploymentRecord; revision: RevisionRecord }[]> {
    const deployments = await db
      .selectFrom('deployments')
      .selectAll()
      .where('active_revision_id', 'is not', null)
      .where('deletion', '=', 'none')
      .where('listener_id', 'is', null)
      .orderBy('created_at')
      .execute();
    return withRevision(db, deployments, 'active_revision_id');
  },

  /** The deployment's revisions with a build on this machine, newest first. */
  revisionsWithBuild: (deploymentId: string) =>
    revisionsOf(db, deploymentId).where('build_folder', 'is not', null).orderBy('sequence', 'desc').execute(),

  /** Every build that a revision names, of any deployment. */
  async usedBuilds(): Promise<string[]> {
    const found = await db
      .selectFrom('revisions')
      .select('build_folder')
      .distinct()
      .where('build_folder', 'is not', null)
      .execute();
    return found.flatMap(({ build_folder }) => build_folder ?? []);
  },

  /** Records the commit of a revision, as soon as it is known. */
  async noteCommit(revisionId: string, { sha, subject, author, authoredAt }: Commit): Promise<void> {
    await db
      .updateTable('revisions')
      .set({
        repo_commit_sha: sha,
        commit_subject: subject,
        commit_author: author,
        commit_authored_at: authoredAt,
        updated_at: new Date(clock.now()),
      })
      .where('id', '=', revisionId)
      .execute();
  },
});

/** The unfinished revisions of a deployment, newest first. */
export const unfinishedOf = (trx: ControlDatabase, deploymentId: string) =>
  revisionsOf(trx, deploymentId).where('status', 'in', unfinishedStatuses).orderBy('sequence', 'desc').execute();

const revisionsOf = (db: ControlDatabase, deploymentId: string) =>
  db.selectFrom('revisions').selectAll().where('deployment_id', '=', deploymentId);

/** A revision of a deployment; undefined also where the id is null. */
export const findRevision = (db: ControlDatabase, deploymentId: string, id: string | null) =>
  revisionsOf(db, deploymentId).where('id', '=', id).executeTakeFirst();

/** Joins every deployment with one of the revisions that it names. */
export async function withRevision(
  db: ControlDatabase,
  deployments: readonly DeploymentRecord[],
  which: 'active_revision_id' | 'latest_revision_id',
): Promise<{ deployment: DeploymentRecord; revision: RevisionRecord }[]> {
  const ids = deployments.flatMap((deployment) => deployment[which] ?? []);
  if (ids.length === 0) return [];
  const revisions = await db.selectFrom('revisions').selectAll().where('id', 'in', ids).execute();
  const byId = new Map(revisions.map((revision) => [revision.id, revision]));
  return deployments.flatMap((deployment) => {
    const revision = byId.get(deployment[which] ?? '');
    return revision ? [{ deployment, revision }] : [];
  });
}
