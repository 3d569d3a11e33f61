import { hasMethods, memberOf } from '../members.ts';
import type { Graph, Snapshot } from './graph.ts';

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

export const isStateful = (graph: Graph): graph is StatefulGraph =>
  hasMethods(graph, 'getStateHistory', 'bulkUpdateState');

/** Finds a subgraph by the path of nodes that leads to it. */
export async function subgraphAt(graph: Graph, path: string): Promise<Graph | undefined> {
  const method: unknown = Reflect.get(graph, 'getSubgraphsAsync');
  if (typeof method !== 'function') return undefined;
  const found: unknown = Reflect.apply(method, graph, [path, true]);
  if (!isAsyncIterable(found)) return undefined;
  for await (const entry of found) {
    const [name, inner]: unknown[] = Array.isArray(entry) ? entry : [];
    if (name === path && isGraphLike(inner)) return inner;
  }
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
export function needsAncestors(graph: Graph): boolean {
  const seen = new Set<unknown>();
  const look = (each: unknown): boolean => {
    if (typeof each !== 'object' || each === null || seen.has(each)) return false;
    seen.add(each);
    const own: unknown[] = Object.values(memberOf(each, 'channels') ?? {});
    if (own.some((channel) => memberOf(channel, 'lc_graph_name') === 'DeltaChannel')) return true;
    const method: unknown = Reflect.get(each, 'getSubgraphs');
    const inner: unknown = typeof method === 'function' ? Reflect.apply(method, each, []) : [];
    return isIterable(inner) && [...inner].some((entry) => look(Array.isArray(entry) ? entry[1] : undefined));
  };
  return look(graph);
}

const isGraphLike = (value: unknown): value is Graph => hasMethods(value, 'getState');

const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

const isIterable = (value: unknown): value is Iterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.iterator in value;
