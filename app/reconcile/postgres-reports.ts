import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Queue } from '../../src/postgres/queue.ts';
import { storableJson } from '../inbox/storable-json.ts';
import { newReportRow, reportOf } from './postgres-rows.ts';
import type { Report, ReportPut } from './report.ts';
import type { WorkDatabase, WorkTransaction } from './tables.ts';
import type { RepositoryAt } from '../context.ts';

/** Job that sends a report. */
const reportJob = 'report';

/** Stores wanted reports, and sends a job for each that changed. */
export async function putReports(
  tx: WorkTransaction,
  queue: Pick<Queue, 'sendMany'>,
  puts: readonly ReportPut[],
): Promise<void> {
  const changed: string[] = [];
  for (const put of puts) {
    const row = await tx
      .insertInto('reports')
      .values(newReportRow(randomUUID(), put))
      .onConflict((conflict) =>
        conflict
          .constraint('reports_once')
          .doUpdateSet({ wanted: (of) => of.ref('excluded.wanted'), version: sql`reports.version + 1` })
          .whereRef('reports.wanted', 'is distinct from', 'excluded.wanted'),
      )
      .returning('id')
      .executeTakeFirst();
    if (row && !changed.includes(row.id)) changed.push(row.id);
  }
  await scheduleReport(tx, queue, changed);
}

/** Stores a report only where its version is still this one. */
export async function putReportAt(
  tx: WorkTransaction,
  queue: Pick<Queue, 'sendMany'>,
  put: ReportPut,
  version: number,
): Promise<void> {
  const wanted = storableJson(put.wanted);
  const row =
    version === 0
      ? await tx
          .insertInto('reports')
          .values(newReportRow(randomUUID(), put))
          .onConflict((conflict) => conflict.constraint('reports_once').doNothing())
          .returning('id')
          .executeTakeFirst()
      : await tx
          .updateTable('reports')
          .set({ wanted, version: version + 1 })
          .where('repository_id', '=', String(put.repository.repositoryId))
          .where('head_sha', '=', put.headSha)
          .where('name', '=', put.name)
          .where('version', '=', version)
          .where(sql<boolean>`wanted is distinct from ${wanted}::jsonb`)
          .returning('id')
          .executeTakeFirst();
  if (row) await scheduleReport(tx, queue, [row.id]);
}

async function scheduleReport(
  tx: WorkTransaction,
  queue: Pick<Queue, 'sendMany'>,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  await queue.sendMany(
    reportJob,
    ids.map((id) => ({ data: { id } })),
    { db: tx },
  );
}

/** Stores what was sent to GitHub. An older version does not overwrite a newer one. */
export async function storeReported(
  db: WorkDatabase,
  id: string,
  { version, at, githubId, reported }: Pick<Report, 'githubId' | 'reported'> & { version: number; at: number },
): Promise<void> {
  const words = reported === undefined ? null : storableJson(reported);
  await db
    .updateTable('reports')
    .set({
      reported_version: sql`greatest(reported_version, ${version}::integer)`,
      reported_at: at,
      github_id: sql`coalesce(${githubId ?? null}::bigint, github_id)`,
      reported: sql`case when ${version}::integer >= reported_version then coalesce(${words}::jsonb, reported) else reported end`,
    })
    .where('id', '=', id)
    .execute();
}

export async function findReport(db: WorkDatabase, id: string): Promise<Report | undefined> {
  const row = await db.selectFrom('reports').selectAll().where('id', '=', id).executeTakeFirst();
  return row && reportOf(row);
}

export async function findReportOf(
  db: WorkDatabase,
  repositoryId: number,
  headSha: string,
  name: string,
): Promise<Report | undefined> {
  const row = await db
    .selectFrom('reports')
    .selectAll()
    .where('repository_id', '=', String(repositoryId))
    .where('head_sha', '=', headSha)
    .where('name', '=', name)
    .executeTakeFirst();
  return row && reportOf(row);
}

export async function pendingReportIds(db: WorkDatabase): Promise<string[]> {
  const rows = await db.selectFrom('reports').select('id').whereRef('version', '>', 'reported_version').execute();
  return rows.map(({ id }) => id);
}

/** Intents that have not ended and all reports of a repository take its new place. */
export async function moveRepository(tx: WorkTransaction, repository: RepositoryAt): Promise<void> {
  const [id, at] = [String(repository.repositoryId), storableJson(repository)];
  await tx
    .updateTable('intents')
    .set({ repository: at })
    .where('repository_id', '=', id)
    .where('state', '<>', 'ended')
    .execute();
  await tx.updateTable('reports').set({ repository: at }).where('repository_id', '=', id).execute();
}

/** Removes what ended or was reported before a time (ms since the epoch), as `WorkStore.forget` says. */
export async function forgetOld(tx: WorkTransaction, before: number, keep: number): Promise<number> {
  const numbered = tx
    .selectFrom('intents')
    .select(['id', 'ended_at', sql<string>`row_number() over (partition by deployment_id order by seq desc)`.as('nth')])
    .as('numbered');
  const old = tx
    .selectFrom(numbered)
    .select('numbered.id')
    .where('numbered.ended_at', '<', before)
    .where('numbered.nth', '>', String(keep));
  const intents = await tx.deleteFrom('intents').where('id', 'in', old).executeTakeFirst();
  const reports = await tx
    .deleteFrom('reports')
    .whereRef('reported_version', '>=', 'version')
    .where('reported_at', '<', before)
    .where((of) =>
      of.not(
        of.exists(
          of
            .selectFrom('intents')
            .select('intents.id')
            .whereRef('intents.repository_id', '=', 'reports.repository_id')
            .whereRef('intents.commit', '=', 'reports.head_sha'),
        ),
      ),
    )
    .executeTakeFirst();
  return Number(intents.numDeletedRows) + Number(reports.numDeletedRows);
}
