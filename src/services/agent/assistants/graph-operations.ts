import type { Context } from 'hono';
import * as z from 'zod';
import { graphDrawing } from '../../../contract/agent/assistant.ts';
import type { FreeObject } from '../../../contract/agent/open-word.ts';
import type { Operation } from '../../../kit/http/operation.ts';
import { flag, readQuery } from '../api/body.ts';
import { operationsOf, type Env } from '../api/operation.ts';
import { graphSchemasResponse, subgraphsResponse } from '../api/response-schemas.ts';
import { type Graph, readsAssistant } from '../graphs/graph.ts';
import { drawGraph } from '../graphs/graphs.ts';
import { noGraph, Refusal } from '../refusal.ts';
import { refuseFactoryError } from '../runs/run-error.ts';
import { configurableIn } from './assistant.ts';
import { requireAssistant } from './operations.ts';

/** `true` expands all subgraphs, a number up to that depth. */
const xray = z
  .string()
  .regex(/^(?:true|false|\d{1,3})?$/, 'must be true, false, or how deep to look: a whole number')
  .optional()
  .transform((word) => (word === 'true' ? true : word === 'false' ? false : Number(word ?? 0)))
  .meta({
    override: ({ jsonSchema }) => {
      delete jsonSchema.type;
      delete jsonSchema.pattern;
      Object.assign(jsonSchema, { anyOf: [{ type: 'boolean' }, { type: 'integer' }], default: false });
    },
  });

const drawingQuery = z.looseObject({ xray });
const subgraphsQuery = z.looseObject({ recurse: flag });

const one = '/assistants/:assistant_id';
const define = operationsOf('Assistants');
const readsSubgraphs = {
  query: subgraphsQuery,
  responses: { 200: { description: 'The schemas by namespace.', schema: subgraphsResponse } },
  handle: subgraphs,
} as const;

/** The drawing, the schemas and the subgraphs of an assistant’s graph. */
export const assistantGraphOperations: readonly Operation<Env>[] = [
  define.get(`${one}/graph`, 'get_assistant_graph', {
    summary: 'Draw the graph of an assistant',
    description: 'With `xray`, subgraphs are drawn too, up to that depth.',
    query: drawingQuery,
    responses: { 200: { description: 'The nodes and edges.', schema: graphDrawing } },
    async handle(c) {
      const query = readQuery(c, drawingQuery);
      const { graphId, graph, configurable } = await requireGraph(c);
      const drawing = await drawGraph(graph, configurable, query.xray);
      if (!drawing) throw new Refusal(422, `The engine of graph "${graphId}" can't draw it.`);
      return c.json(drawing);
    },
  }),
  define.get(`${one}/schemas`, 'get_assistant_schemas', {
    summary: 'Read the schemas of an assistant’s graph',
    description: 'The input, the output, the state and the context of the graph, as JSON schemas.',
    responses: { 200: { description: 'JSON schemas; unknown ones are absent.', schema: graphSchemasResponse } },
    also: [422],
    async handle(c) {
      const { graphId, graph } = await requireGraph(c);
      return c.json({ graph_id: graphId, ...(await c.var.dependencies.graphs.schemas(graphId, graph)) });
    },
  }),
  define.get(`${one}/subgraphs`, 'list_assistant_subgraphs', {
    summary: 'Read the schemas of the subgraphs',
    description: 'Those of the nodes that are graphs; with `recurse`, those within them too.',
    ...readsSubgraphs,
  }),
  define.get(`${one}/subgraphs/:namespace`, 'get_assistant_subgraph', {
    summary: 'Read the schemas of a subgraph by its namespace',
    description: 'The namespace holds the names of the nodes on the way, joined by `|`.',
    ...readsSubgraphs,
  }),
];

async function subgraphs(c: Context<Env>): Promise<Response> {
  const { recurse } = readQuery(c, subgraphsQuery);
  const { graphId, graph } = await requireGraph(c);
  const namespace = c.req.param('namespace');
  return c.json(await c.var.dependencies.graphs.schemasInside(graphId, graph, { namespace, recurse }));
}

async function requireGraph(c: Context<Env>): Promise<{ graphId: string; graph: Graph; configurable: FreeObject }> {
  const { graphs } = c.var.dependencies;
  const id = c.req.param('assistant_id') ?? '';
  const { graph_id: graphId, config } = await requireAssistant(c);
  if (!graphs.has(graphId)) {
    throw noGraph(graphId, `Assistant "${id}"`);
  }
  const configurable = configurableIn(config);
  const graph = await refuseFactoryError(
    graphs.make(graphId, { configurable, runtime: readsAssistant }, 'thread'),
    graphId,
    `assistant "${id}"`,
  );
  return { graphId, graph, configurable };
}
