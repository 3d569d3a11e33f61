import type { Pool, PoolClient } from 'pg';
import type { Clock } from '../../clock.ts';
import { freeObject } from '../../contract/agent/open-word.ts';
import type { FreeObject } from '../../contract/agent/open-word.ts';
import type { Superstep } from '../../contract/agent/superstep.ts';
import type { Graphs } from '../graphs/graphs.ts';
import { missing, Refusal, unacceptable } from '../refusal.ts';
import { checkpointOf } from '../runs/debug-payload.ts';
import { openTasks } from '../runs/open-tasks.ts';
import { storable } from '../storage/storable.ts';
import { COPY } from './copy.ts';
import type { Lifetime } from './lifetime.ts';
import { OneAtATime } from './one-at-a-time.ts';
import { hasCheckpoint, noCheckpoint, placeOf } from './place.ts';
import type { Where } from './place.ts';
import { emptyState, showState } from './state.ts';
import type { StoredThread, ThreadStore } from './store.ts';
import { ThreadGraphs } from './thread-graphs.ts';
import { inTransaction, PoolOfOne } from './transaction.ts';
import { asRefused, settle, writeSteps } from './write-states.ts';
import type { Step } from './write-states.ts';

/** What the states of threads are read and written with. */
export interface ThreadStatesParts {
  pool: Pool;
  threads: ThreadStore;
  graphs: Graphs;
  clock: Clock;
  /** Told when somebody has written a state: the thread's newest one as the API shows it, and when (ms). */
  written: (threadId: string, state: object, at: number) => void;
}

/** A state that somebody writes by hand. */
export interface StateUpdate {
  values: unknown;
  asNode: string | undefined;
  /** After which state; the newest where absent. */
  where: Where;
}

/** Which states of the past are asked for. */
export interface HistoryRequest {
  limit: number;
  /** The id of a checkpoint: only those before it. */
  before?: string | undefined;
  metadata?: FreeObject | undefined;
  where: Where;
}

/** A thread with states that it shall have behind it. */
export interface FilledThread {
  threadId: string;
  metadata: FreeObject;
  lifetime: Lifetime | undefined;
  supersteps: readonly Superstep[];
}

/** The states of threads: read, looked back on, and written by hand. */
export class ThreadStates {
  readonly #parts: ThreadStatesParts;
  readonly #graphs: ThreadGraphs;
  /** One transaction at a time that runs the agent's code: it holds one of two connections, and runs need the other. */
  readonly #line = new OneAtATime();

  constructor(parts: ThreadStatesParts) {
    this.#parts = parts;
    this.#graphs = new ThreadGraphs(parts.graphs, parts.threads);
  }

  /**
   * The state of a thread at a checkpoint, or the newest.
   *
   * @throws Refusal 404 where there is no such checkpoint, or the thread is of a graph that this revision does not have.
   */
  async at(thread: StoredThread, where: Where, subgraphs: boolean): Promise<object> {
    const graphId = this.#graphs.idOf(thread);
    if (graphId === undefined) {
      if (where.checkpoint_id) throw noCheckpoint(thread.thread_id, where.checkpoint_id);
      return emptyState(thread.thread_id);
    }
    const graph = await this.#graphs.read(thread.thread_id, graphId);
    const snapshot = await graph.getState({ configurable: placeOf(thread.thread_id, where) }, { subgraphs });
    if (where.checkpoint_id && snapshot.createdAt === undefined) {
      throw noCheckpoint(thread.thread_id, where.checkpoint_id);
    }
    return showState(snapshot, await openTasks(graph, snapshot));
  }

