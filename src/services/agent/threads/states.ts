import type { Pool, PoolClient } from 'pg';
import type { Clock } from '../../../kit/clock.ts';
import { parseExactly } from '../../../kit/exact-number.ts';
import { freeObject, type FreeObject } from '../../../contract/agent/open-word.ts';
import type { Superstep } from '../../../contract/agent/run.ts';
import type { Graphs } from '../graphs/graphs.ts';
import { noGraph, noThread, Refusal, unacceptable } from '../refusal.ts';
import { checkpointOf } from '../runs/debug-payload.ts';
import { isStateful, type StatefulGraph } from '../graphs/stateful.ts';
import { readsThread, updatesThread } from '../graphs/graph.ts';
import { refuseFactoryError } from '../runs/run-error.ts';
import { openTasks } from '../runs/open-tasks.ts';
import { storableJson } from '../../../kit/json-text.ts';
import type { Lifetime } from './lifetime.ts';
import { hasCheckpoint, noCheckpoint, checkpointConfigurable, type CheckpointSelector } from './checkpoint-selector.ts';
import { emptyState, showState } from './state.ts';
import type { StoredThread, ThreadStore } from './store.ts';
import { inTransaction, SerialQueue, SingleClientPool } from '../storage/transaction.ts';
import { asRefused, saveThreadState, writeSteps, type Step } from './write-states.ts';

export interface ThreadStatesDependencies {
  pool: Pool;
  threads: ThreadStore;
  graphs: Graphs;
  clock: Clock;
  /** Called after a manual update: the thread's newest state in the API's form, and when (ms). */
  reportUpdate: (threadId: string, state: object, at: number) => void;
}

export interface StateUpdate {
  values: unknown;
  asNode: string | undefined;
  /** The state to update; the newest by default. */
  where: CheckpointSelector;
}

export interface HistoryRequest {
  limit: number;
  /** The id of a checkpoint: only earlier ones. */
  before?: string | undefined;
  metadata?: FreeObject | undefined;
  where: CheckpointSelector;
}

export interface FilledThread {
  threadId: string;
  metadata: FreeObject;
  lifetime: Lifetime | undefined;
  supersteps: readonly Superstep[];
}

/** The states of threads: current, history, and manual updates. */
export class ThreadStates {
  readonly #dependencies: ThreadStatesDependencies;
  /** At most one transaction that runs the agent's code: it holds one of two connections, and runs need the other. */
  readonly #line = new SerialQueue();

  constructor(dependencies: ThreadStatesDependencies) {
    this.#dependencies = dependencies;
  }

  /** The state at a checkpoint, or the newest. @throws Refusal 404 for a missing checkpoint or graph. */
  async at(thread: StoredThread, where: CheckpointSelector, subgraphs: boolean): Promise<object> {
    const graphId = this.#graphIdOf(thread);
    if (graphId === undefined) {
      if (where.checkpoint_id) throw noCheckpoint(thread.thread_id, where.checkpoint_id);
      return emptyState(thread.thread_id);
    }
    const graph = await this.#graph(thread.thread_id, graphId);
    const snapshot = await graph.getState(
      { configurable: checkpointConfigurable(thread.thread_id, where) },
      { subgraphs },
    );
    if (where.checkpoint_id && snapshot.createdAt === undefined) {
      throw noCheckpoint(thread.thread_id, where.checkpoint_id);
    }
    return showState(snapshot, await openTasks(graph, snapshot));
  }

  /** The states of a thread, newest first; empty without runs. */
  async history(thread: StoredThread, { limit, before, metadata, where }: HistoryRequest): Promise<object[]> {
    const graphId = this.#graphIdOf(thread);
    if (graphId === undefined) return [];
    const graph = await this.#graph(thread.thread_id, graphId);
    const states = graph.getStateHistory(
      { configurable: checkpointConfigurable(thread.thread_id, where) },
      {
        limit,
        before: before === undefined ? undefined : { configurable: { checkpoint_id: before } },
        filter: metadata && searchable(metadata),
      },
    );
    const shown: object[] = [];
    for await (const state of states) shown.push(showState(state, await openTasks(graph, state)));
    return shown;
  }

