import { randomUUID } from 'node:crypto';
import { Kysely, PostgresDialect, sql } from 'kysely';
import type { Pool } from 'pg';
import type { Clock } from '../../src/clock.ts';
import type { Queue } from '../../src/postgres/queue.ts';
import { storableJson } from '../inbox/storable-json.ts';
import type { RepositoryAt } from '../context.ts';
import { newIntent, type Intent, type DeployRequest } from './intent.ts';
import { freed, released, taken, notified, type QueueState, type Moved } from './queue-state.ts';
import { workSchema } from './migrations.ts';
import { databaseNow, lockingQueues, lockQueue, updateQueue, type LockedQueue } from './postgres-queues.ts';
import {
  findReport,
  findReportOf,
  putReportAt,
  putReports,
  storeReported,
  pendingReportIds,
  forgetOld,
  moveRepository,
} from './postgres-reports.ts';
import { changedColumns, intentOf, queueOf, newIntentRow } from './postgres-rows.ts';
import type { Report, ReportPut } from './report.ts';
import { LeaseLost, type Changes, type DeploymentQueue, type Lease, type WorkStore } from './store.ts';
import type { IntentRow, QueueRow, WorkDatabase, WorkTables, WorkTransaction } from './tables.ts';

/** What a store on Postgres is made with. */
export interface PostgresStoreOptions {
  /** The pool of the database; it stays the caller's to end. Its tables are there: `workMigrations`. */
  pool: Pool;
  /** In the same database, so that jobs are sent in the same transaction. */
  queue: Pick<Queue, 'send' | 'sendMany'>;
  clock: Pick<Clock, 'now'>;
  /**
   * By which clock leases and looks are timed: the database's, which all processes share, when absent; `given` is
   * `clock`, for tests that set the time.
   */
  timeBy?: 'database' | 'given';
}

/** The App's work in Postgres, shared by any number of processes. */
export class PostgresStore implements WorkStore {
  readonly #db: WorkDatabase;
  readonly #queue: PostgresStoreOptions['queue'];
  readonly #clock: Pick<Clock, 'now'>;
  readonly #timeBy: 'database' | 'given';

  constructor({ pool, queue, clock, timeBy = 'database' }: PostgresStoreOptions) {
    this.#db = new Kysely<WorkTables>({ dialect: new PostgresDialect({ pool }) }).withSchema(workSchema);
    this.#queue = queue;
    this.#clock = clock;
    this.#timeBy = timeBy;
  }

