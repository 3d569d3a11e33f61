import { randomUUID } from 'node:crypto';
import type { TakenBuild } from './records.ts';
import { wantedColumns } from './records.ts';
import type { ControlDatabase, DeploymentRecord, RevisionRecord } from './tables.ts';
import { recordEvent } from './events.ts';

/** Inserts a revision with a copy of all that the deployment is asked to be at this moment. */
export async function insertRevision(
  trx: ControlDatabase,
  now: Date,
  wanted: DeploymentRecord,
  taken?: TakenBuild,
): Promise<RevisionRecord> {
  const revision = await trx
    .insertInto('revisions')
    .values({
      id: randomUUID(),
      deployment_id: wanted.id,
      status: 'CREATING',
      status_message: null,
      source: wanted.source,
      ...wantedColumns(wanted),
      repo_commit_sha: taken?.repo_commit_sha ?? null,
      build_folder: taken?.build_folder ?? null,
      redeploy_of: taken?.redeploy_of ?? null,
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await recordEvent(trx, now, revision.id, 'CREATING');
  return revision;
}
