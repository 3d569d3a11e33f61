import { randomUUID } from 'node:crypto';
import { missingSource } from '../deployments/validation/redeploy.ts';
import { requestedColumns, type PinnedBuild, type ReusedBuild } from '../store/records.ts';
import type { CauseKind, ControlDatabase, DeploymentRecord, RevisionRecord } from '../store/tables.ts';
import type { RevisionStatus } from '../../../contract/control/revision-status.ts';
import type { Actor } from '../store/audit.ts';

/** Records a revision's new status. */
export async function recordEvent(
  trx: ControlDatabase,
  at: Date,
  revisionId: string,
  status: RevisionStatus,
  message: string | null = null,
): Promise<void> {
  await trx.insertInto('revision_events').values({ revision_id: revisionId, status, message, at }).execute();
}

/** Inserts a revision with a copy of the deployment's requested state. */
export async function insertRevision(
  trx: ControlDatabase,
  now: Date,
  deployment: DeploymentRecord,
  cause: Cause,
  { build, hold }: { build?: ReusedBuild | PinnedBuild | undefined; hold?: number | undefined },
): Promise<RevisionRecord> {
  const path = deployment.source_revision_config.source_tarball_path;
  const upload = path
    ? await trx.selectFrom('uploads').select('digest').where('object_path', '=', path).executeTakeFirst()
    : undefined;
  const reused = build && 'redeploy_of' in build ? build : undefined;
  const message = missingSource(deployment) ?? (await listenerMessage(trx, deployment));
  const revision = await trx
    .insertInto('revisions')
    .values({
      id: randomUUID(),
      deployment_id: deployment.id,
      status: 'CREATING',
      status_message: message,
      source: deployment.source,
      ...requestedColumns(deployment),
      repo_commit_sha: build?.repo_commit_sha ?? null,
      commit_subject: build?.commit_subject ?? null,
      commit_author: build?.commit_author ?? null,
      commit_authored_at: build?.commit_authored_at ?? null,
      source_tarball_digest: upload?.digest ?? null,
      build_folder: reused?.build_folder ?? null,
      build_warnings: reused?.build_warnings ?? [],
      build_of: build?.build_of ?? null,
      build_digest: reused?.build_digest ?? null,
      redeploy_of: reused?.redeploy_of ?? null,
      ...causeColumns(cause),
      hold_seconds: hold ?? null,
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await recordEvent(trx, now, revision.id, 'CREATING', message);
  return revision;
}

/** The message of a revision that waits for a listener; null where no listener serves its deployment. */
async function listenerMessage(trx: ControlDatabase, { listener_id }: Pick<DeploymentRecord, 'listener_id'>) {
  if (listener_id === null) return null;
  const listener = await trx
    .selectFrom('listeners')
    .select('compute_id')
    .where('id', '=', listener_id)
    .executeTakeFirstOrThrow();
  return `Waits for the listener ${listener.compute_id}: landfall listener, beside its cluster, carries it out.`;
}

/** The cause of a new revision, and who caused it. */
export interface Cause {
  kind: Exclude<CauseKind, 'unknown'>;
  by: Actor;
}

/** The kind of a redeploy: a rollback, unless that revision or its build is the latest or the live one. */
export function redeployKind(
  { redeploy_of, build_folder }: Pick<ReusedBuild, 'redeploy_of' | 'build_folder'>,
  latestAndLive: readonly Pick<RevisionRecord, 'id' | 'build_folder'>[],
): 'redeploy' | 'rollback' {
  const isCurrent = latestAndLive.some(
    (current) => current.id === redeploy_of || (build_folder !== null && current.build_folder === build_folder),
  );
  return isCurrent ? 'redeploy' : 'rollback';
}

/** The columns that store a cause. */
const causeColumns = ({ kind, by }: Cause) => ({
  cause: kind,
  cause_actor: by.kind,
  cause_key_id: by.kind === 'key' ? by.keyId : null,
  cause_key_name: by.kind === 'key' ? by.keyName : null,
});
