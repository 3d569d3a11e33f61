import type { Client } from '@langchain/langgraph-sdk/client';
import * as z from 'zod';
import { assistantSchema, assistantVersion, graphDrawing, graphSchemas } from '../../../contract/agent/assistant.ts';
import { failedRunBody, runSchema, errorKey, runError } from '../../../contract/agent/run.ts';
import { threadSchema, threadState, type Checkpoint } from '../../../contract/agent/thread.ts';
import { isObject } from '../../../kit/json-object.ts';
import { agentUrl, fetchOk } from '../../api/http.ts';
import { historyPage, type Agent } from './agent-api.ts';
import { textOf } from './messages.ts';

const listedThread = threadSchema
  .pick({ thread_id: true, status: true, updated_at: true, metadata: true, extracted: true })
  .transform(({ thread_id, status, updated_at, metadata, extracted }) => ({
    threadId: thread_id,
    status,
    updatedAt: updated_at,
    metadata: metadata ?? {},
    title: titleOf(extracted ?? {}),
  }));

/** The first text that was extracted: of a message, or of a field. */
const titleOf = (extracted: Record<string, unknown>): string | undefined =>
  Object.values(extracted)
    .map((value) => textOf(value).trim())
    .find((text) => text !== '');

/** A checkpoint as the client's types have it. */
const toCheckpoint = ({ checkpoint_id, checkpoint_ns }: Checkpoint) => ({
  checkpoint_id: checkpoint_id ?? undefined,
  checkpoint_ns: checkpoint_ns ?? '',
  checkpoint_map: undefined,
});
/** Connects to the agent of a deployment by the public client, which is loaded only now. */
export async function connectAgent(deploymentId: string): Promise<Agent> {
  const { Client } = await import('@langchain/langgraph-sdk/client');
  const client = new Client({
    apiUrl: agentUrl(deploymentId),
    apiKey: null,
    // A repeated request could start a second run. The page tries again by itself where that is safe.
    callerOptions: { maxRetries: 0, fetch: fetchOk },
  });
  return toAgent(client);
}

function toAgent({ assistants, threads, runs }: Client): Agent {
  return {
    assistants: async (signal) =>
      z
        .array(assistantSchema)
        .parse(await assistants.search({ limit: 1000, sortBy: 'created_at', sortOrder: 'asc', ...withSignal(signal) })),
    versions: async (assistantId) =>
      z.array(assistantVersion).parse(await assistants.getVersions(assistantId, { limit: 1000 })),
    activate: async (assistantId, version) => void (await assistants.setLatest(assistantId, version)),
    schemas: async (assistantId) => graphSchemas.parse(await assistants.getSchemas(assistantId)),
    drawing: async (assistantId) => graphDrawing.parse(await assistants.getGraph(assistantId, { xray: true })),
    searchThreads: async ({ status, titleFields = [], ...query }, signal) =>
      z.array(listedThread).parse(
        await threads.search({
          sortBy: 'updated_at',
          sortOrder: 'desc',
          select: ['thread_id', 'status', 'updated_at', 'metadata'],
          extract: {
            message: 'values.messages[0].content',
            ...Object.fromEntries(titleFields.map((name) => [`field ${name}`, `values.${name}`])),
          },
          ...(status ? { status } : {}),
          ...query,
          ...withSignal(signal),
        }),
      ),
    createThread: async () => threadSchema.parse(await threads.create()),
    thread: async (threadId, signal) => threadSchema.parse(await threads.get(threadId, withSignal(signal))),
    deleteThread: (threadId) => threads.delete(threadId),
    history: async (threadId, { before, signal }) =>
      z.array(threadState).parse(
        await threads.getHistory(threadId, {
          limit: historyPage,
          ...withSignal(signal),
          ...(before ? { before: { configurable: { checkpoint_id: before.checkpoint_id } } } : {}),
        }),
      ),
    async updateState(threadId, { values, asNode, checkpoint }) {
      await threads.updateState(threadId, {
        values,
        ...(asNode === undefined ? {} : { asNode }),
        ...(checkpoint ? { checkpoint: { thread_id: threadId, ...toCheckpoint(checkpoint) } } : {}),
      });
    },
    startRun: async (threadId, { assistantId, input, command, checkpoint, context }) =>
      runSchema.parse(
        await runs.create(threadId, assistantId, {
          ...(command ? { command } : { input: isObject(input) ? input : null }),
          ...(context ? { context } : {}),
          ...(checkpoint ? { checkpoint: toCheckpoint(checkpoint) } : {}),
          metadata: { landfall_trigger: 'playground' },
          streamMode: ['values', 'messages-tuple', 'tasks'],
          streamSubgraphs: true,
          streamResumable: true,
        }),
      ),
    runs: async (threadId, signal) =>
      z.array(runSchema).parse(await runs.list(threadId, { limit: 10, ...withSignal(signal) })),
    run: async (threadId, runId, signal) => runSchema.parse(await runs.get(threadId, runId, withSignal(signal))),
    async runError(threadId, runId) {
      const result: unknown = await runs.join(threadId, runId);
      const failed = failedRunBody.safeParse(result);
      return failed.success ? runError.parse(failed.data[errorKey]) : undefined;
    },
    cancel: (threadId, runId) => runs.cancel(threadId, runId),
    follow: (threadId, runId, lastEventId, signal) => runs.joinStream(threadId, runId, { lastEventId, signal }),
  };
}

const withSignal = (signal: AbortSignal | undefined) => (signal ? { signal } : {});
