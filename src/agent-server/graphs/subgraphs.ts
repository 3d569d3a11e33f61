import type { Graph } from './graph.ts';

/** Which of the graphs inside another one to tell. */
export interface SubgraphsQuery {
  /** The names of the nodes on the way to one graph, joined by `|`; all graphs where absent. */
  namespace: string | undefined;
  /** Whether the graphs inside those inside are told as well. */
  recurse: boolean;
}

/** The graphs inside a graph, each under its namespace. One that is named is found however deep it lies. */
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
 * A graph as it is drawn: nodes and edges; undefined where its engine can't.
 *
 * @param xray whether the graphs inside are opened; a number opens those down to that depth.
 */
export async function drawn(
  graph: Graph,
  configurable: Record<string, unknown>,
  xray: boolean | number,
): Promise<object | undefined> {
  const config = { configurable, xray };
  return (await (graph.getGraphAsync?.(config) ?? graph.getGraph?.(config)))?.toJSON();
}
