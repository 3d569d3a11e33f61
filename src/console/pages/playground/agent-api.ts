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

const toCheckpointKey = ({ checkpoint_id, checkpoint_ns }: Checkpoint): Checkpoint => ({
  checkpoint_id,
  checkpoint_ns: checkpoint_ns ?? '',
});

/** The API of a deployment's agent. Every method rejects with an error whose message can be shown. */
export type Agent = ReturnType<typeof createAgent>;

/** The agent with this id: that of a deployment, or `ID@REVISION` for a revision that is held before traffic. */
export function createAgent(id: string) {
  const assistantPath = (assistantId: string, part: string): string => agentPath(id, 'assistants', assistantId, part);
  const threadPath = (threadId: string, ...parts: readonly string[]): string =>
    agentPath(id, 'threads', threadId, ...parts);
  return {
    assistants: (signal: AbortSignal) =>
      searchAssistants(id, { limit: 1000, sort_by: 'created_at', sort_order: 'asc' }, signal),
    versions: (assistantId: string) =>
      call('POST', assistantPath(assistantId, 'versions'), z.array(assistantVersion), { body: { limit: 1000 } }),
    activate: (assistantId: string, version: number): Promise<unknown> => activateVersion(id, assistantId, version),
    schemas: (assistantId: string) => call('GET', assistantPath(assistantId, 'schemas'), graphSchemas),
    drawing: (assistantId: string) =>
      call('GET', assistantPath(assistantId, 'graph'), graphDrawing, { query: { xray: true } }),
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
    thread: (threadId: string, signal: AbortSignal) => call('GET', threadPath(threadId), threadSchema, { signal }),
    deleteThread: (threadId: string): Promise<unknown> => send('DELETE', threadPath(threadId)),
    history(threadId: string, { before, signal }: { before?: Checkpoint; signal: AbortSignal }) {
      const body = { limit: historyPage, before: before && toCheckpointKey(before) };
      return call('POST', threadPath(threadId, 'history'), z.array(threadState), { body, signal });
    },
    updateState(
      threadId: string,
      checkpoint: Checkpoint,
      change: { values: object; as_node?: string },
    ): Promise<unknown> {
      const body = { ...change, checkpoint: toCheckpointKey(checkpoint) };
      return send('POST', threadPath(threadId, 'state'), { body });
    },
    startRun(threadId: string, { assistantId, input, command, checkpoint, context }: RunRequest) {
      const body: RunCreate = {
        assistant_id: assistantId,
        ...(command ? { command } : { input: isObject(input) ? input : null }),
        context,
        checkpoint: checkpoint && toCheckpointKey(checkpoint),
        metadata: { landfall_trigger: 'playground' },
        stream_mode: ['values', 'messages-tuple', 'tasks'],
        stream_subgraphs: true,
        stream_resumable: true,
      };
      return call('POST', threadPath(threadId, 'runs'), runSchema, { body });
    },
    /** The newest runs of a thread, newest first. */
    runs: (threadId: string, signal: AbortSignal) =>
      call('GET', threadPath(threadId, 'runs'), z.array(runSchema), { query: { limit: 10 }, signal }),
    run: (threadId: string, runId: string, signal: AbortSignal) =>
      call('GET', threadPath(threadId, 'runs', runId), runSchema, { signal }),
    /** The error of a failed run. */
    async runError(threadId: string, runId: string): Promise<RunError | undefined> {
      const result = await call('GET', threadPath(threadId, 'runs', runId, 'join'), z.unknown());
      const failed = failedRunBody.safeParse(result);
      return failed.success ? runError.parse(failed.data[errorKey]) : undefined;
    },
    cancel: (threadId: string, runId: string): Promise<unknown> =>
      send('POST', threadPath(threadId, 'runs', runId, 'cancel')),
    /** The events of a run after the event with this id, or from its start. */
    async *follow(
      threadId: string,
      runId: string,
      lastEventId: string,
      signal: AbortSignal,
    ): AsyncGenerator<StreamEvent, void> {
      const options = { headers: { 'Last-Event-ID': lastEventId }, signal };
      const { body } = await send('GET', threadPath(threadId, 'runs', runId, 'stream'), options);
      if (!body) return;
      yield* readEvents(body, {
        maxEventBytes: Number.MAX_SAFE_INTEGER,
        read: ({ data, ...event }): StreamEvent => ({ ...event, data: fromJson(data) }),
        explain: (problem) => problem,
      });
    },
  };
}
