import { cutText } from '../../../kit/plain-text.ts';
import { sql } from 'kysely';
import type { CancelAction, FinalRunStatus, RunsCancel } from '../../../contract/agent/run.ts';
import type { ThreadStatus } from '../../../contract/agent/thread.ts';
import type { Clock } from '../../../kit/clock.ts';
import type { Storage } from '../storage/open.ts';
import { storableJson } from '../../../kit/json-text.ts';
import { expiryCondition, type ExpiryCondition } from '../threads/lifetime.ts';
import { storedTypes, typeOfOthers, type EngineLanguage } from '../graphs/checkpoint-language.ts';
import type { CheckpointBatch } from '../graphs/checkpoint-batch.ts';
import { inTransaction, type Queryable } from '../storage/transaction.ts';
import { webhookHost } from '../webhooks/parse-target.ts';
import type { Hold } from './hold.ts';
import type { RunPlan } from './run-plan.ts';
import type { RunEnd } from './run-row.ts';
import { RunReads } from './run-reads.ts';
import * as statements from './statements.ts';
import * as undoing from './undo-statements.ts';

/** Selects unfinished runs to cancel; all criteria must match. */
export interface CancelFilter {
  threadId?: string | undefined;
  runIds?: readonly string[] | undefined;
  status?: RunsCancel['status'];
}

/** The outcome of storing a run. `sequence` is the order of acceptance. */
export type BeginRunResult =
  | { kind: 'started'; status: 'pending' | 'running'; sequence: number }
  | { kind: 'no-thread' }
  | { kind: 'busy' }
  | { kind: 'other-language'; written: EngineLanguage };

/** The runs of a deployment. Every change names the process, so that a process presumed dead changes nothing. */
export class RunStore extends RunReads {
  readonly #processId: string;
  readonly #hold: Pick<Hold, 'mark'> | undefined;
  readonly #traced: { revisionId: string | null } | undefined;
  readonly #beginOnThread: ReturnType<typeof statements.beginOnThread>;
  #webhooks: { ring(): void } | undefined;

  /**
   * @param traced whether runs are exported, and of which revision. @param isOver excludes expired threads. @param hold
   * marks the runs of a held revision.
   */
  constructor(
    storage: Storage,
    processId: string,
    clock: Clock,
    traced?: { revisionId: string | null },
    isOver: ExpiryCondition = expiryCondition(),
    hold?: Pick<Hold, 'mark'>,
  ) {
    super(storage, clock, isOver);
    this.#beginOnThread = statements.beginOnThread(isOver('$12'));
    this.#hold = hold;
    this.#traced = traced;
    this.#processId = processId;
  }

  /** Queues webhooks of ended runs from now on, and notifies the deliverer; without this call none is sent. */
  sendWebhooks(webhooks: { ring(): void }): void {
    this.#webhooks = webhooks;
  }

