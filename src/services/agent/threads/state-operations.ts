import type { Context } from 'hono';
import * as z from 'zod';
import {
  threadHistorySearch,
  type ThreadHistorySearch,
  threadPatch,
  threadStateCheckpoint,
  threadStateField,
  threadStateUpdate,
} from '../../../contract/agent/thread.ts';
import type { Operation } from '../../../kit/http/operation.ts';
import { flag, pageLimit, pathId, readBody, readList, readQuery } from '../api/body.ts';
import { operationsOf, type Env } from '../api/operation.ts';
import { stateUpdateResponse, threadStateResponse } from '../api/response-schemas.ts';
import { noThread } from '../refusal.ts';
import { toWire } from '../wire.ts';
import type { CheckpointSelector } from './checkpoint-selector.ts';
import { requireThread } from './operations.ts';
import { selectedState } from './state.ts';

const fields = z.array(threadStateField).optional();
const stateQuery = z.looseObject({ subgraphs: flag });
const historyQuery = z.looseObject({
  limit: pageLimit(),
  before: z.string().min(1).optional(),
});
const checkpointBody = threadStateCheckpoint.strip();
const updateBody = threadStateUpdate.strip();
const threadStatePatch = threadPatch.pick({ metadata: true });
const patchBody = threadStatePatch.strip();
const historyBody = threadHistorySearch.strip();

/** The default page size of a history requested by POST, as in the public description. */
const defaultHistory = 1;

const one = '/threads/:thread_id';
const define = operationsOf('Threads');
const stateResponses = { 200: { description: 'The state.', schema: threadStateResponse } };
const readsState = {
  query: stateQuery.extend({ select: fields }),
  responses: stateResponses,
} as const;

/** The states of threads: the newest, at a checkpoint, the history, and updates. */
export const threadStateOperations: readonly Operation<Env>[] = [
  define.get(`${one}/state`, 'get_thread_state', {
    summary: 'Read the newest state of a thread',
    description: 'With the values, the next nodes and the tasks; with `subgraphs`, the states of subgraphs too.',
    ...readsState,
    handle: (c) => readState(c, {}),
  }),
  define.post(`${one}/state`, 'update_thread_state', {
    summary: 'Write values into the state of a thread',
    description: 'As if the node `as_node` had returned them.',
    body: { schema: threadStateUpdate, required: true },
    responses: { 200: { description: 'The checkpoint of the new state.', schema: stateUpdateResponse } },
    also: [409],
    async handle(c) {
      const { values, as_node, checkpoint, checkpoint_id } = await readBody(c, updateBody);
      const written = await c.var.dependencies.states.update(pathId(c, 'thread_id'), {
        values,
        asNode: as_node,
        where: { ...(checkpoint_id === undefined ? {} : { checkpoint_id }), ...checkpoint },
      });
      // Clients of different versions read the new checkpoint from different keys.
      return json({ checkpoint: written, configurable: written, checkpoint_id: written['checkpoint_id'] });
    },
  }),
  define.patch(`${one}/state`, 'patch_thread_state', {
    summary: 'Merge metadata into that of a thread',
    description: 'For older clients.',
    body: { schema: threadStatePatch, required: false },
    responses: { 204: { description: 'Merged.' } },
    async handle(c) {
      const { metadata = {} } = await readBody(c, patchBody);
      const threadId = pathId(c, 'thread_id');
      if (!(await c.var.dependencies.threads.patch(threadId, metadata))) throw noThread(threadId);
      return c.body(null, 204);
    },
  }),
  define.get(`${one}/state/:checkpoint_id`, 'get_thread_state_at_checkpoint', {
    summary: 'Read the state of a thread at a checkpoint',
    description: 'The checkpoints of a thread are in its history.',
    ...readsState,
    handle: (c) => readState(c, { checkpoint_id: pathId(c, 'checkpoint_id') }),
  }),
  define.post(`${one}/state/checkpoint`, 'post_thread_state_at_checkpoint', {
    summary: 'Read the state of a thread or a subgraph at a checkpoint',
    description: 'As by `GET`, for checkpoints of subgraphs, which have a namespace too.',
    query: stateQuery,
    body: { schema: threadStateCheckpoint, required: true },
    responses: stateResponses,
    async handle(c) {
      const query = readQuery(c, stateQuery);
      const { checkpoint, subgraphs = query.subgraphs, select } = await readBody(c, checkpointBody);
      const state = await c.var.dependencies.states.at(await requireThread(c), checkpoint, subgraphs);
      return json(selectedState(state, select));
    },
  }),
  define.get(`${one}/history`, 'get_thread_history', {
    summary: 'List the states of a thread',
    description: 'Newest first.',
    query: historyQuery.extend({ select: fields }),
    responses: { 200: { description: 'The states.', schema: z.array(threadStateResponse) } },
    async handle(c) {
      const { limit, before } = readQuery(c, historyQuery);
      const select = readList(c, 'select', fields);
      const states = await c.var.dependencies.states.history(await requireThread(c), { limit, before, where: {} });
      return json(states.map((state) => selectedState(state, select)));
    },
  }),
  define.post(`${one}/history`, 'search_thread_history', {
    summary: 'Search the states of a thread',
    description: 'Newest first.',
    body: { schema: threadHistorySearch, required: false },
    responses: { 200: { description: 'The states.', schema: z.array(threadStateResponse) } },
    async handle(c) {
      const { limit = defaultHistory, before, metadata, checkpoint = {}, select } = await readBody(c, historyBody);
      const request = { limit, before: idOf(before), metadata, where: checkpoint };
      const states = await c.var.dependencies.states.history(await requireThread(c), request);
      return json(states.map((state) => selectedState(state, select)));
    },
  }),
];

async function readState(c: Context<Env>, where: CheckpointSelector): Promise<Response> {
  const { subgraphs } = readQuery(c, stateQuery);
  const select = readList(c, 'select', fields);
  return json(selectedState(await c.var.dependencies.states.at(await requireThread(c), where, subgraphs), select));
}

/** The id of the checkpoint before which states are requested, in any of its forms; undefined if it names none. */
function idOf(before: ThreadHistorySearch['before']): string | undefined {
  if (before === undefined || typeof before === 'string') return before;
  return before.configurable?.checkpoint_id ?? before.checkpoint_id ?? undefined;
}

const json = (value: unknown): Response =>
  new Response(toWire(value), { headers: { 'content-type': 'application/json' } });
