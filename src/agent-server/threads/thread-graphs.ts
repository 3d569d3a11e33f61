import type { Pool } from 'pg';
import type { FreeObject } from '../../contract/agent/open-word.ts';
import type { Graph } from '../graphs/graph.ts';
import { GraphNotMade } from '../graphs/graph-not-made.ts';
import type { Graphs } from '../graphs/graphs.ts';
import { isStateful, type StatefulGraph } from '../graphs/stateful.ts';
import { missing, Refusal } from '../refusal.ts';
import { describeError } from '../runs/run-error.ts';
import type { StoredThread, ThreadStore } from './store.ts';

/** The graphs that read and write the states of threads. */
export class ThreadGraphs {
  readonly #graphs: Graphs;
  readonly #threads: ThreadStore;

  constructor(graphs: Graphs, threads: ThreadStore) {
    this.#graphs = graphs;
    this.#threads = threads;
  }

  /**
   * The id of the graph that last ran on a thread, or that it was created for; undefined if there is none.
   *
   * @throws Refusal 404 if this revision lacks the graph.
   */
  idOf(thread: StoredThread): string | undefined {
    const graphId = thread.metadata['graph_id'];
    if (typeof graphId !== 'string') return undefined;
    if (this.#graphs.has(graphId)) return graphId;
    throw missing(`Thread ${thread.thread_id} is of graph "${graphId}", which this revision does not have.`);
  }

  /**
   * The graph, created from the configuration of the thread's last run.
   *
   * @throws Refusal 422 if the agent's factory fails.
   */
  async read(threadId: string, graphId: string): Promise<StatefulGraph> {
    const configurable = await this.#threads.lastConfigurable(threadId);
    return makeStateful(graphId, threadId, () => this.#graphs.make(graphId, { configurable }, 'thread'));
  }

  /** The same with its checkpoints in the caller's pool, from which the configuration is read too. */
  async readOver(threadId: string, graphId: string, pool: Pool): Promise<StatefulGraph> {
    const configurable: FreeObject = await this.#threads.lastConfigurable(threadId, pool);
    return makeStateful(graphId, threadId, () => this.#graphs.makeOver(graphId, { configurable }, pool));
  }
}

async function makeStateful(graphId: string, threadId: string, make: () => Promise<Graph>): Promise<StatefulGraph> {
  const graph = await make().catch((thrown: unknown) => {
    if (!(thrown instanceof GraphNotMade)) throw thrown;
    const { error, message } = describeError(thrown.cause);
    const asLast = `with the configuration of the last run on thread ${threadId}`;
    throw new Refusal(422, `Graph "${graphId}" can't be made ${asLast}: ${error}: ${message}`);
  });
  if (isStateful(graph)) return graph;
  throw new Refusal(422, `The engine of graph "${graphId}" can neither look back on states nor write them.`);
}

/** Runs tasks one after the other, in the order of arrival. */
export class OneAtATime {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs the task once all earlier ones have settled. */
  do<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work, work);
    this.#last = mine.catch(() => undefined);
    return mine;
  }
}
