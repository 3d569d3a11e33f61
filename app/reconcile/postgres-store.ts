import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Pool } from 'pg';
import type { Clock } from '../../src/kit/clock.ts';
import type { Queue } from '../../src/kit/postgres/queue.ts';
import { storableJson } from '../../src/kit/json-text.ts';
import type { InstallationRepository } from '../github/github-api.ts';
import { newIntent, type Intent } from './intent.ts';
import { type DeployRequest } from './deploy-request.ts';
import { lockingQueues, lockQueue, updateQueue, type LockedQueue } from './postgres-queues.ts';
import { findBaselines, forgetBaselines, keepBaselines } from './postgres-baselines.ts';
import { forgetCommands } from './postgres-commands.ts';
import { keptGoneMs } from '../previews/preview-store.ts';
import { PostgresReports } from './postgres-reports.ts';
import {
  freeLease,
  releaseLease,
  acquireLease,
  notifyQueue,
  type QueueState,
  type QueueTransition,
} from './queue-state.ts';
import {
  LeaseLost,
  type Baseline,
  type Changes,
  type DeploymentQueue,
  type Lease,
  type QueueChanges,
  type WorkStore,
} from './store.ts';
import { changedColumns, intentOf, newIntentRow, queueOf, type IntentRow, type WorkTransaction } from './tables.ts';

export interface PostgresStoreOptions {
  /** The pool of the database; it stays the caller's to end. Its tables are there: `workMigrations`. */
  pool: Pool;
  /** In the same database, so that jobs are sent in the same transaction. */
  queue: Pick<Queue, 'send' | 'sendMany'>;
  clock: Pick<Clock, 'now'>;
  /** The clock of leases and polls: the database's, which all processes share, or `clock`, for tests. */
  timeBy?: 'database' | 'given';
}

/** The App's work in Postgres, shared by any number of processes. */
export class PostgresStore extends PostgresReports implements WorkStore {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #timeBy: 'database' | 'given';

  constructor({ pool, queue, clock, timeBy = 'database' }: PostgresStoreOptions) {
    super(pool, queue);
    this.#clock = clock;
    this.#timeBy = timeBy;
  }

