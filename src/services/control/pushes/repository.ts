import { sql } from 'kysely';
import type { Clock } from '../../../kit/clock.ts';
import type { RevisionStatus } from '../../../contract/control/revision-status.ts';
import { recordChange, theService } from '../store/audit.ts';
import { addRevision } from '../deployments/repository.ts';
import { lockDeployment } from '../revisions/work-repository.ts';
import type { ControlDatabase } from '../store/tables.ts';

/** A deployment whose branch is watched. */
export interface WatchedDeployment {
  id: string;
  repoUrl: string;
  ref: string;
  buildOnPush: boolean;
  latest: { id: string; status: RevisionStatus; commit: string | null };
  /** The last observed head of this branch. */
  seen: string | undefined;
}

/**
 * The deployments whose branches are polled: those of local folders, also while `build_on_push` is off, so that the
 * head is known when it is turned on; remote ones only while it is on, and without an integration.
 */
async function watched(db: ControlDatabase, which: 'folders' | 'all'): Promise<WatchedDeployment[]> {
  const repoUrl = sql<string>`deployments.source_config ->> 'repo_url'`;
  const buildOnPush = sql<boolean>`coalesce((deployments.source_config ->> 'build_on_push')::boolean, false)`;
  const isFolder = sql<boolean>`deployments.source_config ->> 'repo_url' ~ '^(/|file:)'`;
  const isOpen = sql<boolean>`${buildOnPush} and deployments.source_config ->> 'integration_id' is null`;
  const rows = await db
    .selectFrom('deployments')
    .innerJoin('revisions', 'revisions.id', 'deployments.latest_revision_id')
    .leftJoin('watched_branches', 'watched_branches.deployment_id', 'deployments.id')
    .select([
      'deployments.id',
      repoUrl.as('repo_url'),
      buildOnPush.as('build_on_push'),
      'deployments.source_revision_config',
      'revisions.id as latest_id',
      'revisions.status',
      'revisions.repo_commit_sha',
      'watched_branches.ref as seen_ref',
      'watched_branches.head',
    ])
    .where('deployments.source', '=', 'github')
    .where('deployments.deletion', '=', 'none')
    .where(which === 'all' ? sql<boolean>`(${isFolder} or (${isOpen}))` : isFolder)
    .execute();
  return rows.flatMap((row) => {
    const ref = row.source_revision_config.repo_ref;
    if (!ref) return [];
    const latest = { id: row.latest_id, status: row.status, commit: row.repo_commit_sha };
    const seen = row.seen_ref === ref ? (row.head ?? undefined) : undefined;
    return [{ id: row.id, repoUrl: row.repo_url, ref, buildOnPush: row.build_on_push, latest, seen }];
  });
}

async function wasBuilt(db: ControlDatabase, deploymentId: string, commit: string): Promise<boolean> {
  const found = await db
    .selectFrom('revisions')
    .select('id')
    .where('deployment_id', '=', deploymentId)
    .where('repo_commit_sha', '=', commit)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/** The decision on a head, and the state that it is based on. */
interface ProcessedPush {
  id: string;
  ref: string;
  head: string;
  latestRevisionId: string;
  buildOnPush: boolean;
  build: boolean;
}

/** Records a head and creates its revision; false where the deployment has changed since: the next poll decides. */
async function recordPush(db: ControlDatabase, clock: Clock, processed: ProcessedPush): Promise<boolean> {
  const { id, ref, head, latestRevisionId, buildOnPush, build } = processed;
  return db.transaction().execute(async (trx) => {
    const deployment = await lockDeployment(trx, id);
    if (deployment?.deletion !== 'none' || deployment.latest_revision_id !== latestRevisionId) return false;
    const { source_config, source_revision_config } = deployment;
    const isOn = source_config.build_on_push ?? false;
    if (source_revision_config.repo_ref !== ref || isOn !== buildOnPush) return false;
    const now = new Date(clock.now());
    await trx
      .insertInto('watched_branches')
      .values({ deployment_id: id, ref, head, seen_at: now })
      .onConflict((conflict) => conflict.column('deployment_id').doUpdateSet({ ref, head, seen_at: now }))
      .execute();
    if (!build) return false;
    const { latest } = await addRevision(trx, now, id, 'new', { kind: 'push', by: theService });
    await recordChange(trx, now, {
      tenantId: deployment.tenant_id,
      by: theService,
      operation: 'build push',
      subject: { deployment_id: id, deployment_name: deployment.name, revision_id: latest.id },
    });
    return true;
  });
}

/** The store's operations on branches and their heads. */
export const pushStore = (db: ControlDatabase, clock: Clock) => ({
  watched: (which: 'folders' | 'all') => watched(db, which),
  wasBuilt: (deploymentId: string, commit: string) => wasBuilt(db, deploymentId, commit),
  recordPush: (processed: ProcessedPush) => recordPush(db, clock, processed),
});
export type PushStore = ReturnType<typeof pushStore>;