  request(request: DeployRequest): Promise<Intent | undefined> {
    return this.#transaction(async (tx) => {
      // Lock the queue first, so that requests of one deployment are numbered in the order in which they become
      // visible.
      const deploymentQueue = await lockQueue(tx, request.deploymentId);
      const intent = await this.#record(tx, request);
      if (intent) await this.#move(tx, deploymentQueue, (record, now) => notified(record, now));
      return intent;
    });
  }

  wake(deploymentId: string, at?: number): Promise<void> {
    return this.#transaction(async (tx) => {
      const ms = at === undefined ? 0 : at - this.#clock.now();
      await this.#move(tx, await lockQueue(tx, deploymentId), (record, now) => notified(record, now, now + ms));
    });
  }

  takeLease(deploymentId: string, holder: string, leaseMs: number): Promise<Lease | undefined> {
    return this.#transaction(async (tx) => {
      const deploymentQueue = await lockQueue(tx, deploymentId);
      const { record, extra, now } = await this.#move(tx, deploymentQueue, (before, at) =>
        taken(before, holder, at, leaseMs),
      );
      if (extra.kind !== 'taken') return undefined;
      const lease = { deploymentId, holder, notifiedSeq: record.notifiedSeq };
      return extra.nextAt === undefined ? lease : { ...lease, nextAt: this.#clock.now() + (extra.nextAt - now) };
    });
  }

  async renewLease(lease: Lease, leaseMs: number): Promise<Lease> {
    const row = await this.#db
      .updateTable('queues')
      .set({ lease_until: sql<number>`${this.#queueTime()} + ${leaseMs}::double precision` })
      .where('deployment_id', '=', lease.deploymentId)
      .where('holder', '=', lease.holder)
      .returning('notified_seq')
      .executeTakeFirst();
    if (!row) throw new LeaseLost(lease.deploymentId);
    return { ...lease, notifiedSeq: row.notified_seq };
  }

  leaveLease(lease: Lease, again: number | undefined): Promise<boolean> {
    return this.#transaction(async (tx) => {
      const deploymentQueue = await lockQueue(tx, lease.deploymentId);
      const ms = again === undefined ? undefined : again - this.#clock.now();
      const leave = (record: QueueState, now: number) =>
        released(record, lease, now, ms === undefined ? undefined : now + ms);
      return (await this.#move(tx, deploymentQueue, leave)).extra;
    });
  }

  freeLeases(): Promise<void> {
    return this.#transaction(async (tx) => {
      const queues = await lockingQueues(tx).where('holder', 'is not', null).execute();
      for (const deploymentQueue of queues) await this.#move(tx, deploymentQueue, freed);
    });
  }

  async deploymentQueue(deploymentId: string): Promise<DeploymentQueue> {
    const row = await this.#db
      .selectFrom('queues')
      .selectAll()
      .where('deployment_id', '=', deploymentId)
      .executeTakeFirst();
    return queueOf(deploymentId, row);
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

  async lastWithRevision(deploymentId: string, limit: number): Promise<Intent[]> {
    const rows = await this.#of(deploymentId)
      .where(sql<boolean>`body ->> 'revisionId' is not null`)
      .orderBy('seq', 'desc')
      .limit(limit)
      .execute();
    return intentsIn(rows);
  }

  async notYetContained(deploymentId: string): Promise<Intent[]> {
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
  async busySince(): Promise<number[]> {
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
      const deploymentQueue = await lockQueue(tx, lease.deploymentId);
      if (deploymentQueue.holder !== lease.holder) throw new LeaseLost(lease.deploymentId);
      for (const intent of changes.intents ?? []) {
        await tx.updateTable('intents').set(changedColumns(intent)).where('id', '=', intent.id).execute();
      }
      for (const request of changes.requests ?? []) await this.#record(tx, request);
      await storeQueue(tx, deploymentQueue, changes);
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

  reported(id: string, reported: Parameters<typeof storeReported>[2]): Promise<void> {
    return storeReported(this.#db, id, reported);
  }

  pendingReports(): Promise<string[]> {
    return pendingReportIds(this.#db);
  }

  moved(repository: RepositoryAt): Promise<void> {
    return this.#transaction((tx) => moveRepository(tx, repository));
  }

  async dropPendingReports(repositoryId: number): Promise<void> {
    await this.#db
      .deleteFrom('reports')
      .where('repository_id', '=', String(repositoryId))
      .whereRef('version', '>', 'reported_version')
      .execute();
  }

  forget(before: number, keep: number): Promise<number> {
    return this.#transaction((tx) => forgetOld(tx, before, keep));
  }

  #of(deploymentId: string) {
    return this.#db.selectFrom('intents').selectAll().where('deployment_id', '=', deploymentId);
  }

  #transaction<T>(work: (tx: WorkTransaction) => Promise<T>): Promise<T> {
    return this.#db.transaction().execute(work);
  }

  #queueTime() {
    return this.#timeBy === 'database' ? databaseNow : sql<number>`${this.#clock.now()}::double precision`;
  }

  async #move<Extra>(
    tx: WorkTransaction,
    deploymentQueue: LockedQueue,
    move: (record: QueueState, now: number) => Moved<Extra>,
  ): Promise<{ record: QueueState; extra: Extra; now: number }> {
    const now = this.#timeBy === 'database' ? deploymentQueue.database_now : this.#clock.now();
    return { ...(await updateQueue(tx, this.#queue, deploymentQueue, now, (record) => move(record, now))), now };
  }

  /** Undefined if the cause is known. */
  async #record(tx: WorkTransaction, request: DeployRequest): Promise<Intent | undefined> {
    const intent = newIntent(request, { id: randomUUID(), seq: 0, now: this.#clock.now() });
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

async function storeQueue(
  tx: WorkTransaction,
  deploymentQueue: QueueRow,
  { held, rolledBackCommit }: Changes,
): Promise<void> {
  if (held === undefined && rolledBackCommit === undefined) return;
  await tx
    .updateTable('queues')
    .set({
      ...(held === undefined ? {} : { held: held === null ? null : storableJson(held) }),
      ...(rolledBackCommit === undefined ? {} : { rolled_back_commit: rolledBackCommit }),
    })
    .where('deployment_id', '=', deploymentQueue.deployment_id)
    .execute();
}
