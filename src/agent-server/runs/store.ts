import { sql } from 'kysely';
import type { ClientBase } from 'pg';
import type { CancelAction, RunsCancel } from '../../contract/agent/run.ts';
import type { ThreadStatus } from '../../contract/agent/thread.ts';
import type { Clock } from '../../clock.ts';
import type { Storage } from '../storage/open.ts';
import { storable } from '../storage/storable.ts';
import { overBy } from '../threads/over.ts';
import type { IsOver } from '../threads/over.ts';
import { inTransaction } from '../threads/transaction.ts';
import { webhookHost } from '../webhooks/webhooks.ts';
import type { RunPlan } from './run-plan.ts';
import type { RunEnd } from './run-row.ts';
import { RunReads } from './reads.ts';
import * as statements from './statements.ts';
import * as undoing from './undo-statements.ts';

/** Which unfinished runs to cancel: those that are all of what is said. */
export interface CancelFilter {
  threadId?: string | undefined;
  runIds?: readonly string[] | undefined;
  status?: RunsCancel['status'];
}

/** What takes statements: any connection, or that of a transaction. */
export type Querying = Pick<ClientBase, 'query'>;

/** What became of a run that was asked for. `sequence` is the order of acceptance. */
export type Started =
  { kind: 'started'; status: 'pending' | 'running'; sequence: number } | { kind: 'no-thread' } | { kind: 'busy' };

/** The runs of a deployment, in its database. Every change names the process, so that a process that was taken for dead changes nothing. */
export class RunStore extends RunReads {
  readonly #storage: Storage;
  readonly #processId: string;
  readonly #clock: Clock;
  readonly #traced: { revisionId: string | null } | undefined;
  readonly #beginOnThread: ReturnType<typeof statements.beginOnThread>;
  #webhooks: { ring(): void } | undefined;

  /**
   * @param traced where runs are told to a tracing project: as those of which revision.
   * @param isOver of which threads the time is over: they have no runs, and none begins there.
   */
  constructor(
    storage: Storage,
    processId: string,
    clock: Clock,
    traced?: { revisionId: string | null },
    isOver: IsOver = overBy(),
  ) {
    super(storage, clock, isOver);
    this.#beginOnThread = statements.beginOnThread(isOver('$12'));
    this.#traced = traced;
    this.#storage = storage;
    this.#processId = processId;
    this.#clock = clock;
  }

  /** Has the webhooks of runs that end written down from now on, and rings where there is one; without it none is sent. */
  sendWebhooks(webhooks: { ring(): void }): void {
    this.#webhooks = webhooks;
  }

  /**
   * Writes a run down before anything of it happens. `atOnce` lets it be `running` from the start, where its thread is
   * free. `on` is the connection of a transaction that it shall be a part of.
   */
  async begin(plan: RunPlan, stateless: boolean, atOnce: boolean, on: Querying = this.#storage.pool): Promise<Started> {
    const statement = plan.temporary
      ? statements.BEGIN_ALONE
      : stateless
        ? statements.BEGIN_WITH_THREAD
        : this.#beginOnThread;
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
    if (row) return { kind: 'started', status: row.status, sequence: Number(row.sequence) };
    return (await this.hasThread(plan.threadId)) ? { kind: 'busy' } : { kind: 'no-thread' };
  }

  /**
   * Writes several stateless runs down: all of them, or none.
   *
   * @returns their places in the order of acceptance.
   */
  async beginAll(plans: readonly RunPlan[]): Promise<number[]> {
    const client = await this.#storage.pool.connect();
    let isBroken = true;
    try {
      await client.query('begin');
      const places: number[] = [];
      for (const plan of plans) {
        const started = await this.begin(plan, true, false, client);
        if (started.kind === 'started') places.push(started.sequence);
      }
      await client.query('commit');
      isBroken = false;
      return places;
    } finally {
      // A connection that is closed in the middle of a transaction takes it back.
      client.release(isBroken);
    }
  }