  /**
   * Updates a state manually; returns the new checkpoint. @throws Refusal 404 for a missing thread, graph or
   * checkpoint, 409 with unfinished runs, 422 for values that the graph rejects.
   */
  async update(threadId: string, { values, asNode, where }: StateUpdate): Promise<FreeObject> {
    const { threads } = this.#dependencies;
    const { checkpoint, state, at } = await this.#within(async (client) => {
      const thread = await lock(client, threadId);
      if (!thread || !(await threads.get(threadId, client))) throw noThread(threadId);
      if (thread.unfinished > 0) {
        throw new Refusal(409, `Thread is busy. Wait for the end of the run on thread ${threadId}, or cancel it.`);
      }
      const graphId = this.#graphIdOf(thread);
      if (graphId === undefined) {
        const advice = 'Start a run on it, or create it with metadata.graph_id.';
        throw new Refusal(422, `Thread ${threadId} has no graph ID, so it has no state. ${advice}`);
      }
      if (where.checkpoint_id && !(await hasCheckpoint(client, threadId, where))) {
        throw noCheckpoint(threadId, where.checkpoint_id);
      }
      const step = { updates: [{ values, asNode }] };
      return this.#write(client, { threadId, graphId, where, steps: [step] });
    });
    this.#dependencies.reportUpdate(threadId, state, at);
    return checkpoint;
  }

  /** Creates a thread with states, unless it exists. @throws Refusal 422 for its graph, or values that it rejects. */
  async create({ threadId, metadata, lifetime, supersteps }: FilledThread): ReturnType<ThreadStore['create']> {
    const { threads, graphs } = this.#dependencies;
    if (supersteps.length === 0) return threads.create(threadId, metadata, lifetime);
    const graphId = metadata['graph_id'];
    if (typeof graphId !== 'string' || !graphs.has(graphId)) {
      throw unacceptable('supersteps', 'need metadata.graph_id, the id of a graph of this deployment');
    }
    const steps = supersteps.map(({ updates }): Step => ({
      updates: updates.map(({ values, command, as_node }) => ({
        values: command ? graphs.command(graphId, command) : values,
        asNode: as_node,
      })),
    }));
    return this.#within(async (client) => {
      const made = await threads.create(threadId, metadata, lifetime, client);
      if (made.kind === 'there') return made;
      await this.#write(client, { threadId, graphId, where: {}, steps });
      return { kind: 'made', thread: (await threads.get(threadId, client)) ?? made.thread };
    });
  }

  /**
   * Copies a thread with its states so far, without its runs; undefined if there is no such thread.
   *
   * @param metadata merged into that of the copy, which is never there without it.
   */
  async copy(threadId: string, copyId: string, metadata: FreeObject = {}): Promise<StoredThread | undefined> {
    const { clock, threads, graphs } = this.#dependencies;
    await graphs.writes.flushThread(threadId);
    return this.#within(async (client) => {
      if (!(await threads.get(threadId, client))) return undefined;
      const now = new Date(clock.now());
      const { rows } = await client.query<StoredThread>(copyThread, [threadId, copyId, now, storableJson(metadata)]);
      const [copy] = rows;
      if (copy?.status !== 'busy') return copy;
      const graphId = this.#graphIdOf(copy);
      if (graphId === undefined) throw new Error(`Thread ${threadId} is busy without a graph.`);
      const graph = await this.#graph(threadId, graphId, new SingleClientPool(client));
      await saveThreadState(client, graph, { threadId: copyId, now: clock.now() });
      return threads.get(copyId, client);
    });
  }

  async #write(
    client: PoolClient,
    order: { threadId: string; graphId: string; where: CheckpointSelector; steps: Step[] },
  ) {
    const { clock } = this.#dependencies;
    const { threadId, graphId, where, steps } = order;
    const pool = new SingleClientPool(client);
    const graph = await this.#graph(threadId, graphId, pool);
    return asRefused(pool, async () => {
      const place = { ...checkpointConfigurable(threadId, where), graph_id: graphId };
      const written = await writeSteps(graph, place, steps);
      const at = clock.now();
      const { state, open } = await saveThreadState(client, graph, { threadId, now: at });
      return { checkpoint: checkpointOf(written) ?? {}, state: showState(state, open), at };
    });
  }

  /** The graph that last ran on a thread, or that it was created for, if any. @throws Refusal 404 if it is missing. */
  #graphIdOf(thread: StoredThread): string | undefined {
    const graphId = thread.metadata['graph_id'];
    if (typeof graphId !== 'string') return undefined;
    if (this.#dependencies.graphs.has(graphId)) return graphId;
    throw noGraph(graphId, `Thread ${thread.thread_id}`);
  }

  /** The graph as the thread's last run configured it, its checkpoints in `pool`. @throws Refusal 422 if not made. */
  async #graph(threadId: string, graphId: string, pool?: Pool): Promise<StatefulGraph> {
    const { graphs, threads } = this.#dependencies;
    const configurable = await threads.lastConfigurable(threadId, pool);
    const making = pool
      ? graphs.makeOver(graphId, { configurable, runtime: updatesThread }, pool)
      : graphs.make(graphId, { configurable, runtime: readsThread }, 'thread');
    const graph = await refuseFactoryError(making, graphId, `the last run on thread ${threadId}`);
    if (isStateful(graph)) return graph;
    throw new Refusal(422, `The engine of graph "${graphId}" does not support state history and updates.`);
  }

  #within<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    return this.#line.do(() => inTransaction(this.#dependencies.pool, work));
  }
}

async function lock(client: PoolClient, threadId: string) {
  const { rows } = await client.query<StoredThread & { unfinished: number }>(
    'select * from threads where thread_id = $1 for update',
    [threadId],
  );
  return rows[0];
}

/** Metadata in its searchable form. */
const searchable = (metadata: FreeObject): FreeObject => freeObject.parse(parseExactly(storableJson(metadata)));

/**
 * $1 thread, $2 the new thread, $3 now, $4 more metadata. Copies a thread with its states in one statement, as a consistent snapshot; no
 * row if there is no such thread. The copy's time to live starts now.
 */
const copyThread = `
  with source as (
    select * from threads where thread_id = $1::uuid
  ), checkpoints_made as (
    insert into checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata)
    select $2::uuid::text, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint,
      case when metadata ? 'thread_id' then jsonb_set(metadata, '{thread_id}', to_jsonb($2::uuid::text)) else metadata end
    from checkpoints where thread_id = $1::uuid::text
  ), blobs_made as (
    insert into checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
    select $2::uuid::text, checkpoint_ns, channel, version, type, blob
    from checkpoint_blobs where thread_id = $1::uuid::text
  ), writes_made as (
    insert into checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob)
    select $2::uuid::text, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob
    from checkpoint_writes where thread_id = $1::uuid::text
  )
  insert into threads
    (thread_id, status, metadata, config, "values", interrupts, created_at, updated_at, state_updated_at,
      ttl_strategy, ttl_minutes, expires_at)
  select $2::uuid, status, metadata || $4::jsonb, config, "values", interrupts, $3, $3, state_updated_at,
    ttl_strategy, ttl_minutes, $3::timestamptz + make_interval(secs => ttl_minutes * 60)
  from source
  returning *`;
