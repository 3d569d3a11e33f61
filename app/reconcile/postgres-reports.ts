import { randomUUID } from 'node:crypto';
import { Kysely, PostgresDialect, sql } from 'kysely';
import type { Pool } from 'pg';
import type { Queue } from '../../src/kit/postgres/queue.ts';
import { storableJson } from '../../src/kit/json-text.ts';
import type { CommandOutcome } from '../../src/deploy/commands/outcomes.ts';
import type {
  CommandAction,
  CommandKey,
  CommandStore,
  StoredCommand,
  TakenCommand,
} from '../commands/stored-command.ts';
import { decideCommand, endCommand, lastCommands, takeCommand } from './postgres-commands.ts';
import { workSchema } from './migrations.ts';
import { reportJobOf, type Report, type DesiredReport } from './report.ts';
import type { WorkStore } from './store.ts';
import { newReportRow, reportOf, type WorkDatabase, type WorkTables, type WorkTransaction } from './tables.ts';

/** The reports to GitHub and the commands in Postgres, the parts of the store that belong to no deployment. */
export class PostgresReports implements CommandStore {
  protected readonly db: WorkDatabase;
  protected readonly queue: Pick<Queue, 'send' | 'sendMany'>;

  constructor(pool: Pool, queue: Pick<Queue, 'send' | 'sendMany'>) {
    this.db = new Kysely<WorkTables>({ dialect: new PostgresDialect({ pool }) }).withSchema(workSchema);
    this.queue = queue;
  }

  protected transaction<T>(work: (tx: WorkTransaction) => Promise<T>): Promise<T> {
    return this.db.transaction().execute(work);
  }

  putReport(report: DesiredReport, onlyAt?: number): Promise<void> {
    return this.transaction((tx) =>
      onlyAt === undefined ? this.putReports(tx, [report]) : this.#putReportAt(tx, report, onlyAt),
    );
  }

  async report(id: string): Promise<Report | undefined> {
    const row = await this.db.selectFrom('reports').selectAll().where('id', '=', id).executeTakeFirst();
    return row && reportOf(row);
  }

  async reportOf(repositoryId: number, headSha: string, name: string): Promise<Report | undefined> {
    const row = await this.db
      .selectFrom('reports')
      .selectAll()
      .where('repository_id', '=', String(repositoryId))
      .where('head_sha', '=', headSha)
      .where('name', '=', name)
      .executeTakeFirst();
    return row && reportOf(row);
  }

  /** An older version does not overwrite a newer one. */
  async reported(id: string, { version, at, githubId, reported }: Parameters<WorkStore['reported']>[1]): Promise<void> {
    const words = reported === undefined ? null : storableJson(reported);
    await this.db
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

  async pendingReports(): Promise<string[]> {
    const pending = this.db.selectFrom('reports').select('id').whereRef('version', '>', 'reported_version');
    return (await pending.execute()).map(({ id }) => id);
  }

  async dropPendingReports(repositoryId: number): Promise<void> {
    await this.db
      .deleteFrom('reports')
      .where('repository_id', '=', String(repositoryId))
      .whereRef('version', '>', 'reported_version')
      .execute();
  }

  takeCommand(command: TakenCommand): Promise<StoredCommand> {
    return takeCommand(this.db, command);
  }

  decideCommand(key: CommandKey, action: CommandAction): Promise<CommandAction> {
    return decideCommand(this.db, key, action);
  }

  endCommand(key: CommandKey, outcome: CommandOutcome): Promise<CommandOutcome> {
    return endCommand(this.db, key, outcome);
  }

  lastCommands(repositoryId: number, number: number, limit: number): Promise<StoredCommand[]> {
    return lastCommands(this.db, repositoryId, number, limit);
  }

  /** Stores wanted reports, and sends a job for each that changed. */
  protected async putReports(tx: WorkTransaction, puts: readonly DesiredReport[]): Promise<void> {
    const changed = new Map<string, DesiredReport>();
    for (const put of puts) {
      // The parts of a comment that are not put stay as they are.
      const wanted = sql<string>`case when excluded.kind = 'comment'
        then jsonb_set(reports.wanted, '{content}', (reports.wanted -> 'content') || (excluded.wanted -> 'content'))
        else excluded.wanted end`;
      const row = await tx
        .insertInto('reports')
        .values(newReportRow(randomUUID(), put))
        .onConflict((conflict) =>
          conflict
            .constraint('reports_once')
            .doUpdateSet({ wanted, version: sql`reports.version + 1` })
            .where(sql<boolean>`reports.wanted is distinct from ${wanted}`),
        )
        .returning('id')
        .executeTakeFirst();
      if (row) changed.set(row.id, put);
    }
    await this.#sendJobs(tx, changed);
  }

  /** Stores a report only where its version is still this one. */
  async #putReportAt(tx: WorkTransaction, put: DesiredReport, version: number): Promise<void> {
    const wanted = storableJson(put.wanted);
    const insert = tx
      .insertInto('reports')
      .values(newReportRow(randomUUID(), put))
      .onConflict((conflict) => conflict.constraint('reports_once').doNothing())
      .returning('id');
    const update = tx
      .updateTable('reports')
      .set({ wanted, version: version + 1 })
      .where('repository_id', '=', String(put.repository.repositoryId))
      .where('head_sha', '=', put.headSha)
      .where('name', '=', put.name)
      .where('version', '=', version)
      .where(sql<boolean>`wanted is distinct from ${wanted}::jsonb`)
      .returning('id');
    const rows = await (version === 0 ? insert.execute() : update.execute());
    await this.#sendJobs(tx, new Map(rows.map(({ id }) => [id, put])));
  }

  async #sendJobs(tx: WorkTransaction, reports: ReadonlyMap<string, DesiredReport>): Promise<void> {
    const jobs = [...reports].map(([id, report]) => ({ data: { id }, ...reportJobOf(report) }));
    for (const [name, each] of Map.groupBy(jobs, (job) => job.name)) {
      await this.queue.sendMany(
        name,
        each.map(({ data, group }) => ({ data, group })),
        { db: tx },
      );
    }
  }
}