  /**
   * Stores a run; `atOnce` makes it `running` if its thread is free. `on`: the connection of an open transaction.
   * @param language that of the graph, if the thread may have a state in another one.
   */
  async begin(
    plan: RunPlan,
    stateless: boolean,
    atOnce: boolean,
    { on = this.storage.pool, language }: { on?: Queryable; language?: EngineLanguage | undefined } = {},
  ): Promise<BeginRunResult> {
    const statement = plan.temporary
      ? statements.beginAlone
      : stateless
        ? statements.beginWithThread
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
        storableJson(plan.metadata),
        JSON.stringify(plan.kwargs),
        plan.multitaskStrategy,
        plan.temporary,
        plan.detached,
        this.#processId,
        plan.delayMs > 0 ? new Date(now.getTime() + plan.delayMs) : null,
        now,
        atOnce,
        ...(plan.temporary ? [] : [storableJson(known)]),
        ...(stateless ? [] : [plan.kwargs.thread_stream === true]),
        this.#hold?.mark ?? null,
        ...(plan.temporary || stateless ? [] : [Object.values(storedTypes), typeOfOthers(language)]),
      ],
    });
    const [row] = rows;
    if (row) return { kind: 'started', status: row.status, sequence: Number(row.sequence) };
    const written = language && (await this.languageOf(plan.threadId));
    if (written !== undefined && written !== language) return { kind: 'other-language', written };
    return (await this.hasThread(plan.threadId)) ? { kind: 'busy' } : { kind: 'no-thread' };
  }

  /** Stores several stateless runs: all or none. @returns their positions in the order of acceptance. */
  async beginAll(plans: readonly RunPlan[]): Promise<number[]> {
    return inTransaction(this.storage.pool, async (client) => {
      const places: number[] = [];
      for (const plan of plans) {
        const started = await this.begin(plan, true, false, { on: client });
        if (started.kind === 'started') places.push(started.sequence);
      }
      return places;
    });
  }

  /** Starts a pending run of this process if it is its turn. */
  async claim(runId: string): Promise<boolean> {
    const { rowCount } = await this.storage.pool.query({
      ...statements.claimRun,
      values: [runId, this.#processId, new Date(this.clock.now())],
    });
    return rowCount === 1;
  }

  /**
   * Stores the end of a run with its thread's state, its webhook and its last checkpoints; false if it has ended or
   * another process has it.
   */
  async end(
    plan: Pick<RunPlan, 'runId' | 'temporary' | 'webhook'>,
    end: RunEnd,
    last?: CheckpointBatch,
  ): Promise<boolean> {
    const url = this.#webhooks === undefined ? undefined : plan.webhook;
    const hook = url === undefined ? [null, null] : [url, webhookHost(url)];
    const error = end.error ? JSON.stringify(end.error) : null;
    const ended = [plan.runId, this.#processId, new Date(this.clock.now())];
    const trace = this.#traceOf(end);
    const onThread = [end.status, error, threadStatusAfter(end), end.values ?? null, end.interrupts];
    const { rowCount } = await this.storage.pool.query(
      plan.temporary
        ? { ...statements.endAlone, values: [...ended, ...trace, ...hook, end.status, error] }
        : {
            ...(last ? statements.endWithCheckpoints : statements.endOnThread),
            values: [...ended, ...onThread, ...trace, ...hook, ...(last?.parameters() ?? [])],
          },
    );
    if (url !== undefined) this.#webhooks?.ring();
    return (rowCount ?? 0) > 0;
  }

  /** Whether the run is exported, its bounded error, what else is exported, and its status in lists of runs. */
  #traceOf(end: RunEnd): unknown[] {
    const { error, usage, trace } = end;
    const reported = error && {
      error: cutText(withoutNul(error.error), 500),
      message: cutText(withoutNul(error.message), 10_000),
    };
    const reportedJson = reported ? JSON.stringify(reported) : null;
    const status = listedStatus(end);
    if (!this.#traced) return [false, reportedJson, null, null, null, status];
    return [true, reportedJson, usage ? JSON.stringify(usage) : null, this.#traced.revisionId, trace ?? null, status];
  }

  /** Deletes a run of this process with all it wrote, which restores its thread. */
  async rollBack(runId: string): Promise<void> {
    const now = new Date(this.clock.now());
    await inTransaction(this.storage.pool, async (client) => {
      await client.query({ ...undoing.lockThread, values: [runId] });
      await client.query({ ...undoing.rollBackRun, values: [runId, this.#processId, now] });
    });
  }

  /** Undoes a run of this process that consumed a resume value without reaching a checkpoint, to start it again. */
  async startOver(runId: string): Promise<void> {
    await this.storage.pool.query({ ...undoing.startRunOver, values: [runId, this.#processId] });
  }

  /** Withdraws the run's resume values that subgraphs have consumed, so that no other interrupt receives them. */
  async answerTaken(runId: string): Promise<void> {
    await this.storage.pool.query({ ...undoing.withdrawResumeValues, values: [runId, this.#processId] });
  }

  /** Withdraws the resume values of earlier runs on the thread, so that no interrupt receives them. */
  async formerAnswersTaken({ threadId, runId }: Pick<RunPlan, 'threadId' | 'runId'>): Promise<void> {
    const values = [threadId, runId, this.#processId];
    await this.storage.pool.query({ ...undoing.withdrawFormerResumeValues, values });
  }

  /** Deletes an ended run with its events; false if it has not ended. */
  async delete(runId: string): Promise<boolean> {
    const { rowCount } = await this.storage.pool.query(
      `with run as (delete from runs where run_id = $1 and status not in ('pending', 'running') returning run_id),
         events_deleted as (delete from run_events using run where run_events.run_id = run.run_id)
       select from run`,
      [runId],
    );
    return rowCount === 1;
  }

  /** Requests the processes of these runs to end those that are unfinished. @returns their ids. */
  async requestCancel({ threadId, runIds, status }: CancelFilter, action: CancelAction): Promise<string[]> {
    let query = this.storage.db.updateTable('runs').set({ cancel_action: action });
    if (threadId !== undefined) query = query.where('thread_id', '=', threadId);
    if (runIds !== undefined) query = query.where(sql<boolean>`run_id = any(${runIds}::uuid[])`);
    const statuses = status === undefined || status === 'all' ? (['pending', 'running'] as const) : [status];
    if (runIds === undefined) query = query.where('ended_at', 'is', null);
    const rows = await query.where('status', 'in', statuses).returning('run_id').execute();
    return rows.map(({ run_id }) => run_id);
  }
}

/** Removes what the database does not accept. */
const withoutNul = (text: string): string => text.replaceAll('\0', '').toWellFormed();

/** The status of a run in lists: one that waits for a person is interrupted, which the API calls a success. */
const listedStatus = ({ status, unfinishedState }: Pick<RunEnd, 'status' | 'unfinishedState'>): FinalRunStatus =>
  status === 'success' && unfinishedState ? 'interrupted' : status;

/** The status of a thread after its last unfinished run. */
export function threadStatusAfter({
  status,
  unfinishedState,
}: Pick<RunEnd, 'status' | 'unfinishedState'>): ThreadStatus {
  if (status === 'error' || status === 'timeout') return 'error';
  return unfinishedState ? 'interrupted' : 'idle';
}
