import { TaskState, type Message, type Task } from '@a2a-js/sdk';
import { isObject } from '../../../../kit/json-object.ts';
import { errorKey, failedRunBody } from '../../../../contract/agent/run.ts';
import { cancelledError } from '../../runs/run-error.ts';
import { artifactsOf, historyOf, question, remark, type TaskIds } from './messages.ts';

/** The key of the values that holds the interrupts. */
export const interruptKey = '__interrupt__';

/** The final states of a task. */
export const isTerminal = (state: TaskState | undefined): boolean =>
  state === TaskState.TASK_STATE_COMPLETED ||
  state === TaskState.TASK_STATE_FAILED ||
  state === TaskState.TASK_STATE_CANCELED ||
  state === TaskState.TASK_STATE_REJECTED;

/** A task without output yet. */
export const taskUnderWay = (
  ids: TaskIds,
  state: TaskState.TASK_STATE_SUBMITTED | TaskState.TASK_STATE_WORKING,
  input: unknown,
): Task => ({
  ...blank(ids),
  status: { state, message: undefined, timestamp: undefined },
  history: historyOf(input, undefined, ids),
});

/** The state of a task after a run, from the response of `/wait`. */
export interface TaskOutcome {
  state: TaskState;
  message: Message | undefined;
  /** The values of the state; undefined if the run failed. */
  values: unknown;
}

/** @param result the values after a run with its interrupts, or its error. */
export function outcomeOf(result: unknown, ids: TaskIds): TaskOutcome {
  const failed = failedRunBody.safeParse(result);
  if (failed.success) {
    const { error, message } = failed.data[errorKey];
    const state = error === cancelledError ? TaskState.TASK_STATE_CANCELED : TaskState.TASK_STATE_FAILED;
    return { state, message: remark(`${error}: ${message}`, ids), values: undefined };
  }
  if (!isObject(result)) return { state: TaskState.TASK_STATE_COMPLETED, message: undefined, values: result };
  const { [interruptKey]: interrupts, ...values } = result;
  if (!Array.isArray(interrupts)) return { state: TaskState.TASK_STATE_COMPLETED, message: undefined, values };
  const requested = interrupts.map((one: unknown) => (isObject(one) ? one['value'] : one));
  return { state: TaskState.TASK_STATE_INPUT_REQUIRED, message: question(requested, ids), values };
}

/** @param messageId of the task's first message: earlier messages belong to other tasks. */
export function taskAfter(
  { state, message, values }: TaskOutcome,
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

/** Limits the history of a task to the requested length; unlimited by default. */
export function withHistory(task: Task, max: number | undefined): Task {
  if (max === undefined || !(max >= 0)) return task;
  return { ...task, history: max === 0 ? [] : task.history.slice(-max) };
}
