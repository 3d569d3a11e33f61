import { isUnfinished } from '../../runs/run-row.ts';
import { randomUUID } from 'node:crypto';
import {
  TaskState,
  type AgentCard,
  type CancelTaskRequest,
  type GetTaskRequest,
  type ListTasksRequest,
  type ListTasksResponse,
  type Message,
  type SendMessageRequest,
  type StreamResponse,
  type SubscribeToTaskRequest,
  type Task,
} from '@a2a-js/sdk';
import {
  ExtendedAgentCardNotConfiguredError,
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotCancelableError,
  UnsupportedOperationError,
  A2AError,
  TaskNotFoundError,
} from '@a2a-js/sdk/errors';
import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import { isUuid } from '../../../../kit/uuid.ts';
import type { Assistant } from '../../../../contract/agent/assistant.ts';
import type { FreeObject } from '../../../../contract/agent/open-word.ts';
import type { Run } from '../../../../contract/agent/run.ts';
import { isObject } from '../../../../kit/json-object.ts';
import { inputOf, resumeOf, type TaskIds } from './messages.ts';
import { internalRuns, type InternalRuns } from './internal-runs.ts';
import { taskMetadata, type FindTask, type RunIds } from './find-task.ts';
import { readInputSchema, type InternalApi } from '../internal-api.ts';
import { taskStream } from './task-stream.ts';
import { isTerminal, outcomeOf, taskAfter, taskUnderWay, withHistory } from './task.ts';
import type { Logger } from '../../../../kit/logger.ts';
import { stackOf } from '../../../../kit/errors.ts';
import { Refusal } from '../../refusal.ts';

export interface TaskDependencies {
  assistant: Assistant;
  card: AgentCard;
  api: InternalApi;
  findTask: FindTask;
  /** Aborts when the caller disconnects. */
  gone: AbortSignal;
  log: Logger;
}

/** What a message starts or continues. */
interface Turn {
  threadId: string;
  /** The task to continue; undefined for a new one. */
  taskId: string | undefined;
  /** The id of the task's first message. */
  messageId: string;
  input: unknown;
  request: FreeObject;
}

const noNotifications = (): Promise<never> => Promise.reject(new PushNotificationNotSupportedError());

const pageBounds = { max: 100, usual: 50 };

/**
 * One assistant as an agent of the protocol: a context is a thread, a task is a run on it plus the runs that resumed it
 * after an interrupt. Tasks have no storage of their own, so every process can serve them, also after a restart.
 */
export class Tasks implements A2ARequestHandler {
  readonly #dependencies: TaskDependencies;
  readonly #runs: InternalRuns;

  constructor(dependencies: TaskDependencies) {
    this.#dependencies = dependencies;
    this.#runs = internalRuns(dependencies.api);
  }

  async getAgentCard(): Promise<AgentCard> {
    return this.#dependencies.card;
  }

  async getAuthenticatedExtendedAgentCard(): Promise<AgentCard> {
    throw new ExtendedAgentCardNotConfiguredError();
  }

