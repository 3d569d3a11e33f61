import * as z from 'zod';
import { runConfigRequest, freeObject, openWord, stateValues } from './open-word.ts';
import { isObject } from '../../kit/json-object.ts';
import { runStreamModes } from './stream-event.ts';
import { checkpointSchema } from './thread.ts';
import { maxWebhookUrlLength } from './webhook.ts';

/** Run statuses: `success` and `error` are specified as final ones, the others are those of the public servers. */
export const runStatuses = ['pending', 'running', 'success', 'error', 'timeout', 'interrupted'] as const;
export type RunStatus = (typeof runStatuses)[number];

export const finalRunStatuses = ['success', 'error', 'timeout', 'interrupted'] as const satisfies readonly RunStatus[];
export type FinalRunStatus = (typeof finalRunStatuses)[number];

/** What to do with a run on a busy thread: reject it, queue it, or end the other one and keep or undo its work. */
export const multitaskStrategies = ['reject', 'enqueue', 'interrupt', 'rollback'] as const;
export type MultitaskStrategy = (typeof multitaskStrategies)[number];

/** What happens to a run when its stream's client disconnects. */
const onDisconnect = ['cancel', 'continue'] as const;
/** What happens to the thread of a stateless run. */
export const onCompletion = ['delete', 'keep'] as const;
/** What to do if the thread of a run does not exist. */
const ifNotExists = ['create', 'reject'] as const;
/** When a run stores its state: before the next step, in parallel, or at its end. */
export const durabilities = ['sync', 'async', 'exit'] as const;

/** A run in a response; section "Webhook notification" lists the fields, and leaves the rest open. */
export const runSchema = z.looseObject({
  run_id: z.string(),
  thread_id: z.string(),
  assistant_id: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  status: openWord(runStatuses),
  metadata: freeObject.nullish(),
  kwargs: freeObject.nullish(),
  multitask_strategy: openWord(multitaskStrategies).nullish(),
});
export type Run = z.infer<typeof runSchema>;

/** A message to one node: what a command may go to. */
export const send = z.object({ node: z.string(), input: z.unknown() });
/** A `send` in the engine's own form. */
const engineSend = z.object({ node: z.string(), args: z.unknown() });

/**
 * What a run does instead of taking an input: update the state, resume an interrupted node, go to a node. A program
 * with a remote graph of the server sends the engine's own form, with a name (`lg_name`) or `graph`, and a page that
 * runs tools itself says whether it keyed `resume` by interrupts (`keyedByInterruptId`); these three are ignored.
 */
export const commandSchema = z.strictObject(
  {
    update: stateValues.nullish(),
    resume: z.unknown().optional(),
    goto: z.union([send, z.array(send), engineSend, z.array(engineSend), z.string(), z.array(z.string())]).nullish(),
    lg_name: z.unknown().optional(),
    graph: z.unknown().optional(),
    keyedByInterruptId: z.unknown().optional(),
  },
  {
    error: ({ code }) =>
      code === 'unrecognized_keys' ? 'Unknown: a command takes "resume", "update" and "goto"' : undefined,
  },
);
export type Command = z.infer<typeof commandSchema>;

const interruptNodes = z.union([z.literal('*'), z.array(z.string())]);

/**
 * Body of every endpoint that starts a run, on a thread or stateless (section "Endpoints"): `assistant_id` is a graph
 * id or an assistant's uuid, `input` is the graph's, `stream_mode` one or more modes, `webhook` a URL to call when the
 * run completes. `after_seconds` delays the start. The other fields are the public servers'.
 */
