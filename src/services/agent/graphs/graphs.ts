import type { Pool } from 'pg';
import type { Command } from '../../../contract/agent/run.ts';
import type { GraphStore } from '../store/graph-store.ts';
import { Checkpoints, storeBatch } from './checkpoints.ts';
import type { EngineLanguage } from './checkpoint-language.ts';
import type { MemoryCheckpoints } from './javascript/engine.ts';
import { type Graph, type GraphSchemaSet, GraphFactoryError } from './graph.ts';
import type { LoadedGraph, MakeConfig } from './javascript/load.ts';
import { schemasOfNode, type StaticSchemas } from './javascript/static-schemas/static-schemas.ts';
import { channelNames, schemasOf } from './schemas.ts';
import { CheckpointWriteTracker } from './checkpoint-writes.ts';

interface SubgraphsQuery {
  /** The names of the nodes on the way to one graph, joined by `|`; absent for all graphs. */
  namespace: string | undefined;
  /** Whether to include subgraphs of subgraphs. */
  recurse: boolean;
}

/** The nodes and edges of a graph, expanded up to the depth of `xray`; undefined if its engine does not support it. */
export async function drawGraph(
  graph: Graph,
  configurable: Record<string, unknown>,
  xray: boolean | number,
): Promise<object | undefined> {
  const config = { configurable, xray };
  return (await (graph.getGraphAsync?.(config) ?? graph.getGraph?.(config)))?.toJSON();
}

/** Whether a run's checkpoints are kept on the thread or dropped with the run. */
export type CheckpointRetention = 'thread' | 'nothing';

interface AttachedGraph extends LoadedGraph {
  checkpoints: Checkpoints;
  memory: MemoryCheckpoints;
}

function callFactory(attached: AttachedGraph, config: MakeConfig): Promise<Graph> {
  return attached.make(config).catch((error: unknown) => {
    throw new GraphFactoryError(attached.graphId, error);
  });
}

/** The graphs of this revision, with the server's checkpointer and store instead of their own. */
export class Graphs {
  readonly #graphs: ReadonlyMap<string, AttachedGraph>;
  /** Copies with our checkpointer: a graph that is the same for every run is copied once. */
  readonly #copies = new WeakMap<Graph, Map<CheckpointRetention, Graph>>();

  readonly #store: GraphStore;
  readonly #types: StaticSchemas | undefined;

  readonly writes: CheckpointWriteTracker;

  /** @param types what the build read from the graphs' types in TypeScript. */
  constructor(loaded: readonly LoadedGraph[], pool: Pool, store: GraphStore, types?: StaticSchemas) {
    this.#store = store;
    this.#types = types;
    this.writes = new CheckpointWriteTracker((runId, batch) => storeBatch(pool, runId, batch));
    this.#graphs = new Map(
      loaded.map((graph) => [
        graph.graphId,
        {
          ...graph,
          checkpoints: new Checkpoints(pool, graph.engine, this.writes),
          memory: graph.engine.memoryCheckpoints(),
        },
      ]),
    );
  }

  /** The ids in the configuration file's order, with their descriptions. */
  list(): { graphId: string; description: string | undefined }[] {
    return [...this.#graphs.values()].map(({ graphId, description }) => ({ graphId, description }));
  }

  /** The language of a graph, where this revision has graphs in several, or in Python. */
  languageOf(graphId: string): EngineLanguage | undefined {
    const all = [...this.#graphs.values()];
    const isPlain = all.every(({ engine }) => engine.language === 'javascript');
    return isPlain ? undefined : this.#attached(graphId).engine.language;
  }

  has(graphId: string): boolean {
    return this.#graphs.has(graphId);
  }

  /** The graph for a run, which exists. @throws GraphFactoryError if the agent's factory throws or returns no graph. */
  async make(graphId: string, config: MakeConfig, retention: CheckpointRetention): Promise<Graph> {
    const attached = this.#attached(graphId);
    const graph = await callFactory(attached, config);
    const copies = this.#copies.get(graph) ?? new Map<CheckpointRetention, Graph>();
    this.#copies.set(graph, copies);
    const known = copies.get(retention);
    if (known) return known;
    const copy = this.#copy(graph, retention === 'thread' ? attached.checkpoints : attached.memory);
    copies.set(retention, copy);
    return copy;
  }

  /** The graph with its checkpoints in the caller's pool, such as one over the connection of a transaction. */
  async makeOver(graphId: string, config: MakeConfig, pool: Pool): Promise<Graph> {
    const attached = this.#attached(graphId);
    return this.#copy(await callFactory(attached, config), new Checkpoints(pool, attached.engine));
  }

  #copy(graph: Graph, checkpointer: Checkpoints | MemoryCheckpoints): Graph {
    return Object.assign(graph.withConfig({}), { checkpointer, store: this.#store });
  }

  /** Deletes the in-memory checkpoints of a stateless run. */
  async deleteCheckpoints(graphId: string, threadId: string): Promise<void> {
    await this.#attached(graphId).memory.deleteThread(threadId);
  }

  async schemas(graphId: string, graph: Graph): Promise<GraphSchemaSet> {
    return schemasOf(graph, this.#attached(graphId).engine, this.#types?.graphs[graphId]);
  }

  /** The JSON schemas of the subgraphs of a graph from `make`, by namespace. A named one is found at any depth. */
  async schemasInside(
    graphId: string,
    graph: Graph,
    { namespace, recurse }: SubgraphsQuery,
  ): Promise<Record<string, GraphSchemaSet>> {
    const { engine } = this.#attached(graphId);
    const isDeep = recurse || namespace !== undefined;
    const inside = graph.getSubgraphsAsync?.(undefined, isDeep) ?? graph.getSubgraphs?.(undefined, isDeep) ?? [];
    const found: [string, GraphSchemaSet][] = [];
    for await (const [name, one] of inside) {
      if (namespace !== undefined && name !== namespace) continue;
      found.push([name, await schemasOf(one, engine, schemasOfNode(this.#types, name, channelNames(one)))]);
    }
    return Object.fromEntries(found);
  }

  command(graphId: string, command: Command): unknown {
    return this.#attached(graphId).engine.command(command);
  }

  #attached(graphId: string): AttachedGraph {
    const found = this.#graphs.get(graphId);
    if (!found) throw new Error(`There is no graph "${graphId}" in this revision.`);
    return found;
  }
}
