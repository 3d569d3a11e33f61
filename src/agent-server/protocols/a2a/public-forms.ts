import { isObject } from '../../../contract/json-object.ts';

/**
 * Converts a call with the names of the public API to the protocol's: `thread.threadId` is the message's context, `taskId`
 * the task's id, and the role `assistant` is `agent`.
 */
export function inProtocolForm(call: Record<string, unknown>): Record<string, unknown> {
  const { params } = call;
  if (!isObject(params)) return call;
  const { thread, taskId, message, ...rest } = params;
  return {
    ...call,
    params: {
      ...rest,
      ...(taskId === undefined || rest['id'] !== undefined ? {} : { id: taskId }),
      ...(isObject(message) ? { message: messageIn(message, thread) } : message === undefined ? {} : { message }),
    },
  };
}

function messageIn(message: Record<string, unknown>, thread: unknown): Record<string, unknown> {
  const context = isObject(thread) ? thread['threadId'] : undefined;
  return {
    ...message,
    ...(message['role'] === 'assistant' ? { role: 'agent' } : {}),
    ...(context === undefined || message['contextId'] ? {} : { contextId: context }),
  };
}