  /** The states of a thread, newest first; none where nothing ran on it. */
  async history(thread: StoredThread, { limit, before, metadata, where }: HistoryRequest): Promise<object[]> {
    const graphId = this.#graphs.idOf(thread);
    if (graphId === undefined) return [];
    const graph = await this.#graphs.read(thread.thread_id, graphId);
    const states = graph.getStateHistory(
      { configurable: placeOf(thread.thread_id, where) },
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
   * Writes a state by hand.
   *
   * @returns the new checkpoint.
   * @throws Refusal 404 for a thread, a graph or a checkpoint that is not there, 409 while runs on the thread have not
   *   ended, 422 for values that the graph does not take.
   */
  async update(threadId: string, { values, asNode, where }: StateUpdate): Promise<FreeObject> {
    const { threads } = this.#parts;
    const { checkpoint, state, at } = await this.#within(async (client) => {
      const thread = await lock(client, threadId);
      if (!thread || !(await threads.get(threadId, client))) throw missing(`Thread ${threadId} does not exist.`);
      if (thread.unfinished > 0) {
        throw new Refusal(409, `Thread ${threadId} is busy with a run. Wait for its end, or cancel it.`);
      }
      const graphId = this.#graphs.idOf(thread);
      if (graphId === undefined) {
        const advice = 'Start a run on it, or create it with metadata.graph_id.';
        throw new Refusal(422, `Thread ${threadId} is of no graph, so it has no state. ${advice}`);
      }
      if (where.checkpoint_id && !(await hasCheckpoint(client, threadId, where))) {
        throw noCheckpoint(threadId, where.checkpoint_id);
      }
      const step = { updates: [{ values, asNode }] };
      return this.#write(client, { threadId, graphId, where, steps: [step] });
    });
    this.#parts.written(threadId, state, at);
    return checkpoint;
  }

  /**
   * Makes a thread that has states behind it as if its graph had run; one that is there already is left as it is.
   *
   * @throws Refusal 422 where the graph is not named or not there, or does not take the values: then there is no thread.
   */
  async create({ threadId, metadata, lifetime, supersteps }: FilledThread): ReturnType<ThreadStore['create']> {
    const { threads, graphs } = this.#parts;
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
   * Copies a thread with all its states. Its runs stay with the first one; what is copied in the middle of one stands
   * where that had come to.
   *
   * @returns undefined where there is no such thread.
   */
  async copy(threadId: string, copyId: string): Promise<StoredThread | undefined> {
    const { clock, threads } = this.#parts;
    return this.#within(async (client) => {
      if (!(await threads.get(threadId, client))) return undefined;
      const now = new Date(clock.now());
      const { rows } = await client.query<StoredThread>(COPY, [threadId, copyId, now]);
      const [copy] = rows;
      if (copy?.status !== 'busy') return copy;
      const graphId = this.#graphs.idOf(copy);
      if (graphId === undefined) throw new Error(`Thread ${threadId} is busy without a graph.`);
      const graph = await this.#graphs.readOver(threadId, graphId, new PoolOfOne(client));
      await settle(client, graph, { threadId: copyId, now: clock.now() });
      return threads.get(copyId, client);
    });
  }

  async #write(client: PoolClient, order: { threadId: string; graphId: string; where: Where; steps: Step[] }) {
    const { clock } = this.#parts;
    const { threadId, graphId, where, steps } = order;
    const pool = new PoolOfOne(client);
    const graph = await this.#graphs.readOver(threadId, graphId, pool);
    return asRefused(pool, async () => {
      const place = { ...placeOf(threadId, where), graph_id: graphId };
      const written = await writeSteps(graph, place, steps);
      const at = clock.now();
      const { state, open } = await settle(client, graph, { threadId, now: at });
      return { checkpoint: checkpointOf(written) ?? {}, state: showState(state, open), at };
    });
  }

  #within<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    return this.#line.do(() => inTransaction(this.#parts.pool, work));
  }
}

async function lock(
  client: PoolClient,
  threadId: string,
): Promise<(StoredThread & { unfinished: number }) | undefined> {
  const { rows } = await client.query<StoredThread & { unfinished: number }>(
    'select * from threads where thread_id = $1 for update',
    [threadId],
  );
  return rows[0];
}

/** Metadata as the database can look for it. */
const searchable = (metadata: FreeObject): FreeObject => freeObject.parse(JSON.parse(storable(metadata)));
