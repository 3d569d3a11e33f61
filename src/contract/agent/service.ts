import type { CallOptions } from '../call-options.ts';
import type {
  Assistant,
  AssistantCreate,
  AssistantPatch,
  AssistantSearch,
  AssistantVersion,
  AssistantVersionChange,
  AssistantVersionsSearch,
  GraphDrawing,
  GraphSchemas,
} from './assistant.ts';
import type { Cron, CronCreate } from './cron.ts';
import type { CancelRequest, Run, RunCreate, RunResult } from './run.ts';
import type { StreamEvent } from './stream-event.ts';
import type { Thread, ThreadCopy, ThreadCreate, ThreadPatch, ThreadSearch, ThreadState } from './thread.ts';
import * as z from 'zod';
import { freeObject } from './open-word.ts';

export const healthSchema = z.looseObject({ ok: z.boolean() });

/** Response of `GET /info`: the version decides which webhook features exist (section "Versioning"). */
export const serverInfoSchema = z.looseObject({
  version: z.string(),
  flags: freeObject.nullish(),
  metadata: freeObject.nullish(),
});
export type ServerInfo = z.infer<typeof serverInfoSchema>;

/**
 * The API of an agent server (section "Endpoints"). Every call may reject with a `ServiceError`: the server refused,
 * was not reachable by the deadline, or sent an unreadable response.
 *
 * A failed run is no `ServiceError`, but a `RunResult` or the event `error` of a stream.
 */
export interface AgentServer {
  /** `GET /ok`: resolves if the server is healthy. */
  ok(options?: CallOptions): Promise<void>;

  /** `GET /info`. */
  info(options?: CallOptions): Promise<ServerInfo>;

  /** `POST /assistants`. */
  createAssistant(request: AssistantCreate, options?: CallOptions): Promise<Assistant>;

  /** `GET /assistants/{assistant_id}`: by uuid, or the default assistant of a graph by the graph's id. */
  getAssistant(assistantId: string, options?: CallOptions): Promise<Assistant>;

  /** `POST /assistants/search`: one page. */
  searchAssistants(request: AssistantSearch, options?: CallOptions): Promise<Assistant[]>;

  /** `PATCH /assistants/{assistant_id}`: creates and activates the next version; returns the assistant. */
  patchAssistant(assistantId: string, request: AssistantPatch, options?: CallOptions): Promise<Assistant>;

  /** `POST /assistants/{assistant_id}/versions`: one page, newest first. */
  listAssistantVersions(
    assistantId: string,
    request: AssistantVersionsSearch,
    options?: CallOptions,
  ): Promise<AssistantVersion[]>;

  /** `POST /assistants/{assistant_id}/latest`: activates a version; returns the assistant. */
  setLatestAssistantVersion(
    assistantId: string,
    request: AssistantVersionChange,
    options?: CallOptions,
  ): Promise<Assistant>;

  /** `DELETE /assistants/{assistant_id}`: with all its versions. */
  deleteAssistant(assistantId: string, options?: CallOptions): Promise<void>;

  /** `POST /threads`. */
  createThread(request: ThreadCreate, options?: CallOptions): Promise<Thread>;

  /** `GET /threads/{thread_id}`. */
  getThread(threadId: string, options?: CallOptions): Promise<Thread>;

  /** `DELETE /threads/{thread_id}`. */
  deleteThread(threadId: string, options?: CallOptions): Promise<void>;

  /** `GET /threads/{thread_id}/state`: the newest one. */
  getThreadState(threadId: string, options?: CallOptions): Promise<ThreadState>;

  /**
   * `POST /threads/{thread_id}/runs/stream`, or `POST /runs/stream` without a thread. The first event is `metadata`
   * with the run's id; the stream ends with the run, after the event `error` if it failed. Leaving the loop early
   * closes the stream, and cancels the run unless the request says `on_disconnect: 'continue'`.
   */
  streamRun(request: RunCreate, threadId: string | undefined, options?: CallOptions): AsyncIterable<StreamEvent>;

  /** `POST /threads/{thread_id}/runs/wait`, or `POST /runs/wait` without a thread. */
  waitRun(request: RunCreate, threadId: string | undefined, options?: CallOptions): Promise<RunResult>;

  /** `POST /threads/{thread_id}/runs`, or `POST /runs` without a thread: starts a background run. */
  createRun(request: RunCreate, threadId: string | undefined, options?: CallOptions): Promise<Run>;

  /** `GET /threads/{thread_id}/runs/{run_id}`. */
  getRun(threadId: string, runId: string, options?: CallOptions): Promise<Run>;

  /** `POST /threads/{thread_id}/runs/{run_id}/cancel`. */
  cancelRun(threadId: string, runId: string, request?: CancelRequest, options?: CallOptions): Promise<void>;

  /** `GET /threads/{thread_id}/runs/{run_id}/join`: waits for an existing run. */
  joinRun(threadId: string, runId: string, options?: CallOptions): Promise<RunResult>;

  /** `POST /threads/{thread_id}/runs/crons`, or `POST /runs/crons` without a thread. */
  createCron(request: CronCreate, threadId: string | undefined, options?: CallOptions): Promise<Cron>;

  /** `DELETE /runs/crons/{cron_id}`. */
  deleteCron(cronId: string, options?: CallOptions): Promise<void>;
}

/** The operations that trying conversations needs: threads, their copies, and the graphs' schemas. */
export interface ConversationServer extends Pick<
  AgentServer,
  'ok' | 'info' | 'getThread' | 'getThreadState' | 'deleteThread' | 'waitRun'
> {
  /** `POST /threads/search`: one page. */
  searchThreads(request: ThreadSearch, options?: CallOptions): Promise<Thread[]>;

  /** `POST /threads/{thread_id}/copy`: with its states, without its runs. `request` requires the flag of `/info`. */
  copyThread(threadId: string, request?: ThreadCopy, options?: CallOptions): Promise<Thread>;

  /** `PATCH /threads/{thread_id}`: merges the metadata. */
  patchThread(threadId: string, request: ThreadPatch, options?: CallOptions): Promise<Thread>;

  /** `GET /assistants/{assistant_id}/graph`: its nodes. */
  drawGraph(assistantId: string, options?: CallOptions): Promise<GraphDrawing>;

  /** `GET /assistants/{assistant_id}/schemas`. */
  readSchemas(assistantId: string, options?: CallOptions): Promise<GraphSchemas>;
}
