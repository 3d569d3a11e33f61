import { Graph, layout } from '@dagrejs/dagre';
import type * as z from 'zod';
import type { graphDrawing } from '../../../contract/agent/assistant.ts';

export type GraphDrawing = z.infer<typeof graphDrawing>;

interface Box {
  id: string;
  label: string;
  x: number;
  y: number;
  width: number;
  height: number;
}

interface Line {
  from: string;
  to: string;
  label: string | undefined;
  isConditional: boolean;
  points: readonly { x: number; y: number }[];
}

/** A drawing with positions; `groups` are the subgraphs around their nodes. */
export interface GraphLayout {
  width: number;
  height: number;
  nodes: readonly Box[];
  groups: readonly Box[];
  lines: readonly Line[];
}

const labelOf = (id: string): string =>
  id === '__start__' ? 'Start' : id === '__end__' ? 'End' : (id.split(':').at(-1) ?? id);
const groupOf = (id: string): string => id.split(':').slice(0, -1).join(':');
const maxLabelLength = 28;
const shortenLabel = (label: string): string =>
  label.length > maxLabelLength ? `${label.slice(0, maxLabelLength - 1)}…` : label;

/** Graphs with more nodes are listed but not drawn. */
const maxNodes = 150;

/** Positions the nodes of a graph from top to bottom; undefined if it is too large to be drawn. */
export function layOutGraph({ nodes, edges }: GraphDrawing): GraphLayout | undefined {
  if (nodes.length === 0 || nodes.length > maxNodes) return undefined;
  const graph = new Graph({ compound: true, multigraph: true });
  graph.setGraph({ rankdir: 'TB', nodesep: 24, ranksep: 36, marginx: 12, marginy: 12 });
  graph.setDefaultEdgeLabel(() => ({}));
  const ids = new Set(nodes.map(({ id }) => String(id)));
  const groups = new Set<string>();
  for (const id of ids) {
    const label = shortenLabel(labelOf(id));
    graph.setNode(id, { width: Math.max(64, label.length * 7.6 + 40), height: 34 });
  }
  for (const id of ids) {
    for (let [inner, group] = [id, groupOf(id)]; group !== ''; [inner, group] = [group, groupOf(group)]) {
      if (ids.has(group)) break;
      groups.add(group);
      graph.setNode(group, {});
      graph.setParent(inner, group);
    }
  }
  edges.forEach(({ source, target }, index) => {
    if (ids.has(String(source)) && ids.has(String(target)))
      graph.setEdge(String(source), String(target), {}, String(index));
  });
  layout(graph);
  const box = (id: string): Box => {
    const { x = 0, y = 0, width = 0, height = 0 } = graph.node(id);
    return { id, label: shortenLabel(labelOf(id)), x, y, width, height };
  };
  const { width = 0, height = 0 } = graph.graph();
  return {
    width,
    height,
    nodes: [...ids].map(box),
    groups: [...groups].map(box),
    lines: edges.flatMap(({ source, target, data, conditional }, index): Line[] => {
      const [from, to] = [String(source), String(target)];
      const edge: { points?: { x: number; y: number }[] } | undefined = graph.edge(from, to, String(index));
      if (!edge?.points) return [];
      const label = typeof data === 'string' ? data : undefined;
      return [{ from, to, label, isConditional: conditional === true, points: edge.points }];
    }),
  };
}

/** Each node with its successors, for people who can't see the drawing. */
export function describeGraph({ nodes, edges }: GraphDrawing): { id: string; label: string; next: string[] }[] {
  return nodes.map(({ id }) => ({
    id: String(id),
    label: String(id) === '__start__' || String(id) === '__end__' ? labelOf(String(id)) : String(id),
    next: edges.filter(({ source }) => source === id).map(({ target }) => labelOf(String(target))),
  }));
}
