import * as z from 'zod';
import { assistantVersion, graphDrawing, graphSchemas } from '../../../contract/agent/assistant.ts';
import {
  errorKey,
  failedRunBody,
  runError,
  runSchema,
  type RunCreate,
  type RunError,
} from '../../../contract/agent/run.ts';
import type { StreamEvent } from '../../../contract/agent/stream-event.ts';
import { threadSchema, threadState, type Checkpoint, type ThreadSearch } from '../../../contract/agent/thread.ts';
import { isObject } from '../../../kit/json-object.ts';
import { fromJson } from '../../../kit/json-text.ts';
import { readEvents } from '../../../kit/sse/parse-events.ts';
import { agentPath } from '../../api/agent-access.ts';
import { call, send } from '../../api/http.ts';
import { activateVersion, searchAssistants } from '../assistants/assistants-api.ts';
import { historyPage } from './history.ts';
import { listedThread, type ThreadQuery } from './thread-query.ts';
import type { RunRequest } from './thread-session.ts';

const ofCheckpoint = ({ checkpoint_id, checkpoint_ns }: Checkpoint): Checkpoint => ({
  checkpoint_id,
  checkpoint_ns: checkpoint_ns ?? '',
});

/** The agent of a deployment. Every method rejects with an error for people. */
export type Agent = ReturnType<typeof agentOf>;

/** The agent with an id: of a deployment, or `ID@REVISION` of a revision that is held before traffic. */
export function agentOf(id: string) {
  const ofAssistant = (assistantId: string, part: string): string => agentPath(id, 'assistants', assistantId, part);
  const ofThread = (threadId: string, ...parts: readonly string[]): string =>
    agentPath(id, 'threads', threadId, ...parts);
  return {
    assistants: (signal: AbortSignal) =>
      searchAssistants(id, { limit: 1000, sort_by: 'created_at', sort_order: 'asc' }, signal),
    versions: (assistantId: string) =>
      call('POST', ofAssistant(assistantId, 'versions'), z.array(assistantVersion), { body: { limit: 1000 } }),
    activate: (assistantId: string, version: number): Promise<unknown> => activateVersion(id, assistantId, version),
    schemas: (assistantId: string) => call('GET', ofAssistant(assistantId, 'schemas'), graphSchemas),
    drawing: (assistantId: string) =>
      call('GET', ofAssistant(assistantId, 'graph'), graphDrawing, { query: { xray: true } }),
    searchThreads({ titleFields = [], ...query }: ThreadQuery, signal: AbortSignal) {
      const fields = Object.fromEntries(titleFields.map((name) => [`field ${name}`, `values.${name}`]));
      const body: ThreadSearch = {
        sort_by: 'updated_at',
        sort_order: 'desc',
        select: ['thread_id', 'status', 'updated_at', 'metadata'],
        extract: { message: 'values.messages[0].content', ...fields },
        ...query,
      };
      return call('POST', agentPath(id, 'threads', 'search'), z.array(listedThread), { body, signal });
    },
    createThread: () => call('POST', agentPath(id, 'threads'), threadSchema, { body: {} }),
    thread: (threadId: string, signal: AbortSignal) => call('GET', ofThread(threadId), threadSchema, { signal }),
    deleteThread: (threadId: string): Promise<unknown> => send('DELETE', ofThread(threadId)),
    history(threadId: string, { before, signal }: { before?: Checkpoint; signal: AbortSignal }) {
      const body = { limit: historyPage, before: before && ofCheckpoint(before) };
      return call('POST', ofThread(threadId, 'history'), z.array(threadState), { body, signal });
    },
    updateState(
      threadId: string,
      checkpoint: Checkpoint,
      change: { values: object; as_node?: string },
    ): Promise<unknown> {
      const body = { ...change, checkpoint: ofCheckpoint(checkpoint) };
      return send('POST', ofThread(threadId, 'state'), { body });
    },
    startRun(threadId: string, { assistantId, input, command, checkpoint, context }: RunRequest) {
      const body: RunCreate = {
        assistant_id: assistantId,
        ...(command ? { command } : { input: isObject(input) ? input : null }),
        context,
        checkpoint: checkpoint && ofCheckpoint(checkpoint),
        metadata: { landfall_trigger: 'playground' },
        stream_mode: ['values', 'messages-tuple', 'tasks'],
        stream_subgraphs: true,
        stream_resumable: true,
      };
      return call('POST', ofThread(threadId, 'runs'), runSchema, { body });
    },
    /** The newest runs of a thread, newest first. */
    runs: (threadId: string, signal: AbortSignal) =>
      call('GET', ofThread(threadId, 'runs'), z.array(runSchema), { query: { limit: 10 }, signal }),
    run: (threadId: string, runId: string, signal: AbortSignal) =>
      call('GET', ofThread(threadId, 'runs', runId), runSchema, { signal }),
    /** The error of a failed run. */
    async runError(threadId: string, runId: string): Promise<RunError | undefined> {
      const result = await call('GET', ofThread(threadId, 'runs', runId, 'join'), z.unknown());
      const failed = failedRunBody.safeParse(result);
      return failed.success ? runError.parse(failed.data[errorKey]) : undefined;
    },
    cancel: (threadId: string, runId: string): Promise<unknown> =>
      send('POST', ofThread(threadId, 'runs', runId, 'cancel')),
    /** The events of a run after one of them, or from its start. */
    async *follow(
      threadId: string,
      runId: string,
      lastEventId: string,
      signal: AbortSignal,
    ): AsyncGenerator<StreamEvent, void> {
      const options = { headers: { 'Last-Event-ID': lastEventId }, signal };
      const { body } = await send('GET', ofThread(threadId, 'runs', runId, 'stream'), options);
      if (!body) return;
      yield* readEvents(body, {
        maxEventBytes: Number.MAX_SAFE_INTEGER,
        read: ({ data, ...event }): StreamEvent => ({ ...event, data: fromJson(data) }),
        explain: (problem) => problem,
      });
    },
  };
}
