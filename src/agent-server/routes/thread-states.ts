import { Hono } from 'hono';
import type { Context } from 'hono';
import * as z from 'zod';
import { isUuid } from '../../contract/uuid.ts';
import { PAGE } from '../../contract/agent/assistant.ts';
import {
  ThreadHistorySearch,
  ThreadPatch,
  ThreadStateCheckpoint,
  ThreadStateUpdate,
} from '../../contract/agent/thread.ts';
import type { ThreadHistorySearch as HistorySearch } from '../../contract/agent/thread.ts';
import { missing, Refusal } from '../refusal.ts';
import type { ThreadStates } from '../threads/states.ts';
import type { ThreadStore } from '../threads/store.ts';
import { toWire } from '../wire.ts';
import { flag, pathId, readBody, readQuery } from './body.ts';
import { threadOf } from './threads.ts';

const StateQuery = z.looseObject({ subgraphs: flag });
const HistoryQuery = z.looseObject({
  limit: z.coerce.number().int().min(PAGE.minLimit).max(PAGE.maxLimit).default(PAGE.defaultLimit),
  before: z.string().min(1).optional(),
});
const checkpointBody = ThreadStateCheckpoint.strip();
const updateBody = ThreadStateUpdate.strip();
const patchBody = ThreadPatch.pick({ metadata: true }).strip();
const historyBody = ThreadHistorySearch.strip();

/** The default page size of a history requested by POST, as in the public description. */
const DEFAULT_HISTORY = 1;

/** The state endpoints of threads (section "Endpoints"): current, at a checkpoint, history, and manual updates. */
export function threadStateRoutes({ threads, states }: { threads: ThreadStore; states: ThreadStates }): Hono {
  const routes = new Hono();

  routes.get('/:thread_id/state', async (c) => {
    const { subgraphs } = readQuery(c, StateQuery);
    return json(await states.at(await threadOf(c, threads), {}, subgraphs));
  });

  routes.post('/:thread_id/state/checkpoint', async (c) => {
    const query = readQuery(c, StateQuery);
    const { checkpoint, subgraphs = query.subgraphs } = await readBody(c, checkpointBody);
    return json(await states.at(await threadOf(c, threads), checkpoint, subgraphs));
  });

  routes.get('/:thread_id/state/:checkpoint_id', async (c) => {
    const { subgraphs } = readQuery(c, StateQuery);
    return json(await states.at(await threadOf(c, threads), { checkpoint_id: checkpointId(c) }, subgraphs));
  });

  routes.post('/:thread_id/state', async (c) => {
    const { values, as_node, checkpoint, checkpoint_id } = await readBody(c, updateBody);
    const written = await states.update(pathId(c, 'thread_id'), {
      values,
      asNode: as_node,
      where: { ...(checkpoint_id === undefined ? {} : { checkpoint_id }), ...checkpoint },
    });
    // Clients of different versions read the new checkpoint from different keys.
    return json({ checkpoint: written, configurable: written, checkpoint_id: written['checkpoint_id'] });
  });

  routes.patch('/:thread_id/state', async (c) => {
    const { metadata = {} } = await readBody(c, patchBody);
    const threadId = pathId(c, 'thread_id');
    if (!(await threads.patch(threadId, metadata))) throw missing(`Thread ${threadId} does not exist.`);
    return c.body(null, 204);
  });

  routes.get('/:thread_id/history', async (c) => {
    const { limit, before } = readQuery(c, HistoryQuery);
    return json(await states.history(await threadOf(c, threads), { limit, before, where: {} }));
  });

  routes.post('/:thread_id/history', async (c) => {
    const { limit = DEFAULT_HISTORY, before, metadata, checkpoint = {} } = await readBody(c, historyBody);
    const thread = await threadOf(c, threads);
    return json(await states.history(thread, { limit, before: idOf(before), metadata, where: checkpoint }));
  });

  return routes;
}

function checkpointId(c: Context): string {
  const id = c.req.param('checkpoint_id') ?? '';
  if (!isUuid(id)) throw new Refusal(422, [{ loc: ['path', 'checkpoint_id'], msg: 'must be a uuid', type: 'uuid' }]);
  return id.toLowerCase();
}

/** The id of the checkpoint before which states are requested, in any of its forms. */
function idOf(before: HistorySearch['before']): string | undefined {
  if (before === undefined || typeof before === 'string') return before;
  const { configurable } = z
    .looseObject({ configurable: z.looseObject({ checkpoint_id: z.string() }) })
    .partial()
    .parse(before);
  const own: unknown = configurable?.checkpoint_id ?? before['checkpoint_id'];
  return typeof own === 'string' ? own : undefined;
}

const json = (value: unknown): Response =>
  new Response(toWire(value), { headers: { 'content-type': 'application/json' } });
