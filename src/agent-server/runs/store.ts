import { sql } from 'kysely';
import type { ClientBase } from 'pg';
import { PAGE } from '../../contract/agent/assistant.ts';
import type { RunStatus } from '../../contract/agent/run.ts';
import type { ThreadStatus } from '../../contract/agent/thread.ts';
import type { Clock } from '../../clock.ts';
import { applicationName } from '../storage/open.ts';
import type { Storage } from '../storage/open.ts';
import { storable } from '../storage/storable.ts';
import type { RunPlan } from './run-plan.ts';
import type { RunEnd, StoredRun } from './run-row.ts';
import * as statements from './statements.ts';

/** Which runs of a thread to list. */
export interface RunPage {
  limit?: number | undefined;
  offset?: number | undefined;
  status?: RunStatus | undefined;
}

/** What takes statements: any connection, or that of a transaction. */
export type Querying = Pick<ClientBase, 'query'>;

/** What became of a run that was asked for. */
/** `sequence` is the order of acceptance. */
export type Begun =
  { kind: 'begun'; status: 'pending' | 'running'; sequence: number } | { kind: 'no-thread' } | { kind: 'busy' };

/** The runs of a deployment, in its database. Every change names the process, so that a process that was taken for dead changes nothing. */
export class RunStore {
  readonly #storage: Storage;
  readonly #processId: string;
  readonly #clock: Clock;
  readonly #traced: { revisionId: string | null } | undefined;

  /** @param traced where runs are told to a tracing project: as those of which revision. */
  constructor(storage: Storage, processId: string, clock: Clock, traced?: { revisionId: string | null }) {
    this.#traced = traced;
    this.#storage = storage;
    this.#processId = processId;
    this.#clock = clock;
  }

  /**
   * Writes a run down before anything of it happens. `atOnce` lets it be `running` from the start, where its thread is
   * free. `on` is the connection of a transaction that it shall be a part of.
   */
  async begin(plan: RunPlan, stateless: boolean, atOnce: boolean, on: Querying = this.#storage.pool): Promise<Begun> {
    const statement = plan.temporary
      ? statements.BEGIN_ALONE
      : stateless
        ? statements.BEGIN_WITH_THREAD
        : statements.BEGIN_ON_THREAD;
    const now = new Date(plan.acceptedAt);
    const known = { ...(stateless ? plan.threadMetadata : {}), graph_id: plan.graphId, assistant_id: plan.assistantId };
    const { rows } = await on.query<{ status: 'pending' | 'running'; sequence: string }>({
      ...statement,
      values: [
        plan.runId,
        plan.threadId,
        plan.assistantId,
        plan.graphId,
        storable(plan.metadata),
        JSON.stringify(plan.kwargs),
        plan.multitaskStrategy,
        plan.temporary,
        plan.detached,
        this.#processId,
        plan.delayMs > 0 ? new Date(now.getTime() + plan.delayMs) : null,
        now,
        atOnce,
        ...(plan.temporary ? [] : [storable(known)]),
      ],
    });
    const [row] = rows;
    if (row) return { kind: 'begun', status: row.status, sequence: Number(row.sequence) };
    return (await this.#hasThread(plan.threadId)) ? { kind: 'busy' } : { kind: 'no-thread' };
  }

  /** Lets a pending run of this process start, if it is its turn. */
  async claim(runId: string): Promise<boolean> {
    const { rowCount } = await this.#storage.pool.query({
      ...statements.CLAIM,
      values: [runId, this.#processId, new Date(this.#clock.now())],
    });
    return rowCount === 1;
  }

