import * as z from 'zod';
import { freeObject } from './open-word.ts';

/** The channels of the thread-stream protocol (`@langchain/protocol`); `custom:NAME` selects one custom channel. */
const channels = [
  'values',
  'updates',
  'messages',
  'tools',
  'lifecycle',
  'input',
  'checkpoints',
  'tasks',
  'custom',
] as const;

const channel = z.string().refine((name) => channels.some((each) => each === name) || name.startsWith('custom:'), {
  error: `must be ${channels.join(', ')} or custom:NAME`,
});

/** Which events of a thread a stream has. */
export const threadEventFilter = z.object({
  channels: z.array(channel).min(1),
  /** The subgraphs, by the start of their paths; all by default. */
  namespaces: z.array(z.array(z.string())).optional(),
  /** The maximum number of levels below the namespaces. */
  depth: z.int().min(0).optional(),
  /** The `seq` of the last event that the client has. */
  since: z.int().min(0).optional(),
});
export type ThreadEventFilter = z.infer<typeof threadEventFilter>;

/** The namespace, time (ms since the epoch) and data of an event. */
export const threadEventParams = z.looseObject({
  namespace: z.array(z.string()),
  timestamp: z.number(),
  data: z.unknown(),
});
export type ThreadEventParams = z.infer<typeof threadEventParams>;

/** The state of a run, or of a subgraph in it. */
export const lifecycleStatuses = ['started', 'running', 'completed', 'failed', 'interrupted'] as const;
export type LifecycleStatus = (typeof lifecycleStatuses)[number];

export const lifecycleData = z.looseObject({ event: z.enum(lifecycleStatuses), graph_name: z.string().optional() });

/** A request to the server; `id` is chosen by the client and returned with the response. */
export const threadCommand = z.object({ id: z.int().min(0), method: z.string(), params: freeObject.optional() });
export type ThreadCommand = z.infer<typeof threadCommand>;

/** Why a command was refused. */
export type CommandError =
  | 'invalid_argument'
  | 'unknown_command'
  | 'no_such_run'
  | 'no_such_interrupt'
  | 'no_such_subscription'
  | 'no_such_checkpoint'
  | 'permission_denied'
  | 'not_supported'
  | 'unknown_error';

/** The response to a command. */
export const commandResponse = z.looseObject({
  type: z.enum(['success', 'error']),
  id: z.int().nullable(),
  result: z.unknown().optional(),
  error: z.string().optional(),
  message: z.string().optional(),
  meta: freeObject.optional(),
});
export type CommandResponse = z.infer<typeof commandResponse>;

export const runStartParams = z.object({
  assistant_id: z.string().min(1),
  input: z.unknown().optional(),
  config: freeObject.nullish(),
  metadata: freeObject.nullish(),
  multitaskStrategy: z.string().nullish(),
});

const respondOptions = {
  config: freeObject.nullish(),
  metadata: freeObject.nullish(),
  update: z.unknown().optional(),
  goto: z.unknown().optional(),
};
const oneResponse = z.object({ interrupt_id: z.string(), response: z.unknown() });

/** The responses to interrupts: to one, or to several of the same state. */
export const inputRespondParams = z
  .union([
    z.object({ ...respondOptions, responses: z.array(oneResponse).min(1) }),
    z.object({ ...respondOptions, ...oneResponse.shape }),
  ])
  .transform((params) => ({
    ...params,
    responses:
      'responses' in params ? params.responses : [{ interrupt_id: params.interrupt_id, response: params.response }],
  }));

export const stateGetParams = z.object({ keys: z.array(z.string()).optional() });
export const getTreeParams = z.object({ run_id: z.string().optional() });
export const unsubscribeParams = z.object({ subscription_id: z.string() });

/** Which states of a thread, or of the subgraph with this path; `before` is the id of a newer one. */
export const listCheckpointsParams = z.object({
  namespace: z.array(z.string()).optional(),
  limit: z.int().min(1).max(1000).optional(),
  before: z.string().optional(),
});

/** A run from an earlier state, with an input and a configuration of its own. */
export const stateForkParams = z.object({
  checkpoint_id: z.string().min(1),
  input: z.unknown().optional(),
  config: freeObject.nullish(),
});
