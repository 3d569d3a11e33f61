import { randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import * as z from 'zod';
import {
  assistantCount,
  assistantCreate,
  assistantPatch,
  assistantSearch,
  assistantVersionChange,
  assistantVersionsSearch,
  firstVersion,
} from '../../../contract/agent/assistant.ts';
import type { FreeObject } from '../../../contract/agent/open-word.ts';
import type { Operation } from '../../../kit/http/operation.ts';
import { flag, readBody, readQuery } from '../api/body.ts';
import { operationsOf, type Env } from '../api/operation.ts';
import { selected } from '../api/pages.ts';
import { assistantResponse, assistantVersionResponse } from '../api/response-schemas.ts';
import { contextProblems } from '../graphs/context.ts';
import type { Graphs } from '../graphs/graphs.ts';
import { readsAssistant } from '../graphs/graph.ts';
import { alreadyExists, missing, noAssistant, noVersion, Refusal } from '../refusal.ts';
import { ignoreFactoryError } from '../runs/run-error.ts';
import { configurableIn, isDefault, showAssistant, showVersion, type StoredAssistant } from './assistant.ts';
import { nextVersion } from './store.ts';

const createBody = assistantCreate.strip();
const patchBody = assistantPatch.strip();
const versionsBody = assistantVersionsSearch.strip();
// The specification has the version in the body, the public description in the query; both are accepted.
const latestBody = assistantVersionChange.partial().strip();
const latestQuery = z.looseObject({ version: z.coerce.number().int().min(firstVersion).optional() });
const deletionQuery = z.looseObject({ delete_threads: flag });

const one = '/assistants/:assistant_id';
const define = operationsOf('Assistants');

/** Assistants and their versions. */
export const assistantOperations: readonly Operation<Env>[] = [
  define.post('/assistants', 'create_assistant', {
    summary: 'Create an assistant',
    description: 'The context is validated by the graph’s schema; runs may provide missing values.',
    body: { schema: assistantCreate, required: true },
    responses: { 200: { description: 'The assistant, with its version 1.', schema: assistantResponse } },
    also: [404, 409],
    async handle(c) {
      const { assistants, graphs } = c.var.dependencies;
      const request = await readBody(c, createBody);
      await assertGraphAccepts(graphs, request.graph_id, {
        config: request.config ?? {},
        context: request.context ?? {},
        sent: request.context,
      });
      const { kind, assistant } = await assistants.create(request, request.assistant_id?.toLowerCase() ?? randomUUID());
      if (kind === 'there' && request.if_exists !== 'do_nothing') {
        throw alreadyExists('Assistant', assistant.assistant_id);
      }
      return c.json(showAssistant(assistant));
    },
  }),
  define.search('/assistants/search', 'assistants', assistantSearch, {
    item: assistantResponse,
    also: [404],
    async find({ assistants }, request) {
      const { total, assistants: found } = await assistants.search(request);
      const items = found.map((assistant) => selected(showAssistant(assistant), request.select));
      return { total, offset: request.offset ?? 0, items };
    },
  }),
  define.count('/assistants/count', 'assistants', assistantCount, ({ assistants }, filter) => assistants.count(filter)),
  define.get(one, 'get_assistant', {
    summary: 'Read an assistant',
    description: 'By its id, or by the id of a graph for its default assistant.',
    responses: {
      200: { description: 'The assistant, with the values of its active version.', schema: assistantResponse },
    },
    handle: async (c) => c.json(showAssistant(await requireAssistant(c))),
  }),
  define.patch(one, 'patch_assistant', {
    summary: 'Change an assistant',
    description:
      'Makes the next version, which is active from then on. `context` is replaced as a whole, `metadata` is merged.',
    body: { schema: assistantPatch, required: true },
    responses: { 200: { description: 'The assistant, with its new version.', schema: assistantResponse } },
    also: [409],
    async handle(c) {
      const { assistants, graphs } = c.var.dependencies;
      const request = await readBody(c, patchBody);
      const assistant = await requireAssistant(c);
      const { assistant_id, graph_id } = assistant;
      if (request.graph_id !== undefined && request.graph_id !== graph_id && isDefault(assistant)) {
        throw new Refusal(
          409,
          `Assistant ${assistant_id} is the default one of graph "${graph_id}" and stays with it.`,
        );
      }
      // A mere change of name keeps an old context, even if the schema has changed since.
      if (request.graph_id !== undefined || request.context !== undefined) {
        const { config, context } = nextVersion(assistant, request);
        await assertGraphAccepts(graphs, request.graph_id ?? graph_id, { config, context, sent: request.context });
      }
      const patched = await assistants.patch(assistant_id, request);
      if (!patched) throw noAssistant(assistant_id);
      return c.json(showAssistant(patched));
    },
  }),
  define.delete(one, 'delete_assistant', {
    summary: 'Delete an assistant with all its versions',
    description: 'A graph’s default assistant can’t be deleted while the graph exists.',
    query: deletionQuery,
    responses: { 204: { description: 'Deleted.' } },
    also: [409],
    async handle(c) {
      const { assistants, graphs, deleteThreads } = c.var.dependencies;
      const { delete_threads } = readQuery(c, deletionQuery);
      const assistant = await requireAssistant(c);
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
    },
  }),
  define.post(`${one}/versions`, 'list_assistant_versions', {
    summary: 'List the versions of an assistant',
    description: 'Newest first.',
    body: { schema: assistantVersionsSearch, required: false },
    responses: { 200: { description: 'A page of versions.', schema: z.array(assistantVersionResponse) } },
    async handle(c) {
      const request = await readBody(c, versionsBody);
      const { assistant_id } = await requireAssistant(c);
      return c.json((await c.var.dependencies.assistants.versions(assistant_id, request)).map(showVersion));
    },
  }),
  define.post(`${one}/latest`, 'set_latest_assistant_version', {
    summary: 'Activate a version',
    description: 'Restores all values of the version: context, config, metadata, name, description and graph.',
    query: latestQuery,
    body: { schema: assistantVersionChange, required: false },
    responses: { 200: { description: 'The assistant, with that version’s values.', schema: assistantResponse } },
    async handle(c) {
      const { version = readQuery(c, latestQuery).version } = await readBody(c, latestBody);
      if (version === undefined) {
        const msg = 'is required: the number of the version that becomes the active one';
        throw new Refusal(422, [{ loc: ['body', 'version'], msg, type: 'missing' }]);
      }
      const { assistant_id } = await requireAssistant(c);
      const active = await c.var.dependencies.assistants.activate(assistant_id, version);
      if (!active) throw noVersion(assistant_id, version);
      return c.json(showAssistant(active));
    },
  }),
];

export async function requireAssistant(c: Context<Env>): Promise<StoredAssistant> {
  const id = c.req.param('assistant_id') ?? '';
  const assistant = await c.var.dependencies.assistants.get(id);
  if (!assistant) throw noAssistant(id);
  return assistant;
}

/** Rejects a graph that this revision lacks, and a context that violates its schema. */
async function assertGraphAccepts(
  graphs: Graphs,
  graphId: string,
  { config, context, sent }: { config: FreeObject; context: FreeObject; sent: FreeObject | undefined },
): Promise<void> {
  if (!graphs.has(graphId)) {
    const known = graphs.list().map(({ graphId: id }) => `"${id}"`);
    throw missing(`Graph "${graphId}" not found. This deployment has ${known.join(', ')}.`);
  }
  // A factory may need values that only runs have: these are validated with each run.
  const graph = await ignoreFactoryError(
    graphs.make(graphId, { configurable: configurableIn(config), runtime: readsAssistant }, 'thread'),
  );
  const problems = graph ? await contextProblems(graph, context, { mayLack: true, sent }) : [];
  if (problems.length > 0) throw new Refusal(422, problems);
}