  /** Writes down how a run of this process ended, and what that makes of its thread. */
  async end(plan: Pick<RunPlan, 'runId' | 'temporary'>, end: RunEnd): Promise<void> {
    if (plan.temporary) {
      const now = new Date(this.#clock.now());
      const values = [plan.runId, this.#processId, now, end.status, ...this.#traceOf(end)];
      await this.#storage.pool.query({ ...statements.END_ALONE, values });
      return;
    }
    await this.#storage.pool.query({
      ...statements.END_ON_THREAD,
      values: [
        plan.runId,
        this.#processId,
        new Date(this.#clock.now()),
        end.status,
        end.error ? JSON.stringify(end.error) : null,
        threadStatusAfter(end),
        end.values ?? null,
        end.interrupts,
        ...this.#traceOf(end),
      ],
    });
  }

  #traceOf({ error, usage }: RunEnd): unknown[] {
    if (!this.#traced) return [false, null, null, null];
    const told = error && { error: bounded(error.error, 500), message: bounded(error.message, 10_000) };
    return [true, told ? JSON.stringify(told) : null, usage ? JSON.stringify(usage) : null, this.#traced.revisionId];
  }

  /** Forgets a run of this process and every checkpoint it wrote. */
  async rollBack(runId: string): Promise<void> {
    const now = new Date(this.#clock.now());
    await this.#storage.pool.query({ ...statements.ROLL_BACK, values: [runId, this.#processId, now] });
  }

  /** Writes down what a thread's newest checkpoint holds, JSON, after runs were forgotten. */
  async restoreValues(threadId: string, values: string | null): Promise<void> {
    await this.#storage.db.updateTable('threads').set({ values }).where('thread_id', '=', threadId).execute();
  }

  async get(threadId: string, runId: string): Promise<StoredRun | undefined> {
    const query = this.#storage.db.selectFrom('runs').selectAll();
    return query.where('run_id', '=', runId).where('thread_id', '=', threadId).executeTakeFirst();
  }

  /** The runs of a thread, newest first. */
  async list(threadId: string, page: RunPage): Promise<StoredRun[]> {
    let query = this.#storage.db.selectFrom('runs').selectAll().where('thread_id', '=', threadId);
    if (page.status !== undefined) query = query.where('status', '=', page.status);
    return query
      .orderBy('sequence', 'desc')
      .limit(page.limit ?? PAGE.defaultLimit)
      .offset(page.offset ?? 0)
      .execute();
  }

  /** The unfinished runs of a thread. */
  async unfinished(threadId: string): Promise<{ run_id: string }[]> {
    const query = this.#storage.db.selectFrom('runs').select('run_id').where('thread_id', '=', threadId);
    return query.where('status', 'in', ['pending', 'running']).execute();
  }

  /** The unfinished runs of a thread that were accepted before this one. */
  async unfinishedBefore(threadId: string, runId: string): Promise<{ run_id: string }[]> {
    const query = this.#storage.db.selectFrom('runs').select('run_id').where('thread_id', '=', threadId);
    return query
      .where('status', 'in', ['pending', 'running'])
      .where('sequence', '<', (of) => of.selectFrom('runs').select('sequence').where('run_id', '=', runId))
      .execute();
  }

  /** Deletes a run that has ended; false where it has not. */
  async delete(runId: string): Promise<boolean> {
    const query = this.#storage.db.deleteFrom('runs').where('run_id', '=', runId);
    const { numDeletedRows } = await query.where('status', 'not in', ['pending', 'running']).executeTakeFirstOrThrow();
    return numDeletedRows > 0n;
  }

  /** Asks the process that has a run in hand to end it. */
  async requestCancel(runId: string, action: 'interrupt' | 'rollback'): Promise<void> {
    const query = this.#storage.db.updateTable('runs').set({ cancel_action: action });
    await query.where('run_id', '=', runId).where('status', 'in', ['pending', 'running']).execute();
  }

  /** The runs of this process that another process was asked to end. */
  async cancelRequests(): Promise<{ run_id: string; cancel_action: 'interrupt' | 'rollback' | null }[]> {
    const query = this.#storage.db.selectFrom('runs').select(['run_id', 'cancel_action']);
    return query
      .where('status', 'in', ['pending', 'running'])
      .where('process_id', '=', this.#processId)
      .where('cancel_action', 'is not', null)
      .execute();
  }

  /**
   * Unfinished runs that nobody has in hand, oldest first: no living process, or this one by name only, because it never
   * heard that they had begun.
   *
   * @param inHand the runs that this process knows of.
   */
  async orphans(limit: number, inHand: readonly string[]): Promise<StoredRun[]> {
    const alive = sql<boolean>`exists (
      select from pg_stat_activity a
      where a.datname = current_database() and a.application_name = ${applicationName('')} || runs.process_id::text
    )`;
    const query = this.#storage.db.selectFrom('runs').selectAll().where('status', 'in', ['pending', 'running']);
    return query
      .where((at) => at.or([at('process_id', 'is', null), at.not(alive), at('process_id', '=', this.#processId)]))
      .where(sql<boolean>`run_id <> all(${inHand}::uuid[])`)
      .orderBy('sequence')
      .limit(limit)
      .execute();
  }

  /**
   * Takes an orphan in hand; false where another process was faster. One that shall go on is pending again, and makes
   * its next attempt where it had started.
   */
  async takeUp(run: Pick<StoredRun, 'run_id' | 'process_id'>, toGoOn: boolean): Promise<boolean> {
    const again = { attempt: sql<number>`attempt + (status = 'running')::integer`, status: 'pending' } as const;
    const { numUpdatedRows } = await this.#storage.db
      .updateTable('runs')
      .set({ process_id: this.#processId, updated_at: new Date(this.#clock.now()), ...(toGoOn ? again : {}) })
      .where('run_id', '=', run.run_id)
      .where(sql<boolean>`process_id is not distinct from ${run.process_id}::uuid`)
      .where('status', 'in', ['pending', 'running'])
      .executeTakeFirstOrThrow();
    return numUpdatedRows > 0n;
  }

  /** Lets go of a run of this process, for the next one to take up. */
  async release(runId: string): Promise<void> {
    const query = this.#storage.db.updateTable('runs').set({ process_id: null });
    await query.where('run_id', '=', runId).where('process_id', '=', this.#processId).execute();
  }

  async #hasThread(threadId: string): Promise<boolean> {
    const query = this.#storage.db.selectFrom('threads').select('thread_id').where('thread_id', '=', threadId);
    return (await query.executeTakeFirst()) !== undefined;
  }
}

/** Text within bounds that any database takes. */
const bounded = (text: string, longest: number): string => text.replaceAll('\0', '').slice(0, longest).toWellFormed();

/** What a run's end makes of its thread, where no other run is unfinished. */
export function threadStatusAfter({
  status,
  unfinishedState,
}: Pick<RunEnd, 'status' | 'unfinishedState'>): ThreadStatus {
  if (status === 'error' || status === 'timeout') return 'error';
  return unfinishedState ? 'interrupted' : 'idle';
}
