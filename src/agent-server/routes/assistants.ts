import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import type { Context } from 'hono';
import * as z from 'zod';
import {
  AssistantCount,
  AssistantCreate,
  AssistantPatch,
  AssistantSearch,
  AssistantVersionChange,
  AssistantVersionsSearch,
  FIRST_VERSION,
} from '../../contract/agent/assistant.ts';
import type { FreeObject } from '../../contract/agent/open-word.ts';
import { configurableIn, isDefault } from '../assistants/assistant.ts';
import type { StoredAssistant } from '../assistants/assistant.ts';
import { nextVersion } from '../assistants/next-version.ts';
import { showAssistant, showVersion } from '../assistants/show.ts';
import type { AssistantStore } from '../assistants/store.ts';
import { contextProblems } from '../graphs/context.ts';
import { GraphNotMade } from '../graphs/graph-not-made.ts';
import type { Graphs } from '../graphs/graphs.ts';
import { missing, noAssistant, noVersion, Refusal } from '../refusal.ts';
import { flag, readBody, readQuery } from './body.ts';
import { setPageHeaders } from './pages.ts';
import { selected } from './select.ts';
import type { DeleteThreads } from './thread-deletion.ts';

const assistantCreateBody = AssistantCreate.strip();
const assistantPatchBody = AssistantPatch.strip();
const assistantSearchBody = AssistantSearch.strip();
const assistantCountBody = AssistantCount.strip();
const versionsBody = AssistantVersionsSearch.strip();
// The specification has the version in the body, the public description in the query; both are accepted.
const latestBody = AssistantVersionChange.partial().strip();
const LatestQuery = z.looseObject({ version: z.coerce.number().int().min(FIRST_VERSION).optional() });
const DeleteQuery = z.looseObject({ delete_threads: flag });

/** The dependencies of the assistant routes. */
export interface AssistantParts {
  assistants: AssistantStore;
  graphs: Graphs;
  deleteThreads: DeleteThreads;
}

/** The assistant endpoints (section "Endpoints"). */
export function assistantRoutes({ assistants, graphs, deleteThreads }: AssistantParts): Hono {
  const routes = new Hono();

  const theAssistant = async (c: Context): Promise<StoredAssistant> => {
    const id = c.req.param('assistant_id') ?? '';
    const assistant = await assistants.get(id);
    if (!assistant) throw noAssistant(id);
    return assistant;
  };

  /** Rejects a graph that this revision lacks, and a context that violates its schema. */
  const mustFit = async (
    graphId: string,
    { config, context, sent }: { config: FreeObject; context: FreeObject; sent: FreeObject | undefined },
  ): Promise<void> => {
    if (!graphs.has(graphId)) {
      const known = graphs.list().map(({ graphId: id }) => `"${id}"`);
      throw missing(`There is no graph "${graphId}". This deployment has ${known.join(', ')}.`);
    }
    const graph = await graphs.make(graphId, { configurable: configurableIn(config) }, 'thread').catch(unmade);
    const problems = graph ? await contextProblems(graph, context, { mayLack: true, sent }) : [];
    if (problems.length > 0) throw new Refusal(422, problems);
  };

  routes.post('/', async (c) => {
    const request = await readBody(c, assistantCreateBody);
    await mustFit(request.graph_id, {
      config: request.config ?? {},
      context: request.context ?? {},
      sent: request.context,
    });
    const { kind, assistant } = await assistants.create(request, request.assistant_id?.toLowerCase() ?? randomUUID());
    if (kind === 'there' && request.if_exists !== 'do_nothing') {
      throw new Refusal(409, `Assistant ${assistant.assistant_id} already exists.`);
    }
    return c.json(showAssistant(assistant));
  });

  routes.post('/search', async (c) => {
    const request = await readBody(c, assistantSearchBody);
    const found = await assistants.search(request);
    setPageHeaders(c, { total: found.total, offset: request.offset, shown: found.assistants.length });
    return c.json(found.assistants.map((assistant) => selected(showAssistant(assistant), request.select)));
  });

  routes.post('/count', async (c) => c.json(await assistants.count(await readBody(c, assistantCountBody))));

  routes.get('/:assistant_id', async (c) => c.json(showAssistant(await theAssistant(c))));

  routes.patch('/:assistant_id', async (c) => {
    const request = await readBody(c, assistantPatchBody);
    const assistant = await theAssistant(c);
    const { assistant_id, graph_id } = assistant;
    if (request.graph_id !== undefined && request.graph_id !== graph_id && isDefault(assistant)) {
      throw new Refusal(409, `Assistant ${assistant_id} is the default one of graph "${graph_id}" and stays with it.`);
    }
    // A mere change of name keeps an old context, even if the schema has changed since.
    if (request.graph_id !== undefined || request.context !== undefined) {
      const { config, context } = nextVersion(assistant, request);
      await mustFit(request.graph_id ?? graph_id, { config, context, sent: request.context });
    }
    const patched = await assistants.patch(assistant_id, request);
    if (!patched) throw noAssistant(assistant_id);
    return c.json(showAssistant(patched));
  });

  routes.delete('/:assistant_id', async (c) => {
    const { delete_threads } = readQuery(c, DeleteQuery);
    const assistant = await theAssistant(c);
    const { assistant_id, graph_id } = assistant;
    if (isDefault(assistant) && graphs.has(graph_id)) {
      throw new Refusal(
        409,
        `Assistant ${assistant_id} is the default one of graph "${graph_id}" and stays as long as the graph.`,
      );
    }
    if (delete_threads) await deleteThreads(c, await assistants.threadsOf(assistant_id));
    await assistants.delete(assistant_id);
    return c.body(null, 204);
  });

  routes.post('/:assistant_id/versions', async (c) => {
    const request = await readBody(c, versionsBody);
    const { assistant_id } = await theAssistant(c);
    return c.json((await assistants.versions(assistant_id, request)).map(showVersion));
  });

  routes.post('/:assistant_id/latest', async (c) => {
    const { version = readQuery(c, LatestQuery).version } = await readBody(c, latestBody);
    if (version === undefined) {
      const msg = 'is required: the number of the version that becomes the active one';
      throw new Refusal(422, [{ loc: ['body', 'version'], msg, type: 'missing' }]);
    }
    const { assistant_id } = await theAssistant(c);
    const active = await assistants.activate(assistant_id, version);
    if (!active) throw noVersion(assistant_id, version);
    return c.json(showAssistant(active));
  });

  return routes;
}

/** A factory may need values that only runs have: these are validated with each run. */
function unmade(error: unknown): undefined {
  if (!(error instanceof GraphNotMade)) throw error;
}
