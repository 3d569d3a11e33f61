import { Hono } from 'hono';
import type { Context } from 'hono';
import * as z from 'zod';
import type { FreeObject } from '../../contract/agent/open-word.ts';
import { configurableIn } from '../assistants/assistant.ts';
import type { AssistantStore } from '../assistants/store.ts';
import type { Graph } from '../graphs/graph.ts';
import { GraphNotMade } from '../graphs/graph-not-made.ts';
import type { Graphs } from '../graphs/graphs.ts';
import { drawn } from '../graphs/subgraphs.ts';
import { missing, noAssistant, Refusal } from '../refusal.ts';
import { describeError } from '../runs/run-error.ts';
import { flag, readQuery } from './body.ts';

/** `true` expands all subgraphs, a number up to that depth. */
const xray = z
  .string()
  .regex(/^(?:true|false|\d{1,3})?$/, 'must be true, false, or how deep to look: a whole number')
  .optional()
  .transform((word) => (word === 'true' ? true : word === 'false' ? false : Number(word ?? 0)));

const DrawingQuery = z.looseObject({ xray });
const SubgraphsQuery = z.looseObject({ recurse: flag });

/** The drawing, schemas and subgraphs of an assistant's graph. */
export function assistantGraphRoutes(assistants: AssistantStore, graphs: Graphs): Hono {
  const routes = new Hono();

  /** The graph, created from this assistant's configuration. */
  const theGraph = async (c: Context): Promise<{ graphId: string; graph: Graph; configurable: FreeObject }> => {
    const id = c.req.param('assistant_id') ?? '';
    const assistant = await assistants.get(id);
    if (!assistant) throw noAssistant(id);
    const graphId = assistant.graph_id;
    if (!graphs.has(graphId)) {
      throw missing(`Assistant "${id}" is of graph "${graphId}", which this revision does not have.`);
    }
    const configurable = configurableIn(assistant.config);
    const graph = await graphs.make(graphId, { configurable }, 'thread').catch((thrown: unknown) => {
      if (!(thrown instanceof GraphNotMade)) throw thrown;
      const { error, message } = describeError(thrown.cause);
      throw new Refusal(
        422,
        `Graph "${graphId}" can't be made with the configuration of assistant "${id}": ${error}: ${message}`,
      );
    });
    return { graphId, graph, configurable };
  };

  routes.get('/:assistant_id/graph', async (c) => {
    const query = readQuery(c, DrawingQuery);
    const { graphId, graph, configurable } = await theGraph(c);
    const drawing = await drawn(graph, configurable, query.xray);
    if (!drawing) throw new Refusal(422, `The engine of graph "${graphId}" can't draw it.`);
    return c.json(drawing);
  });

  routes.get('/:assistant_id/schemas', async (c) => {
    const { graphId, graph } = await theGraph(c);
    return c.json({ graph_id: graphId, ...(await graphs.schemas(graphId, graph)) });
  });

  const inside = async (c: Context): Promise<Response> => {
    const { recurse } = readQuery(c, SubgraphsQuery);
    const { graphId, graph } = await theGraph(c);
    return c.json(await graphs.schemasInside(graphId, graph, { namespace: c.req.param('namespace'), recurse }));
  };
  routes.get('/:assistant_id/subgraphs', inside);
  routes.get('/:assistant_id/subgraphs/:namespace', inside);

  return routes;
}
