import type { Pool } from 'pg';
import type { Command } from '../../contract/agent/run.ts';
import type { GraphStore } from '../store/graph-store.ts';
import { Checkpoints } from './checkpoints.ts';
import type { MemoryCheckpoints } from './engine.ts';
import type { Graph } from './graph.ts';
import { GraphNotMade } from './graph-not-made.ts';
import { graphsInside } from './subgraphs.ts';
import type { SubgraphsQuery } from './subgraphs.ts';
import type { LoadedGraph } from './load.ts';
import { schemasOf } from './schemas.ts';
import type { GraphSchemaSet } from './schemas.ts';
import { WritesUnderWay } from './writes-under-way.ts';

/** Where a run's checkpoints go: to the thread, or nowhere that outlives the run. */
export type CheckpointRetention = 'thread' | 'nothing';

/** What a graph may look at when it is made for one run. */
export interface MakeConfig {
  configurable: Record<string, unknown>;
}

interface Attached extends LoadedGraph {
  checkpoints: Checkpoints;
  memory: MemoryCheckpoints;
}

/** The graphs of this revision, each with our checkpoints and our store in the place of its own. */
export class Graphs {
  readonly #graphs: ReadonlyMap<string, Attached>;
  /** The copies with our checkpoints: a graph that is the same for every run is attached once. */
  readonly #copies = new WeakMap<Graph, Map<CheckpointRetention, Graph>>();

  readonly #store: GraphStore;

  /** What runs write of their states. */
  readonly writes = new WritesUnderWay();

  constructor(loaded: readonly LoadedGraph[], pool: Pool, store: GraphStore) {
    this.#store = store;
    this.#graphs = new Map(
      loaded.map((graph) => [
        graph.graphId,
        {
          ...graph,
          checkpoints: new Checkpoints(pool, graph.engine.serializer, this.writes),
          memory: graph.engine.memoryCheckpoints(),
        },
      ]),
    );
  }

  /** The ids, in the configuration file's order, with what the file says about each graph. */
  list(): { graphId: string; description: string | undefined }[] {
    return [...this.#graphs.values()].map(({ graphId, description }) => ({ graphId, description }));
  }

  has(graphId: string): boolean {
    return this.#graphs.has(graphId);
  }

  /**
   * The graph for one run. The caller has made sure that it exists.
   *
   * @throws GraphNotMade where a function of the agent's throws, or returns no graph.
   */
  async make(graphId: string, config: MakeConfig, retention: CheckpointRetention): Promise<Graph> {
    const attached = this.#attached(graphId);
    const graph = await attached.make(config).catch((error: unknown) => {
      throw new GraphNotMade(graphId, error);
    });
    const copies = this.#copies.get(graph) ?? new Map<CheckpointRetention, Graph>();
    this.#copies.set(graph, copies);
    const known = copies.get(retention);
    if (known) return known;
    const copy = graph.withConfig({});
    copy.checkpointer = retention === 'thread' ? attached.checkpoints : attached.memory;
    copy.store = this.#store;
    copies.set(retention, copy);
    return copy;
  }

  /** The graph with its checkpoints in a pool of the caller's, such as one over the connection of a transaction. */
  async makeOver(graphId: string, config: MakeConfig, pool: Pool): Promise<Graph> {
    const attached = this.#attached(graphId);
    const graph = await attached.make(config).catch((error: unknown) => {
      throw new GraphNotMade(graphId, error);
    });
    const copy = graph.withConfig({});
    copy.checkpointer = new Checkpoints(pool, attached.engine.serializer);
    copy.store = this.#store;
    return copy;
  }

  /** Forgets what a run that keeps nothing left in memory. */
  async forget(graphId: string, threadId: string): Promise<void> {
    await this.#attached(graphId).memory.deleteThread(threadId);
  }

  /** The JSON schemas of a graph that `make` made. */
  async schemas(graphId: string, graph: Graph): Promise<GraphSchemaSet> {
    return schemasOf(graph, this.#attached(graphId).engine);
  }

  /** The JSON schemas of the graphs inside a graph that `make` made, each under its namespace. */
  async schemasInside(graphId: string, graph: Graph, query: SubgraphsQuery): Promise<Record<string, GraphSchemaSet>> {
    const { engine } = this.#attached(graphId);
    const inside = await graphsInside(graph, query);
    return Object.fromEntries(
      await Promise.all(inside.map(async ([namespace, one]) => [namespace, await schemasOf(one, engine)] as const)),
    );
  }

  /** The engine's form of a command of the API. */
  command(graphId: string, command: Command): unknown {
    return this.#attached(graphId).engine.command(command);
  }

  #attached(graphId: string): Attached {
    const found = this.#graphs.get(graphId);
    if (!found) throw new Error(`There is no graph "${graphId}" in this revision.`);
    return found;
  }
}
