import { type ExpressionBuilder, sql } from 'kysely';
import type { Pool } from 'pg';
import type { Clock } from '../../src/kit/clock.ts';
import type { Queue } from '../../src/kit/postgres/queue.ts';
import { fromJson, storableJson } from '../../src/kit/json-text.ts';
import type { InstallationRepository } from '../github/github-api.ts';
import { PostgresReports } from '../reconcile/postgres-reports.ts';
import type { DesiredReport } from '../reconcile/report.ts';
import type { WorkTables, WorkTransaction } from '../reconcile/tables.ts';
import type { Preview, PreviewedPull, PullKey, PreviewKey } from './preview.ts';
import {
  keptGoneMs,
  previewJobs,
  pullJob,
  RunSuperseded,
  type PreviewRequest,
  type PreviewRun,
  type PreviewStore,
  type PullNews,
} from './preview-store.ts';
import { newPreviewRow, previewOfRow, pullOf } from './preview-tables.ts';

export interface PostgresPreviewsOptions {
  /** The pool of the database, whose tables are there: `workMigrations` and `previewMigrations`. */
  pool: Pool;
  /** In the same database, so that jobs are sent in the same transaction. */
  queue: Pick<Queue, 'send' | 'sendMany'>;
  clock: Pick<Clock, 'now'>;
}

/** Previews in Postgres, shared by any number of processes. */
export class PostgresPreviews extends PostgresReports implements PreviewStore {
  readonly #clock: Pick<Clock, 'now'>;

  constructor({ pool, queue, clock }: PostgresPreviewsOptions) {
    super(pool, queue);
    this.#clock = clock;
  }

  notify(repository: InstallationRepository, number: number, news: PullNews = {}): Promise<void> {
    const approval = news.approval && storableJson(news.approval);
    return this.transaction(async (tx) => {
      await tx
        .insertInto('preview_pulls')
        .values({
          repository_id: repository.repositoryId,
          number,
          repository: storableJson(repository),
          approval: approval ?? null,
          is_unreachable: news.isUnreachable ?? false,
          notified_seq: 1,
          processed_seq: 0,
        })
        .onConflict((conflict) =>
          conflict.columns(['repository_id', 'number']).doUpdateSet({
            repository: (of) => of.ref('excluded.repository'),
            notified_seq: sql`preview_pulls.notified_seq + 1`,
            ...(news.isUnreachable === undefined ? {} : { is_unreachable: news.isUnreachable }),
            ...(approval === undefined ? {} : { approval }),
          }),
        )
        .execute();
      await this.queue.send(pullJob, { repositoryId: repository.repositoryId, number }, { db: tx });
    });
  }

  renotify(key: PullKey, { isUnreachable }: PullNews = {}): Promise<void> {
    return this.transaction((tx) =>
      this.#lookAgain(tx, key, isUnreachable === undefined ? {} : { is_unreachable: isUnreachable }),
    );
  }

