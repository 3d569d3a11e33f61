import { randomUUID } from 'node:crypto';
import { Kysely, PostgresDialect, sql } from 'kysely';
import type { Pool } from 'pg';
import type { Clock } from '../../src/clock.ts';
import type { Queue } from '../../src/database/queue.ts';
import { storableJson } from '../inbox/storable-json.ts';
import type { RepositoryAt } from '../repository.ts';
import type { Intent, Wish } from './intent.ts';
import { freed, left, taken, woken, type LaneRecord, type Moved } from './lane-record.ts';
import { workSchema } from './migrations.ts';
import { newIntent } from './new-intent.ts';
import { lockLane, moveLane } from './postgres-lanes.ts';
import { findReport, findReportOf, putReportAt, putReports, storeTold, untoldReportIds } from './postgres-reports.ts';
import { changedColumns, intentOf, laneOf, newIntentRow } from './postgres-rows.ts';
import type { Report, ReportPut } from './report.ts';
import { LeaseLost, type Changes, type Lane, type Lease, type WorkStore } from './store.ts';
import type { IntentRow, LaneRow, WorkDatabase, WorkTables, WorkTransaction } from './tables.ts';

/** What a store on Postgres is made with. */
export interface PostgresStoreOptions {
  /** The pool of the database; it stays the caller's to end. Its tables are there: `workMigrations`. */
  pool: Pool;
  /** In the same database, so that a job exists if and when what it is about does. */
  queue: Pick<Queue, 'send' | 'sendMany'>;
  clock: Pick<Clock, 'now'>;
}

/** The App's work in Postgres, shared by any number of processes. */
export class PostgresStore implements WorkStore {
  readonly #db: WorkDatabase;
  readonly #queue: PostgresStoreOptions['queue'];
  readonly #clock: Pick<Clock, 'now'>;

  constructor({ pool, queue, clock }: PostgresStoreOptions) {
    this.#db = new Kysely<WorkTables>({ dialect: new PostgresDialect({ pool }) }).withSchema(workSchema);
    this.#queue = queue;
    this.#clock = clock;
  }

