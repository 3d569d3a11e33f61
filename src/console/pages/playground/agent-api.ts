import type { Assistant, AssistantVersion, GraphSchemas } from '../../../contract/agent/assistant.ts';
import type { Run } from '../../../contract/agent/run.ts';
import type { StreamEvent } from '../../../contract/agent/stream-event.ts';
import type { Checkpoint, Thread, ThreadState, ThreadStatus } from '../../../contract/agent/thread.ts';
import type { GraphDrawing } from './graph-layout.ts';

/** What a run is started with. */
export interface RunRequest {
  assistantId: string;
  input?: unknown;
  command?: { resume: unknown } | undefined;
  /** The state to continue from; the newest if absent. */
  checkpoint?: Checkpoint | undefined;
  context?: Record<string, unknown> | undefined;
}

/** Which threads to list. */
export interface ThreadQuery {
  status?: ThreadStatus | undefined;
  ids?: string[];
  metadata?: Record<string, unknown>;
  values?: Record<string, unknown>;
  limit?: number;
  offset?: number;
  /** The fields of the state to take a thread's title from where it has no messages. */
  titleFields?: readonly string[];
}

/** A change of a thread's state. */
export interface StateUpdate {
  values: Record<string, unknown>;
  asNode?: string | undefined;
  checkpoint?: Checkpoint | undefined;
}

/** The agent of a deployment. Every method rejects with an error for people. */
export interface Agent {
  assistants(signal?: AbortSignal): Promise<Assistant[]>;
  versions(assistantId: string): Promise<AssistantVersion[]>;
  activate(assistantId: string, version: number): Promise<void>;
  schemas(assistantId: string): Promise<GraphSchemas>;
  drawing(assistantId: string): Promise<GraphDrawing>;
  searchThreads(query: ThreadQuery, signal?: AbortSignal): Promise<ListedThread[]>;
  createThread(): Promise<Thread>;
  thread(threadId: string, signal?: AbortSignal): Promise<Thread>;
  deleteThread(threadId: string): Promise<void>;
  history(threadId: string, options: { before?: Checkpoint; signal?: AbortSignal }): Promise<ThreadState[]>;
  updateState(threadId: string, update: StateUpdate): Promise<void>;
  startRun(threadId: string, request: RunRequest): Promise<Run>;
  /** The newest runs of a thread, newest first. */
  runs(threadId: string, signal?: AbortSignal): Promise<Run[]>;
  run(threadId: string, runId: string, signal?: AbortSignal): Promise<Run>;
  /** The error of a failed run. */
  runError(threadId: string, runId: string): Promise<RunFailure | undefined>;
  cancel(threadId: string, runId: string): Promise<void>;
  /** The events of a run after one of them, or from its start. */
  follow(threadId: string, runId: string, lastEventId: string, signal: AbortSignal): AsyncIterable<StreamEvent>;
}

/** The type and the message of a run's error. */
export interface RunFailure {
  error: string;
  message: string;
}

/** A thread in a list. */
export interface ListedThread {
  threadId: string;
  status: string;
  updatedAt: string;
  metadata: Record<string, unknown>;
  /** The text of its first message or of the first field with one, if any. */
  title: string | undefined;
}

/** The number of states in a page of a thread's history. */
export const historyPage = 30;