  /** Lets a pending run of this process start, if it is its turn. */
  async claim(runId: string): Promise<boolean> {
    const { rowCount } = await this.#storage.pool.query({
      ...statements.CLAIM,
      values: [runId, this.#processId, new Date(this.#clock.now())],
    });
    return rowCount === 1;
  }

  /**
   * Writes down how a run of this process ended, what that makes of its thread, and what its webhook is to tell.
   *
   * @returns whether anything was changed: not where the run is another process's by now, or has ended already.
   */
  async end(plan: Pick<RunPlan, 'runId' | 'temporary' | 'webhook'>, end: RunEnd): Promise<boolean> {
    const url = this.#webhooks === undefined ? undefined : plan.webhook;
    const hook = url === undefined ? [] : [url, webhookHost(url)];
    const now = new Date(this.#clock.now());
    const error = end.error ? JSON.stringify(end.error) : null;
    let changed: { rowCount: number | null };
    if (plan.temporary) {
      const ended = [plan.runId, this.#processId, now, end.status, ...this.#traceOf(end)];
      changed = await this.#storage.pool.query(
        url === undefined
          ? { ...statements.END_ALONE, values: ended }
          : { ...statements.END_ALONE_HOOKED, values: [...ended, ...hook, error] },
      );
    } else {
      changed = await this.#storage.pool.query({
        ...(url === undefined ? statements.END_ON_THREAD : statements.END_ON_THREAD_HOOKED),
        values: [
          plan.runId,
          this.#processId,
          now,
          end.status,
          error,
          threadStatusAfter(end),
          end.values ?? null,
          end.interrupts,
          ...this.#traceOf(end),
          ...hook,
        ],
      });
    }
    if (url !== undefined) this.#webhooks?.ring();
    return (changed.rowCount ?? 0) > 0;
  }

  #traceOf({ error, usage }: RunEnd): unknown[] {
    if (!this.#traced) return [false, null, null, null];
    const reported = error && { error: bounded(error.error, 500), message: bounded(error.message, 10_000) };
    return [
      true,
      reported ? JSON.stringify(reported) : null,
      usage ? JSON.stringify(usage) : null,
      this.#traced.revisionId,
    ];
  }

  /** Forgets a run of this process and all that it wrote: its thread is as it was before. */
  async rollBack(runId: string): Promise<void> {
    const now = new Date(this.#clock.now());
    await inTransaction(this.#storage.pool, async (client) => {
      await client.query({ ...undoing.LOCK_THREAD, values: [runId] });
      await client.query({ ...undoing.ROLL_BACK, values: [runId, this.#processId, now] });
    });
  }

  /** Has a run of this process begin anew that took an answer, and came to no state of its own. */
  async startOver(runId: string): Promise<void> {
    await this.#storage.pool.query({ ...undoing.START_OVER, values: [runId, this.#processId] });
  }

  /** Has no other question get the answers that a run of this process was told, which graphs inside have taken. */
  async answerTaken(runId: string): Promise<void> {
    await this.#storage.pool.query({ ...undoing.ANSWER_TAKEN, values: [runId, this.#processId] });
  }

  /** Has no question get the answers that former runs on the thread were told. */
  async formerAnswersTaken({ threadId, runId }: Pick<RunPlan, 'threadId' | 'runId'>): Promise<void> {
    const values = [threadId, runId, this.#processId];
    await this.#storage.pool.query({ ...undoing.FORMER_ANSWERS_TAKEN, values });
  }

  /** Deletes a run that has ended, with its events; false where it has not. */
  async delete(runId: string): Promise<boolean> {
    const { rowCount } = await this.#storage.pool.query(
      `with run as (delete from runs where run_id = $1 and status not in ('pending', 'running') returning run_id),
         told as (delete from run_events using run where run_events.run_id = run.run_id)
       select from run`,
      [runId],
    );
    return rowCount === 1;
  }

  /**
   * Asks the processes that have these runs in hand to end those that have not ended.
   *
   * @returns which they are.
   */
  async requestCancel({ threadId, runIds, status }: CancelFilter, action: CancelAction): Promise<string[]> {
    let query = this.#storage.db.updateTable('runs').set({ cancel_action: action });
    if (threadId !== undefined) query = query.where('thread_id', '=', threadId);
    if (runIds !== undefined) query = query.where(sql<boolean>`run_id = any(${runIds}::uuid[])`);
    const statuses = status === undefined || status === 'all' ? (['pending', 'running'] as const) : [status];
    if (runIds === undefined) query = query.where('ended_at', 'is', null);
    const rows = await query.where('status', 'in', statuses).returning('run_id').execute();
    return rows.map(({ run_id }) => run_id);
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