export const runCreate = z.strictObject({
  assistant_id: z.string().min(1),
  input: z.unknown().optional(),
  command: commandSchema.nullable().optional(),
  config: runConfigRequest.optional(),
  context: freeObject.optional(),
  metadata: freeObject.optional(),
  webhook: z.string().min(1).max(maxWebhookUrlLength).optional(),
  checkpoint: checkpointSchema.optional(),
  checkpoint_id: z.string().optional(),
  interrupt_before: interruptNodes.optional(),
  interrupt_after: interruptNodes.optional(),
  stream_mode: z.union([z.enum(runStreamModes), z.array(z.enum(runStreamModes))]).optional(),
  stream_subgraphs: z.boolean().optional(),
  stream_resumable: z.boolean().optional(),
  on_disconnect: z.enum(onDisconnect).optional(),
  on_completion: z.enum(onCompletion).optional(),
  if_not_exists: z.enum(ifNotExists).optional(),
  multitask_strategy: z.enum(multitaskStrategies).optional(),
  after_seconds: z.number().min(0).optional(),
  durability: z.enum(durabilities).optional(),
  checkpoint_during: z.boolean().optional(),
  feedback_keys: z.array(z.string()).optional(),
});
export type RunCreate = z.infer<typeof runCreate>;

export const runFields = [...runSchema.keyof().options, 'cancel_reason'] as const;

/** One error of a chain: its class, and for a service's error the status and the requested delay (ms). */
const errorCause = z.looseObject({
  error: z.string(),
  status: z.int().optional(),
  retry_after_ms: z.number().min(0).optional(),
});
export type ErrorCause = z.infer<typeof errorCause>;

/** The error of a failed run: its type and message, and its causes if the server reports them (an addition of ours). */
export const runError = z.looseObject({
  error: z.string(),
  message: z.string(),
  causes: z.array(errorCause).optional().catch(undefined),
});
export type RunError = Pick<z.infer<typeof runError>, 'error' | 'message' | 'causes'>;

/** Reads an error of any shape: an unknown shape must not hide that the run failed. */
export function toRunError(value: unknown): RunError {
  const read = runError.safeParse(value);
  if (read.success) {
    const { error, message, causes } = read.data;
    return causes ? { error, message, causes } : { error, message };
  }
  const { error, message } = isObject(value) ? value : { error: undefined, message: value };
  return {
    error: typeof error === 'string' ? error : 'Error',
    message: typeof message === 'string' ? message : (JSON.stringify(value) ?? ''),
  };
}

/** The key of the error of a failed run in the response of `/wait` and `/join`, with status 200. */
export const errorKey = '__error__';

export const failedRunBody = z.looseObject({ [errorKey]: runError });

/** The result of a run: its state, or its error. */
export type RunResult = { kind: 'values'; values: unknown } | { kind: 'error'; error: RunError };

/** What to do with a cancelled run: keep its work, or undo it and delete the run. */
export const cancelActions = ['interrupt', 'rollback'] as const;
export type CancelAction = (typeof cancelActions)[number];

/** How to cancel a run: with `wait` the response comes at the end of the run. */
export interface CancelRequest {
  wait?: boolean;
  action?: CancelAction;
}

/** The statuses by which `POST /runs/cancel` selects runs; `all` are the unfinished ones. */
const cancelStatuses = ['pending', 'running', 'all'] as const;

/** Body of `POST /runs/cancel`: runs by status, or by thread and ids. */
export const runsCancel = z.strictObject({
  status: z.enum(cancelStatuses).optional(),
  thread_id: z.uuid().optional(),
  run_ids: z.array(z.uuid()).optional(),
});
export type RunsCancel = z.infer<typeof runsCancel>;

/** Body of `POST /runs/batch`: one stateless run an item. */
export const runBatchRequest = z.array(runCreate).min(1);

/** One update within a step: as if the node `as_node` had returned these values, or this command. */
export const superstepUpdate = z.strictObject({
  values: stateValues.nullish(),
  command: commandSchema.nullable().optional(),
  as_node: z.string().min(1),
});

/** One step of a new thread's history (`POST /threads`): the updates of parallel nodes. */
export const superstepSchema = z.strictObject({ updates: z.array(superstepUpdate).min(1) });
export type Superstep = z.infer<typeof superstepSchema>;
