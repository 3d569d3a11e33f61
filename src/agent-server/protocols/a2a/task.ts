import { TaskState } from '@a2a-js/sdk';
import type { Message, Task } from '@a2a-js/sdk';
import { isObject } from '../../../contract/json-object.ts';
import { ERROR_KEY, FailedRunBody } from '../../../contract/agent/run.ts';
import { artifactsOf, historyOf, question, remark } from './messages.ts';

/** A task and its context: a run and its thread. */
export interface TaskIds {
  taskId: string;
  contextId: string;
}

/** The key under which values tell that a graph waits for somebody. */
export const INTERRUPT = '__interrupt__';

/** The states that a task keeps for ever. */
export const isOver = (state: TaskState | undefined): boolean =>
  state === TaskState.TASK_STATE_COMPLETED ||
  state === TaskState.TASK_STATE_FAILED ||
  state === TaskState.TASK_STATE_CANCELED ||
  state === TaskState.TASK_STATE_REJECTED;

/** A task on which there is nothing to show yet. */
export const taskUnderWay = (
  ids: TaskIds,
  state: TaskState.TASK_STATE_SUBMITTED | TaskState.TASK_STATE_WORKING,
  input: unknown,
): Task => ({
  ...blank(ids),
  status: { state, message: undefined, timestamp: undefined },
  history: historyOf(input, undefined, ids),
});

/** How a task stands after a run: what `/wait` answers, said in the protocol's words. */
export interface Standing {
  state: TaskState;
  message: Message | undefined;
  /** The values of the state; undefined where the run failed. */
  values: unknown;
}

/** @param result the values that a run left, with what its graph waits for, or how it failed. */
export function standingAfter(result: unknown, ids: TaskIds): Standing {
  const failed = FailedRunBody.safeParse(result);
  if (failed.success) {
    const { error, message } = failed.data[ERROR_KEY];
    const state = error === 'RunCancelled' ? TaskState.TASK_STATE_CANCELED : TaskState.TASK_STATE_FAILED;
    return { state, message: remark(`${error}: ${message}`, ids), values: undefined };
  }
  if (!isObject(result)) return { state: TaskState.TASK_STATE_COMPLETED, message: undefined, values: result };
  const { [INTERRUPT]: interrupts, ...values } = result;
  if (!Array.isArray(interrupts)) return { state: TaskState.TASK_STATE_COMPLETED, message: undefined, values };
  const requested = interrupts.map((one: unknown) => (isObject(one) ? one['value'] : one));
  return { state: TaskState.TASK_STATE_INPUT_REQUIRED, message: question(requested, ids), values };
}

/** @param messageId of the message that the task began with: what was said before it is not the task's. */
export function taskAfter(
  { state, message, values }: Standing,
  ids: TaskIds,
  messageId: string | undefined,
  endedAt: string | undefined,
): Task {
  return {
    ...blank(ids),
    status: { state, message, timestamp: endedAt },
    artifacts: state === TaskState.TASK_STATE_COMPLETED ? artifactsOf(values, messageId) : [],
    history: historyOf(values, messageId, ids),
  };
}

const blank = ({ taskId, contextId }: TaskIds) => ({
  id: taskId,
  contextId,
  artifacts: [],
  history: [],
  metadata: undefined,
});

/** The same with no more of what was said than was asked for; all of it where nothing was asked. */
export function withHistory(task: Task, most: number | undefined): Task {
  if (most === undefined || !(most >= 0)) return task;
  return { ...task, history: most === 0 ? [] : task.history.slice(-most) };
}
