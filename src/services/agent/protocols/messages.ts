import * as z from 'zod';
import { freeObject } from '../../../contract/agent/open-word.ts';
import { validationErrorResponse } from '../api/response-schemas.ts';

/** The methods of the agent-to-agent protocol, in versions 0.3 and 1.0. */
const a2aMethods = [
  'message/send',
  'message/stream',
  'tasks/get',
  'tasks/cancel',
  'tasks/resubscribe',
  'SendMessage',
  'SendStreamingMessage',
  'GetTask',
  'ListTasks',
  'CancelTask',
  'SubscribeToTask',
] as const;

export const rpcCall = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.int()]).nullable().optional(),
  method: z.enum(a2aMethods),
  params: z
    .looseObject({
      message: z
        .looseObject({
          role: z.string().optional(),
          parts: z
            .array(
              z.looseObject({
                kind: z.string().optional(),
                text: z.string().optional(),
                data: freeObject.optional(),
              }),
            )
            .optional(),
          messageId: z.string().optional(),
        })
        .optional(),
      thread: z.looseObject({ threadId: z.string().optional() }).optional(),
      taskId: z.string().optional(),
    })
    .optional(),
});
export const rpcAnswer = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.int()]).nullable(),
  result: z.unknown().optional(),
  error: z.looseObject({ code: z.int(), message: z.string(), data: z.unknown().optional() }).optional(),
});
/** The error for an unreadable request: that of JSON-RPC, or that of every endpoint. */
export const rpcRefusal = z.union([rpcAnswer, validationErrorResponse]);
export const mcpMessage = freeObject;
