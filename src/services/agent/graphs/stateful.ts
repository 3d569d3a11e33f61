import { hasMethods, memberOf } from '../members.ts';
import type { Graph, GraphInside, Snapshot } from './graph.ts';

/** Selects a state of a thread. */
export interface StateConfig {
  configurable: Record<string, unknown>;
}

/** One update within a step, as if `asNode` had returned the values. */
export interface EngineUpdate {
  values: unknown;
  asNode: string | undefined;
}

export interface HistoryOptions {
  limit: number;
  before?: StateConfig | undefined;
  /** Metadata that the states must have. */
  filter?: Record<string, unknown> | undefined;
}

/** A compiled graph whose states can be read and written: supported since the engine's first version. */
export interface StatefulGraph extends Graph {
  getStateHistory(config: StateConfig, options: HistoryOptions): AsyncIterable<Snapshot>;
  bulkUpdateState(config: StateConfig, supersteps: { updates: EngineUpdate[] }[]): Promise<StateConfig>;
}

export const isStateful = (graph: GraphInside): graph is StatefulGraph =>
  hasMethods(graph, 'getStateHistory', 'bulkUpdateState');

/** Finds a subgraph by the path of nodes that leads to it. */
export async function subgraphAt(graph: Graph, path: string): Promise<GraphInside | undefined> {
  for await (const [name, inner] of graph.getSubgraphsAsync?.(path, true) ?? []) if (name === path) return inner;
  return undefined;
}

/** The path of nodes in a checkpoint's namespace: without task ids and repetition counts. */
export const nodePath = (namespace: string): string =>
  namespace
    .split('|')
    .filter((part) => !/^\d+$/.test(part))
    .map((part) => part.split(':')[0])
    .join('|');

/** Whether a state can only be read together with its ancestors: a channel stores differences. */
export function needsAncestors(graph: GraphInside): boolean {
  const seen = new Set<GraphInside>();
  const look = (each: GraphInside): boolean => {
    if (seen.has(each)) return false;
    seen.add(each);
    const own: unknown[] = Object.values(memberOf(each, 'channels') ?? {});
    if (own.some((channel) => memberOf(channel, 'lc_graph_name') === 'DeltaChannel')) return true;
    return [...(each.getSubgraphs?.() ?? [])].some(([, inner]) => look(inner));
  };
  return look(graph);
}
