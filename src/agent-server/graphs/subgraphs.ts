import type { Graph } from './graph.ts';

/** Selects subgraphs. */
export interface SubgraphsQuery {
  /** The names of the nodes on the way to one graph, joined by `|`; absent for all graphs. */
  namespace: string | undefined;
  /** Whether to include subgraphs of subgraphs. */
  recurse: boolean;
}

/** The subgraphs of a graph with their namespaces. A named one is found at any depth. */
export async function graphsInside(graph: Graph, { namespace, recurse }: SubgraphsQuery): Promise<[string, Graph][]> {
  const found: [string, Graph][] = [];
  for await (const inside of allInside(graph, recurse || namespace !== undefined)) {
    if (namespace === undefined || inside[0] === namespace) found.push(inside);
  }
  return found;
}

function allInside(graph: Graph, recurse: boolean): AsyncIterable<[string, Graph]> | Iterable<[string, Graph]> {
  return graph.getSubgraphsAsync?.(undefined, recurse) ?? graph.getSubgraphs?.(undefined, recurse) ?? [];
}

/**
 * The drawing of a graph: nodes and edges; undefined if its engine does not support it.
 *
 * @param xray whether to expand subgraphs; a number expands up to that depth.
 */
export async function drawn(
  graph: Graph,
  configurable: Record<string, unknown>,
  xray: boolean | number,
): Promise<object | undefined> {
  const config = { configurable, xray };
  return (await (graph.getGraphAsync?.(config) ?? graph.getGraph?.(config)))?.toJSON();
}
