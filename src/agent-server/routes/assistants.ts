import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import { AssistantCount, AssistantCreate, AssistantSearch } from '../../contract/agent/assistant.ts';
import { isUuid } from '../assistants/assistant.ts';
import { showAssistant } from '../assistants/show.ts';
import type { AssistantStore } from '../assistants/store.ts';
import { contextProblems } from '../graphs/context.ts';
import type { Graphs } from '../graphs/graphs.ts';
import { missing, Refusal } from '../refusal.ts';
import { readBody } from './body.ts';
import { selected } from './select.ts';

const assistantCreateBody = AssistantCreate.strip();
const assistantSearchBody = AssistantSearch.strip();
const assistantCountBody = AssistantCount.strip();

/** The group of assistants (section "Endpoints"). */
export function assistantRoutes(assistants: AssistantStore, graphs: Graphs): Hono {
  const routes = new Hono();

  routes.post('/', async (c) => {
    const request = await readBody(c, assistantCreateBody);
    if (!graphs.has(request.graph_id)) {
      const known = graphs.list().map(({ graphId }) => `"${graphId}"`);
      throw missing(`There is no graph "${request.graph_id}". This deployment has ${known.join(', ')}.`);
    }
    const graph = await graphs.make(request.graph_id, { configurable: {} }, 'thread');
    const problems = await contextProblems(graph, request.context ?? {}, { mayLack: true });
    if (problems.length > 0) throw new Refusal(422, problems);
    const { kind, assistant } = await assistants.create(request, request.assistant_id?.toLowerCase() ?? randomUUID());
    if (kind === 'there' && request.if_exists !== 'do_nothing') {
      throw new Refusal(409, `Assistant ${assistant.assistant_id} exists already.`);
    }
    return c.json(showAssistant(assistant));
  });

  routes.post('/search', async (c) => {
    const request = await readBody(c, assistantSearchBody);
    const found = await assistants.search(request);
    c.header('x-pagination-total', String(found.total));
    return c.json(found.assistants.map((assistant) => selected(showAssistant(assistant), request.select)));
  });

  routes.post('/count', async (c) => c.json(await assistants.count(await readBody(c, assistantCountBody))));

  routes.get('/:assistant_id', async (c) => {
    const id = c.req.param('assistant_id');
    const assistant = await assistants.get(id);
    if (!assistant) throw missing(`Assistant "${id}" does not exist.`);
    return c.json(showAssistant(assistant));
  });

  routes.delete('/:assistant_id', async (c) => {
    const id = c.req.param('assistant_id');
    const assistant = await assistants.get(id);
    if (!assistant) throw missing(`Assistant "${id}" does not exist.`);
    if (!isUuid(id) || assistant.metadata['created_by'] === 'system') {
      throw new Refusal(
        409,
        `Assistant "${id}" is the default one of graph "${assistant.graph_id}" and stays as long as the graph.`,
      );
    }
    await assistants.delete(assistant.assistant_id);
    return c.body(null, 204);
  });

  return routes;
}
