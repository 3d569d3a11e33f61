import * as z from 'zod';
import { RunConfigRequest } from './config.ts';
import { freeObject, openWord } from './open-word.ts';
import { STREAM_MODES } from './stream-event.ts';
import { Checkpoint } from './thread.ts';
import { MAX_WEBHOOK_URL_LENGTH } from './webhook.ts';

/**
 * Run statuses: the specification names `success` and `error` as final ones (section "States and transitions"); the
 * others are those of the public servers.
 */
export const RUN_STATUSES = ['pending', 'running', 'success', 'error', 'timeout', 'interrupted'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** The final statuses of a run. */
export const FINAL_RUN_STATUSES = [
  'success',
  'error',
  'timeout',
  'interrupted',
] as const satisfies readonly RunStatus[];
export type FinalRunStatus = (typeof FINAL_RUN_STATUSES)[number];

/** What to do with a run on a busy thread: reject it, queue it, or end the other one and keep or undo its work. */
export const MULTITASK_STRATEGIES = ['reject', 'enqueue', 'interrupt', 'rollback'] as const;
export type MultitaskStrategy = (typeof MULTITASK_STRATEGIES)[number];

/** What happens to a run when its stream's client disconnects. */
const ON_DISCONNECT = ['cancel', 'continue'] as const;
/** What happens to the thread of a stateless run. */
export const ON_COMPLETION = ['delete', 'keep'] as const;
/** What to do if the thread of a run does not exist. */
const IF_NOT_EXISTS = ['create', 'reject'] as const;
/** When a run stores its state: before the next step, in parallel, or at its end. */
export const DURABILITIES = ['sync', 'async', 'exit'] as const;

/** A run as a server answers it; section "Webhook notification" lists the fields, and leaves the rest open. */
export const Run = z.looseObject({
  run_id: z.string(),
  thread_id: z.string(),
  assistant_id: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  status: openWord(RUN_STATUSES),
  metadata: freeObject.nullish(),
  kwargs: freeObject.nullish(),
  multitask_strategy: openWord(MULTITASK_STRATEGIES).nullish(),
});
export type Run = z.infer<typeof Run>;

/** A message to one node: what a command may go to. */
export const Send = z.object({ node: z.string(), input: z.unknown() });
/** The same in the engine's own form. */
const EngineSend = z.object({ node: z.string(), args: z.unknown() });

/**
 * What a run does instead of taking an input: update the state, resume an interrupted node, go to a node. A program with a
 * remote graph of the server sends the engine's own form, with a name (`lg_name`) or `graph`, which are ignored.
 */
export const Command = z.strictObject(
  {
    update: z
      .union([freeObject, z.array(z.unknown())])
      .nullable()
      .optional(),
    resume: z.unknown().optional(),
    goto: z
      .union([Send, z.array(Send), EngineSend, z.array(EngineSend), z.string(), z.array(z.string())])
      .nullable()
      .optional(),
    lg_name: z.unknown().optional(),
    graph: z.unknown().optional(),
  },
  {
    error: ({ code }) =>
      code === 'unrecognized_keys' ? 'Unknown: a command takes "resume", "update" and "goto"' : undefined,
  },
);
export type Command = z.infer<typeof Command>;

const interruptNodes = z.union([z.literal('*'), z.array(z.string())]);

/**
 * Body of every endpoint that starts a run, on a thread or stateless (section "Endpoints"): `assistant_id` is a graph id
 * or an assistant's uuid, `input` is the graph's, `stream_mode` one or more modes, `webhook` a URL to call when the run
 * completes. `after_seconds` delays the start. The other fields are the public servers'.
 */
export const RunCreate = z.strictObject({
  assistant_id: z.string().min(1),
  input: z.unknown().optional(),
  command: Command.nullable().optional(),
  config: RunConfigRequest.optional(),
  context: freeObject.optional(),
  metadata: freeObject.optional(),
  webhook: z.string().min(1).max(MAX_WEBHOOK_URL_LENGTH).optional(),
  checkpoint: Checkpoint.optional(),
  checkpoint_id: z.string().optional(),
  interrupt_before: interruptNodes.optional(),
  interrupt_after: interruptNodes.optional(),
  stream_mode: z.union([z.enum(STREAM_MODES), z.array(z.enum(STREAM_MODES))]).optional(),
  stream_subgraphs: z.boolean().optional(),
  stream_resumable: z.boolean().optional(),
  on_disconnect: z.enum(ON_DISCONNECT).optional(),
  on_completion: z.enum(ON_COMPLETION).optional(),
  if_not_exists: z.enum(IF_NOT_EXISTS).optional(),
  multitask_strategy: z.enum(MULTITASK_STRATEGIES).optional(),
  after_seconds: z.number().min(0).optional(),
  durability: z.enum(DURABILITIES).optional(),
  checkpoint_during: z.boolean().optional(),
  feedback_keys: z.array(z.string()).optional(),
});
export type RunCreate = z.infer<typeof RunCreate>;

/** The fields a list of runs may select. */
export const RUN_FIELDS = [
  'run_id',
  'thread_id',
  'assistant_id',
  'created_at',
  'updated_at',
  'status',
  'metadata',
  'kwargs',
  'multitask_strategy',
] as const satisfies readonly (keyof Run)[];

/** The error of a failed run: its type and message. */
export const RunError = z.looseObject({ error: z.string(), message: z.string() });
export type RunError = z.infer<typeof RunError>;

/** The key of the error of a failed run in the response of `/wait` and `/join`, with status 200. */
export const ERROR_KEY = '__error__';

/** The body of `/wait` and `/join` if the run failed. */
export const FailedRunBody = z.looseObject({ [ERROR_KEY]: RunError });

/** The result of a run: its state, or its error. */
export type RunResult =
  { kind: 'values'; values: unknown } | { kind: 'error'; error: { error: string; message: string } };

/** What to do with a cancelled run: keep its work, or undo it and delete the run. */
export const CANCEL_ACTIONS = ['interrupt', 'rollback'] as const;
export type CancelAction = (typeof CANCEL_ACTIONS)[number];

/** How to cancel (`POST /threads/{thread_id}/runs/{run_id}/cancel`): with `wait` the response comes at the end of the run. */
export interface CancelRequest {
  wait?: boolean;
  action?: CancelAction;
}

/** Which runs `POST /runs/cancel` ends by status: `all` are the unfinished ones. */
const CANCEL_STATUSES = ['pending', 'running', 'all'] as const;

/** Body of `POST /runs/cancel`: runs by status, or by thread and ids. */
export const RunsCancel = z.strictObject({
  status: z.enum(CANCEL_STATUSES).optional(),
  thread_id: z.uuid().optional(),
  run_ids: z.array(z.uuid()).optional(),
});
export type RunsCancel = z.infer<typeof RunsCancel>;

/** Body of `POST /runs/batch`: one stateless run an item. */
export const RunBatch = z.array(RunCreate).min(1);
export type RunBatch = z.infer<typeof RunBatch>;