  wish(wish: Wish): Promise<Intent | undefined> {
    return this.#transaction(async (tx) => {
      // The lane first: wishes of one deployment get their numbers in the order in which they can be seen.
      const lane = await lockLane(tx, wish.deploymentId);
      const intent = await this.#record(tx, wish);
      if (intent) await this.#move(tx, lane, (record) => woken(record, this.#clock.now()));
      return intent;
    });
  }

  wake(deploymentId: string, at?: number): Promise<void> {
    return this.#transaction(async (tx) => {
      await this.#move(tx, await lockLane(tx, deploymentId), (record) => woken(record, this.#clock.now(), at));
    });
  }

  takeLease(deploymentId: string, holder: string, leaseMs: number): Promise<Lease | undefined> {
    return this.#transaction(async (tx) => {
      const lane = await lockLane(tx, deploymentId);
      const take = (record: LaneRecord) => taken(record, holder, this.#clock.now(), leaseMs);
      const { record, extra } = await this.#move(tx, lane, take);
      if (extra.kind !== 'taken') return undefined;
      const lease = { deploymentId, holder, wakes: record.wakes };
      return extra.nextAt === undefined ? lease : { ...lease, nextAt: extra.nextAt };
    });
  }

  async renewLease(lease: Lease, leaseMs: number): Promise<Lease> {
    const row = await this.#db
      .updateTable('lanes')
      .set({ lease_until: this.#clock.now() + leaseMs })
      .where('deployment_id', '=', lease.deploymentId)
      .where('holder', '=', lease.holder)
      .returning('wakes')
      .executeTakeFirst();
    if (!row) throw new LeaseLost(lease.deploymentId);
    return { ...lease, wakes: row.wakes };
  }

  leaveLease(lease: Lease, again: number | undefined): Promise<boolean> {
    return this.#transaction(async (tx) => {
      const lane = await lockLane(tx, lease.deploymentId);
      return (await this.#move(tx, lane, (record) => left(record, lease, this.#clock.now(), again))).extra;
    });
  }

  freeLeases(): Promise<void> {
    return this.#transaction(async (tx) => {
      const lanes = await tx.selectFrom('lanes').selectAll().where('holder', 'is not', null).forUpdate().execute();
      for (const lane of lanes) await this.#move(tx, lane, (record) => freed(record, this.#clock.now()));
    });
  }

  async lane(deploymentId: string): Promise<Lane> {
    const row = await this.#db
      .selectFrom('lanes')
      .selectAll()
      .where('deployment_id', '=', deploymentId)
      .executeTakeFirst();
    return laneOf(deploymentId, row);
  }

  async openIntents(deploymentId: string): Promise<Intent[]> {
    return intentsIn(await this.#of(deploymentId).where('state', '<>', 'ended').orderBy('seq').execute());
  }

  async intent(id: string): Promise<Intent | undefined> {
    const row = await this.#db.selectFrom('intents').selectAll().where('id', '=', id).executeTakeFirst();
    return row && intentOf(row);
  }

  async intentsOf(deploymentId: string, commit: string): Promise<Intent[]> {
    return intentsIn(await this.#of(deploymentId).where('commit', '=', commit).orderBy('seq').execute());
  }

  async intentsAt(repositoryId: number, commit: string): Promise<Intent[]> {
    const rows = await this.#db
      .selectFrom('intents')
      .selectAll()
      .where('repository_id', '=', String(repositoryId))
      .where('commit', '=', commit)
      .orderBy('seq')
      .execute();
    return intentsIn(rows);
  }

  async lastIntents(deploymentId: string, limit: number): Promise<Intent[]> {
    return intentsIn(await this.#of(deploymentId).orderBy('seq', 'desc').limit(limit).execute());
  }

  async unredeemed(deploymentId: string): Promise<Intent[]> {
    const rows = await this.#of(deploymentId)
      .where('end_kind', 'in', ['superseded', 'other-commit'])
      .where('live_in', 'is', null)
      .orderBy('seq')
      .execute();
    return intentsIn(rows);
  }

  async busyDeployments(): Promise<string[]> {
    const rows = await this.#db
      .selectFrom('intents')
      .select('deployment_id')
      .distinct()
      .where('state', '<>', 'ended')
      .execute();
    return rows.map((row) => row.deployment_id);
  }

  /** Since when (ms since the epoch) the oldest open intent of each busy deployment is there. */
  async lanesSince(): Promise<number[]> {
    const rows = await this.#db
      .selectFrom('intents')
      .select(sql<number>`min((body ->> 'createdAt')::double precision)`.as('since'))
      .where('state', 'not in', ['ended', 'held'])
      .groupBy('deployment_id')
      .execute();
    return rows.map(({ since }) => since);
  }

  save(lease: Lease, changes: Changes): Promise<void> {
    return this.#transaction(async (tx) => {
      const lane = await lockLane(tx, lease.deploymentId);
      if (lane.holder !== lease.holder) throw new LeaseLost(lease.deploymentId);
      for (const intent of changes.intents ?? []) {
        await tx.updateTable('intents').set(changedColumns(intent)).where('id', '=', intent.id).execute();
      }
      for (const wish of changes.wishes ?? []) await this.#record(tx, wish);
      await keepLane(tx, lane, changes);
      await putReports(tx, this.#queue, changes.reports ?? []);
    });
  }

  putReport(report: ReportPut, onlyAt?: number): Promise<void> {
    return this.#transaction((tx) =>
      onlyAt === undefined ? putReports(tx, this.#queue, [report]) : putReportAt(tx, this.#queue, report, onlyAt),
    );
  }

  report(id: string): Promise<Report | undefined> {
    return findReport(this.#db, id);
  }

  reportOf(repositoryId: number, headSha: string, name: string): Promise<Report | undefined> {
    return findReportOf(this.#db, repositoryId, headSha, name);
  }

  told(id: string, told: Parameters<typeof storeTold>[2]): Promise<void> {
    return storeTold(this.#db, id, told);
  }

  untoldReports(): Promise<string[]> {
    return untoldReportIds(this.#db);
  }

  moved(repository: RepositoryAt): Promise<void> {
    const [id, at] = [String(repository.repositoryId), storableJson(repository)];
    return this.#transaction(async (tx) => {
      const isIt = tx.updateTable('intents').set({ repository: at }).where('repository_id', '=', id);
      await isIt.where('state', '<>', 'ended').execute();
      await tx.updateTable('reports').set({ repository: at }).where('repository_id', '=', id).execute();
    });
  }

  async dropUntold(repositoryId: number): Promise<void> {
    await this.#db
      .deleteFrom('reports')
      .where('repository_id', '=', String(repositoryId))
      .whereRef('version', '>', 'told_version')
      .execute();
  }

  forget(before: number, keep: number): Promise<number> {
    return this.#transaction(async (tx) => {
      const numbered = tx
        .selectFrom('intents')
        .select([
          'id',
          'ended_at',
          sql<string>`row_number() over (partition by deployment_id order by seq desc)`.as('nth'),
        ])
        .as('numbered');
      const old = tx
        .selectFrom(numbered)
        .select('numbered.id')
        .where('numbered.ended_at', '<', before)
        .where('numbered.nth', '>', String(keep));
      const intents = await tx.deleteFrom('intents').where('id', 'in', old).executeTakeFirst();
      const reports = await tx
        .deleteFrom('reports')
        .whereRef('told_version', '>=', 'version')
        .where('told_at', '<', before)
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
    });
  }

  #of(deploymentId: string) {
    return this.#db.selectFrom('intents').selectAll().where('deployment_id', '=', deploymentId);
  }

  #transaction<T>(work: (tx: WorkTransaction) => Promise<T>): Promise<T> {
    return this.#db.transaction().execute(work);
  }

  #move<Extra>(tx: WorkTransaction, lane: LaneRow, move: (record: LaneRecord) => Moved<Extra>) {
    return moveLane(tx, this.#queue, lane, this.#clock.now(), move);
  }

  /** Undefined where the cause is known. */
  async #record(tx: WorkTransaction, wish: Wish): Promise<Intent | undefined> {
    const intent = newIntent(wish, { id: randomUUID(), seq: 0, now: this.#clock.now() });
    const row = await tx
      .insertInto('intents')
      .values(newIntentRow(intent))
      .onConflict((conflict) => conflict.constraint('intents_once').doNothing())
      .returningAll()
      .executeTakeFirst();
    return row && intentOf(row);
  }
}

const intentsIn = (rows: readonly IntentRow[]): Intent[] => rows.map(intentOf);

async function keepLane(tx: WorkTransaction, lane: LaneRow, { held, rolledBackCommit }: Changes): Promise<void> {
  if (held === undefined && rolledBackCommit === undefined) return;
  await tx
    .updateTable('lanes')
    .set({
      ...(held === undefined ? {} : { held: held === null ? null : storableJson(held) }),
      ...(rolledBackCommit === undefined ? {} : { rolled_back_commit: rolledBackCommit }),
    })
    .where('deployment_id', '=', lane.deployment_id)
    .execute();
}