  /** Has a known pull request looked at. */
  async #lookAgain(tx: WorkTransaction, key: PullKey, changes: { is_unreachable?: boolean } = {}): Promise<void> {
    await tx
      .updateTable('preview_pulls')
      .set({ notified_seq: sql`notified_seq + 1`, ...changes })
      .where(isPull(key))
      .execute();
    const { repositoryId, number } = key;
    await this.queue.send(pullJob, { repositoryId, number }, { db: tx });
  }

  async pull(key: PullKey): Promise<PreviewedPull | undefined> {
    const row = await this.db.selectFrom('preview_pulls').selectAll().where(isPull(key)).executeTakeFirst();
    return row && pullOf(row);
  }

  async previews(key: PullKey): Promise<Preview[]> {
    const rows = this.db.selectFrom('previews').selectAll().where(isPull(key)).orderBy('entry');
    return (await rows.execute()).map(previewOfRow);
  }

  async preview(key: PreviewKey): Promise<Preview | undefined> {
    const rows = this.db.selectFrom('previews').selectAll().where(isPull(key)).where('entry', '=', key.entry);
    const row = await rows.executeTakeFirst();
    return row && previewOfRow(row);
  }

  async wantedOf(repositoryId: number, entry: string): Promise<Preview[]> {
    const rows = this.db
      .selectFrom('previews')
      .selectAll()
      .where('repository_id', '=', String(repositoryId))
      .where('entry', '=', entry)
      .where(sql<boolean>`wanted ->> 'kind' = 'deploy'`)
      .orderBy(sql`(known ->> 'changedAt')::double precision`)
      .orderBy('number');
    return (await rows.execute()).map(previewOfRow);
  }

  want(requests: readonly PreviewRequest[], reports: readonly DesiredReport[]): Promise<void> {
    return this.transaction(async (tx) => {
      for (const request of requests) await this.#want(tx, request);
      await this.putReports(tx, reports);
    });
  }

  async #want(tx: WorkTransaction, request: PreviewRequest): Promise<void> {
    const { key, known = {} } = request;
    const row = newPreviewRow(request);
    await tx
      .insertInto('previews')
      .values(row)
      .onConflict((conflict) =>
        conflict.columns(['repository_id', 'number', 'entry']).doUpdateSet({
          name: row.name,
          wanted: row.wanted,
          version: sql`previews.version + 1`,
          known: sql`previews.known || ${storableJson(known)}::jsonb`,
        }),
      )
      .execute();
    await this.queue.send(previewJobs[request.wanted.kind], { ...key }, { db: tx });
  }

  looked(key: PullKey, seq: number, nextAt: number | undefined): Promise<void> {
    return this.transaction(async (tx) => {
      await tx
        .updateTable('preview_pulls')
        .set({ processed_seq: sql`greatest(processed_seq, ${seq}::integer)`, next_at: nextAt ?? null })
        .where(isPull(key))
        .execute();
      if (nextAt !== undefined) {
        await this.queue.send(pullJob, { ...key }, { db: tx, startAfter: this.#secondsUntil(nextAt) });
      }
    });
  }

  async startRun(key: PreviewKey): Promise<{ preview: Preview; run: PreviewRun } | undefined> {
    const row = await this.db
      .updateTable('previews')
      .set({ run: sql`run + 1` })
      .where(isPull(key))
      .where('entry', '=', key.entry)
      .returningAll()
      .executeTakeFirst();
    return row && { preview: previewOfRow(row), run: { ...key, run: row.run, version: row.version } };
  }

  save(run: PreviewRun, { known, journal, isNews = false }: Parameters<PreviewStore['save']>[1]): Promise<void> {
    return this.transaction(async (tx) => {
      const row = await tx
        .updateTable('previews')
        .set({
          known: sql`known || ${storableJson(known ?? {})}::jsonb`,
          ...(journal === undefined ? {} : { journal: journal && storableJson(fromJson(journal)) }),
        })
        .where(isPull(run))
        .where('entry', '=', run.entry)
        .where('run', '=', run.run)
        .where('version', '=', run.version)
        .returning('run')
        .executeTakeFirst();
      if (!row) throw new RunSuperseded(run);
      if (isNews) await this.#lookAgain(tx, run);
    });
  }

  async again({ repositoryId, number, entry }: PreviewKey, at: number): Promise<void> {
    const preview = await this.preview({ repositoryId, number, entry });
    if (!preview) return;
    const startAfter = this.#secondsUntil(at);
    await this.queue.send(previewJobs[preview.wanted.kind], { repositoryId, number, entry }, { startAfter });
  }

  async moved(repository: InstallationRepository): Promise<void> {
    await this.db
      .updateTable('preview_pulls')
      .set({ repository: storableJson(repository) })
      .where('repository_id', '=', String(repository.repositoryId))
      .execute();
  }

  async openPulls(since: number): Promise<PreviewedPull[]> {
    const rows = this.db
      .selectFrom('preview_pulls')
      .selectAll()
      .where((of) =>
        of.exists(
          of
            .selectFrom('previews')
            .select('previews.entry')
            .whereRef('previews.repository_id', '=', 'preview_pulls.repository_id')
            .whereRef('previews.number', '=', 'preview_pulls.number')
            .where(sql<boolean>`coalesce((previews.known ->> 'goneAt')::double precision, ${since}) >= ${since}`),
        ),
      )
      .orderBy('repository_id')
      .orderBy('number');
    return (await rows.execute()).map(pullOf);
  }

  async forgetPreviews(before: number): Promise<number> {
    return this.transaction(async (tx) => {
      const gone = await tx
        .deleteFrom('previews')
        .where(
          sql<boolean>`wanted ->> 'kind' = 'gone' and (known ->> 'goneAt')::double precision
            < ${before}::double precision - case when wanted ->> 'code' in ('expired', 'too-many') then ${keptGoneMs}::double precision else 0 end`,
        )
        .executeTakeFirst();
      const pulls = await tx
        .deleteFrom('preview_pulls')
        .whereRef('processed_seq', '>=', 'notified_seq')
        .where(sql<boolean>`coalesce((approval ->> 'at')::double precision, 0) < ${before}`)
        .where((of) =>
          of.not(
            of.exists(
              of
                .selectFrom('previews')
                .select('previews.entry')
                .whereRef('previews.repository_id', '=', 'preview_pulls.repository_id')
                .whereRef('previews.number', '=', 'preview_pulls.number'),
            ),
          ),
        )
        .executeTakeFirst();
      return Number(gone.numDeletedRows) + Number(pulls.numDeletedRows);
    });
  }

  /** From now on, and not at a time: the clock that hands out jobs may be another than ours. */
  #secondsUntil(at: number): number {
    return Math.max(0, at - this.#clock.now()) / 1_000;
  }
}

/** Selects the rows of a pull request, in either table. */
const isPull =
  ({ repositoryId, number }: PullKey) =>
  <Table extends 'previews' | 'preview_pulls'>(of: ExpressionBuilder<WorkTables, Table>) =>
    sql<boolean>`${of.ref(`repository_id`)} = ${repositoryId} and ${of.ref('number')} = ${number}`;