  /** Returns the task at its end, or at once if the caller does not wait. */
  sendMessage(params: SendMessageRequest): Promise<Task> {
    return withA2aErrors(this.#dependencies.log, async () => {
      const turn = await this.#turn(params);
      const max = params.configuration?.historyLength;
      if (params.configuration?.returnImmediately) {
        const run = await this.#runs.start(turn.threadId, turn.request);
        const ids = { taskId: turn.taskId ?? run.run_id, contextId: turn.threadId };
        return withHistory(taskUnderWay(ids, TaskState.TASK_STATE_SUBMITTED, turn.input), max);
      }
      const { runId, result } = await this.#runs.wait(turn.threadId, turn.request, this.#dependencies.gone);
      const ids = { taskId: turn.taskId ?? runId, contextId: turn.threadId };
      return withHistory(taskAfter(outcomeOf(result, ids), ids, turn.messageId, undefined), max);
    });
  }

  async *sendMessageStream(params: SendMessageRequest): AsyncGenerator<StreamResponse, void, undefined> {
    const { log, gone } = this.#dependencies;
    const turn = await withA2aErrors(log, () => this.#turn(params));
    const events = await withA2aErrors(log, () => this.#runs.stream(turn.threadId, turn.request, gone));
    const idsOf = (runId: string) => ({ taskId: turn.taskId ?? runId, contextId: turn.threadId });
    yield* taskStream(events, idsOf, { input: turn.input, messageId: turn.messageId });
  }

  async getTask({ id, historyLength }: GetTaskRequest): Promise<Task> {
    return withA2aErrors(this.#dependencies.log, async () => withHistory((await this.#find(id)).task, historyLength));
  }

  async cancelTask({ id }: CancelTaskRequest): Promise<Task> {
    return withA2aErrors(this.#dependencies.log, async () => {
      const { place, run } = await this.#find(id);
      if (!isUnfinished(run)) throw new TaskNotCancelableError(`Task ${id} has ended already.`);
      await this.#runs.cancel(place);
      return (await this.#find(id)).task;
    });
  }

  async *resubscribe({ id }: SubscribeToTaskRequest): AsyncGenerator<StreamResponse, void, undefined> {
    const { place, run, task } = await withA2aErrors(this.#dependencies.log, () => this.#find(id));
    if (!isUnfinished(run)) {
      throw new UnsupportedOperationError(`Task ${id} has ended already: there is nothing to follow. Read it instead.`);
    }
    const events = await withA2aErrors(this.#dependencies.log, () => this.#runs.join(place, this.#dependencies.gone));
    const idsOf = () => ({ taskId: id, contextId: task.contextId });
    yield* taskStream(events, idsOf, { input: inputGiven(run), messageId: messageGiven(run) });
  }

  /** The tasks of a context, newest first. */
  async listTasks(request: ListTasksRequest): Promise<ListTasksResponse> {
    return withA2aErrors(this.#dependencies.log, async () => {
      const { contextId, pageToken, historyLength } = request;
      if (contextId === '') throw new RequestMalformedError('contextId is missing. Tasks are listed per context.');
      const pageSize = Math.min(request.pageSize || pageBounds.usual, pageBounds.max);
      const offset = /^\d{1,9}$/.test(pageToken) ? Number(pageToken) : 0;
      const runs = await this.#runs.list(contextOf(contextId), pageSize, offset);
      const own = runs.filter(
        (run) => run.assistant_id === this.#dependencies.assistant.assistant_id && taskOf(run) === run.run_id,
      );
      const found = await Promise.all(own.map(async (run) => (await this.#find(run.run_id)).task));
      const wanted = request.status ? found.filter(({ status }) => status?.state === request.status) : found;
      const tasks = wanted.map((task) => withHistory(task, historyLength));
      const nextPageToken = runs.length < pageSize ? '' : String(offset + runs.length);
      return { tasks, nextPageToken, pageSize, totalSize: tasks.length };
    });
  }

  createTaskPushNotificationConfig = noNotifications;
  getTaskPushNotificationConfig = noNotifications;
  listTaskPushNotificationConfigs = noNotifications;
  deleteTaskPushNotificationConfig = noNotifications;

  async #turn({ message, metadata, configuration }: SendMessageRequest): Promise<Turn> {
    if (!message?.messageId) throw new RequestMalformedError('message.messageId is missing.');
    if (configuration?.taskPushNotificationConfig) throw new PushNotificationNotSupportedError();
    const start = {
      assistant_id: this.#dependencies.assistant.assistant_id,
      on_disconnect: 'continue',
      if_not_exists: 'create',
    };
    if (message.taskId !== '') return this.#resumed(message, { ...metadata }, start);
    const input = inputOf(message, await takesMessages(this.#dependencies.api, start.assistant_id));
    return {
      threadId: message.contextId === '' ? randomUUID() : contextOf(message.contextId),
      taskId: undefined,
      messageId: message.messageId,
      input,
      // The client must not choose the task of a run.
      request: { ...start, input, metadata: withoutTask(metadata) },
    };
  }

  /** Resumes a task that waits for a message. */
  async #resumed(message: Message, metadata: object, start: FreeObject): Promise<Turn> {
    const { taskId, contextId } = message;
    const { place, task, first } = await this.#find(taskId);
    if (contextId !== '' && contextId !== task.contextId) {
      throw new RequestMalformedError(`Task ${taskId} belongs to another context than ${contextId}.`);
    }
    const state = task.status?.state;
    if (state !== TaskState.TASK_STATE_INPUT_REQUIRED) {
      const why = isTerminal(state) ? 'has ended' : 'is still being carried out';
      throw new UnsupportedOperationError(`Task ${taskId} ${why}: send the message without a taskId, in its context.`);
    }
    return {
      threadId: place.threadId,
      taskId,
      messageId: messageGiven(first) ?? message.messageId,
      input: inputGiven(first),
      request: { ...start, command: { resume: resumeOf(message) }, metadata: { ...metadata, [taskMetadata]: taskId } },
    };
  }

  async #find(id: string): Promise<{ place: RunIds; run: Run; first: Run; task: Task }> {
    const { findTask, assistant } = this.#dependencies;
    const place = await findTask(id);
    if (!place) throw noTask(id);
    const run = await this.#runs.get(place).catch(asNoTask(id));
    if (run.assistant_id !== assistant.assistant_id) throw noTask(id);
    const first = run.run_id === id ? run : await this.#runs.get({ ...place, runId: id });
    const ids: TaskIds = { taskId: id, contextId: place.threadId };
    return { place, run, first, task: await this.#taskOf(run, first, place, ids) };
  }

  async #taskOf(run: Run, first: Run, place: RunIds, ids: TaskIds): Promise<Task> {
    if (run.status === 'pending') return taskUnderWay(ids, TaskState.TASK_STATE_SUBMITTED, inputGiven(first));
    if (run.status === 'running') return taskUnderWay(ids, TaskState.TASK_STATE_WORKING, inputGiven(first));
    const outcome = outcomeOf(await this.#runs.result(place, run.status), ids);
    return taskAfter(outcome, ids, messageGiven(first), run.updated_at);
  }
}

/** Whether the graph's input has the key `messages`; true if unknown. */
async function takesMessages(api: InternalApi, assistantId: string): Promise<boolean> {
  const properties = (await readInputSchema(api, assistantId))?.['properties'];
  return !isObject(properties) || 'messages' in properties;
}

const withoutTask = (metadata: object = {}): object =>
  Object.fromEntries(Object.entries(metadata).filter(([name]) => name !== taskMetadata));

const taskOf = ({ run_id, metadata }: Run): unknown => metadata?.[taskMetadata] ?? run_id;

const inputGiven = ({ kwargs }: Run): unknown => kwargs?.['input'];

/** The id of the message that started a run; undefined if none did. */
function messageGiven(run: Run): string | undefined {
  const input = inputGiven(run);
  const messages: unknown = isObject(input) ? input['messages'] : undefined;
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
  return isObject(last) && typeof last['id'] === 'string' ? last['id'] : undefined;
}

function contextOf(contextId: string): string {
  if (isUuid(contextId)) return contextId.toLowerCase();
  throw new RequestMalformedError('contextId must be a uuid: a context is a thread.');
}

/** Converts refusals of the server's own endpoints. The details of an internal error go to the log only. */
async function withA2aErrors<T>(log: Logger, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refusal) throw new (errorClasses.get(error.status) ?? A2AError)(error.message);
    if (error instanceof A2AError) throw error;
    log.error(`The agent-to-agent protocol failed: ${stackOf(error)}`);
    throw new A2AError('Internal error. See the server log.');
  }
}

const noTask = (id: string): Error => new TaskNotFoundError(`There is no task ${id}.`);

/** Reports a hidden task like a missing one: the refusal of its run would name its thread. */
const asNoTask =
  (id: string) =>
  (error: unknown): never => {
    throw error instanceof Refusal && error.status === 404 ? noTask(id) : error;
  };

const errorClasses: ReadonlyMap<number, new (message: string) => Error> = new Map([
  [400, RequestMalformedError],
  [404, TaskNotFoundError],
  [409, TaskNotCancelableError],
  [413, RequestMalformedError],
  [422, RequestMalformedError],
]);