  request(request: DeployRequest): Promise<Intent | undefined> {
    // The lock comes first, so that requests of one deployment are numbered in the order in which they become visible.
    return this.#locked(request.deploymentId, async (tx, queue) => {
      const intent = await this.#record(tx, request);
      if (intent) await this.#move(tx, queue, (record, now) => notifyQueue(record, now));
      return intent;
    });
  }

  wake(deploymentId: string, at?: number): Promise<void> {
    return this.#locked(deploymentId, async (tx, queue) => {
      const ms = at === undefined ? 0 : at - this.#clock.now();
      await this.#move(tx, queue, (record, now) => notifyQueue(record, now, now + ms));
    });
  }

  takeLease(deploymentId: string, holder: string, leaseMs: number): Promise<Lease | undefined> {
    return this.#locked(deploymentId, async (tx, queue) => {
      const { record, extra } = await this.#move(tx, queue, (before, now) =>
        acquireLease(before, holder, now, leaseMs),
      );
      if (extra.kind !== 'taken') return undefined;
      const lease = { deploymentId, holder, notifiedSeq: record.notifiedSeq };
      return extra.nextAt === undefined ? lease : { ...lease, nextAt: this.#clock.now() + (extra.nextAt - queue.now) };
    });
  }

  async renewLease(lease: Lease, leaseMs: number): Promise<Lease> {
    const row = await this.db
      .updateTable('queues')
      .set({ lease_until: sql<number>`${this.#time()} + ${leaseMs}::double precision` })
      .where('deployment_id', '=', lease.deploymentId)
      .where('holder', '=', lease.holder)
      .returning('notified_seq')
      .executeTakeFirst();
    if (!row) throw new LeaseLost(lease.deploymentId);
    return { ...lease, notifiedSeq: row.notified_seq };
  }

  leaveLease(lease: Lease, again: number | undefined): Promise<boolean> {
    return this.#locked(lease.deploymentId, async (tx, queue) => {
      const at = again === undefined ? undefined : queue.now + again - this.#clock.now();
      return (await this.#move(tx, queue, (record, now) => releaseLease(record, lease, now, at))).extra;
    });
  }

  freeLeases(): Promise<void> {
    return this.transaction(async (tx) => {
      const queues = await lockingQueues(tx, this.#time()).where('holder', 'is not', null).execute();
      for (const queue of queues) await this.#move(tx, queue, freeLease);
    });
  }

  async deploymentQueue(deploymentId: string): Promise<DeploymentQueue> {
    const found = this.db.selectFrom('queues').selectAll().where('deployment_id', '=', deploymentId);
    return queueOf(deploymentId, await found.executeTakeFirst());
  }

  openIntents(deploymentId: string): Promise<Intent[]> {
    return intentsIn(this.#of(deploymentId).where('state', '<>', 'ended').orderBy('seq'));
  }

  async intent(id: string): Promise<Intent | undefined> {
    return (await intentsIn(this.#intents().where('id', '=', id)))[0];
  }

  intentsOf(deploymentId: string, commit: string): Promise<Intent[]> {
    return intentsIn(this.#of(deploymentId).where('commit', '=', commit).orderBy('seq'));
  }

  intentsAt(repositoryId: number, commit: string): Promise<Intent[]> {
    const ofRepository = this.#intents().where('repository_id', '=', String(repositoryId));
    return intentsIn(ofRepository.where('commit', '=', commit).orderBy('seq'));
  }

  lastIntents(deploymentId: string, limit: number): Promise<Intent[]> {
    return intentsIn(this.#of(deploymentId).orderBy('seq', 'desc').limit(limit));
  }

  lastWithRevision(deploymentId: string, limit: number): Promise<Intent[]> {
    const hasRevision = sql<boolean>`body ->> 'revisionId' is not null`;
    return intentsIn(this.#of(deploymentId).where(hasRevision).orderBy('seq', 'desc').limit(limit));
  }

  notYetContained(deploymentId: string): Promise<Intent[]> {
    const superseded = this.#of(deploymentId).where('end_kind', 'in', ['superseded', 'other-commit']);
    return intentsIn(superseded.where('live_in', 'is', null).orderBy('seq'));
  }

  baselines(deploymentId: string, revisionId: string, testHashes: readonly string[]): Promise<Baseline[]> {
    return findBaselines(this.db, deploymentId, revisionId, testHashes);
  }

  async busyDeployments(): Promise<string[]> {
    const busy = this.db.selectFrom('intents').select('deployment_id').distinct().where('state', '<>', 'ended');
    return (await busy.execute()).map((row) => row.deployment_id);
  }

  /** When (ms since the epoch) the oldest open intent of each busy deployment was created. */
  async busySince(): Promise<number[]> {
    const since = sql<number>`min((body ->> 'createdAt')::double precision)`.as('since');
    const busy = this.db.selectFrom('intents').select(since).where('state', '<>', 'ended').groupBy('deployment_id');
    return (await busy.execute()).map((row) => row.since);
  }

  save(lease: Lease, changes: Changes): Promise<void> {
    return this.#locked(lease.deploymentId, async (tx, queue) => {
      if (queue.holder !== lease.holder) throw new LeaseLost(lease.deploymentId);
      for (const intent of changes.intents ?? []) {
        await tx.updateTable('intents').set(changedColumns(intent)).where('id', '=', intent.id).execute();
      }
      for (const request of changes.requests ?? []) await this.#record(tx, request);
      await storeQueue(tx, lease.deploymentId, changes);
      await this.putReports(tx, changes.reports ?? []);
      await keepBaselines(tx, lease.deploymentId, changes.baselines ?? []);
    });
  }

  moved(repository: InstallationRepository): Promise<void> {
    const [id, at] = [String(repository.repositoryId), storableJson(repository)];
    return this.transaction(async (tx) => {
      const intents = tx.updateTable('intents').set({ repository: at }).where('repository_id', '=', id);
      await intents.where('state', '<>', 'ended').execute();
      await tx.updateTable('reports').set({ repository: at }).where('repository_id', '=', id).execute();
    });
  }

  forget(before: number, keep: number): Promise<number> {
    return this.transaction(async (tx) => {
      const nth = sql<string>`row_number() over (partition by deployment_id order by seq desc)`.as('nth');
      const old = tx
        .selectFrom(tx.selectFrom('intents').select(['id', 'ended_at', nth]).as('numbered'))
        .select('numbered.id')
        .where('numbered.ended_at', '<', before)
        .where('numbered.nth', '>', String(keep));
      const intents = await tx.deleteFrom('intents').where('id', 'in', old).executeTakeFirst();
      const reports = await tx
        .deleteFrom('reports')
        .whereRef('reported_version', '>=', 'version')
        .where(
          sql<boolean>`reported_at < ${before}::double precision
          - case when name like 'Landfall preview: %' or name like 'preview %' then ${keptGoneMs}::double precision else 0 end`,
        )
        .where((of) => {
          const kept = of.selectFrom('intents').whereRef('intents.repository_id', '=', 'reports.repository_id');
          return of.not(of.exists(kept.select('intents.id').whereRef('intents.commit', '=', 'reports.head_sha')));
        })
        .executeTakeFirst();
      const others = (await forgetBaselines(tx, before)) + (await forgetCommands(tx, before));
      return Number(intents.numDeletedRows) + Number(reports.numDeletedRows) + others;
    });
  }

  #intents() {
    return this.db.selectFrom('intents').selectAll();
  }

  #of(deploymentId: string) {
    return this.#intents().where('deployment_id', '=', deploymentId);
  }

  /** The clock of leases (ms since the epoch): the database's own, since those of several processes may differ. */
  #time() {
    return this.#timeBy === 'database'
      ? sql<number>`(extract(epoch from clock_timestamp()) * 1000)::double precision`
      : sql<number>`${this.#clock.now()}::double precision`;
  }

  #locked<T>(deploymentId: string, work: (tx: WorkTransaction, queue: LockedQueue) => Promise<T>): Promise<T> {
    return this.transaction(async (tx) => work(tx, await lockQueue(tx, this.#time(), deploymentId)));
  }

  #move<Extra>(
    tx: WorkTransaction,
    queue: LockedQueue,
    move: (record: QueueState, now: number) => QueueTransition<Extra>,
  ) {
    return updateQueue(tx, this.queue, queue, move);
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

const intentsIn = async (query: { execute(): Promise<IntentRow[]> }): Promise<Intent[]> =>
  (await query.execute()).map(intentOf);

async function storeQueue(
  tx: WorkTransaction,
  deploymentId: string,
  { held, rolledBackCommit, promotes }: QueueChanges,
): Promise<void> {
  if (held === undefined && rolledBackCommit === undefined && promotes === undefined) return;
  await tx
    .updateTable('queues')
    .set({
      ...(held === undefined ? {} : { held: held === null ? null : storableJson(held) }),
      ...(rolledBackCommit === undefined ? {} : { rolled_back_commit: rolledBackCommit }),
      ...(promotes === undefined ? {} : { promotes }),
    })
    .where('deployment_id', '=', deploymentId)
    .execute();
}
