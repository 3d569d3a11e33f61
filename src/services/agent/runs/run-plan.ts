import * as z from 'zod';
import { freeObject, type FreeObject } from '../../../contract/agent/open-word.ts';
import { isObject } from '../../../kit/json-object.ts';
import { commandSchema, durabilities, type MultitaskStrategy, type RunCreate } from '../../../contract/agent/run.ts';
import { runStreamModes, type StreamMode } from '../../../contract/agent/stream-event.ts';
import { checkpointSchema } from '../../../contract/agent/thread.ts';
import type { StoredAssistant } from '../assistants/assistant.ts';
import { withoutClaims } from '../auth/caller.ts';

const interruptNodes = z.union([z.literal('*'), z.array(z.string())]);

/**
 * The parameters of a run, its `kwargs` (section "Webhook notification"): the input, the merged configuration of
 * assistant and run, and the other parameters. Another process must be able to continue from them.
 */
export const runKwargs = z.looseObject({
  input: z.unknown().optional(),
  command: commandSchema.nullish(),
  config: z.looseObject({
    tags: z.array(z.string()).optional(),
    recursion_limit: z.int().optional(),
    configurable: freeObject,
  }),
  /** Absent if neither the assistant nor the run has one. */
  context: freeObject.optional(),
  checkpoint: checkpointSchema.optional(),
  stream_mode: z.array(z.enum(runStreamModes)),
  stream_subgraphs: z.boolean(),
  /** Absent in runs of earlier versions. */
  resumable: z.boolean().optional(),
  interrupt_before: interruptNodes.optional(),
  interrupt_after: interruptNodes.optional(),
  durability: z.enum(durabilities).optional(),
  /** Its events are those of the thread-stream protocol. Absent in other runs. */
  thread_stream: z.literal(true).optional(),
  /** May hold a token: it is never logged. */
  webhook: z.string().optional(),
});
export type RunKwargs = z.infer<typeof runKwargs>;

/** How the caller follows the run: not at all, by a stream, or by waiting. */
export type RunMode = 'background' | 'stream' | 'wait';

export interface RunPlan {
  runId: string;
  threadId: string;
  assistantId: string;
  graphId: string;
  metadata: FreeObject;
  /** The metadata of a thread that is created for the run: the request's own. */
  threadMetadata: FreeObject;
  kwargs: RunKwargs;
  multitaskStrategy: MultitaskStrategy;
  /** The URL to notify at the end; may hold a token. */
  webhook: string | undefined;
  /** A stateless run whose thread is not kept. */
  temporary: boolean;
  /** Continues after its caller disconnects. */
  detached: boolean;
  /** Its events are stored, so that a stream can resume. */
  resumable: boolean;
  delayMs: number;
  /** Milliseconds since the epoch. */
  acceptedAt: number;
  /** What the request has that is ignored, for its response. */
  warning?: string;
}

export interface RunOrder {
  runId: string;
  /** The thread's id, or a generated one for a stateless run. */
  threadId: string;
  stateless: boolean;
  mode: RunMode;
  /** Whether it emits the events of the thread-stream protocol. */
  forThreadStream?: boolean | undefined;
  /** Milliseconds since the epoch. */
  now: number;
  assistant: Pick<StoredAssistant, 'assistant_id' | 'graph_id' | 'context' | 'config' | 'metadata'>;
}

/** The default for a busy thread. The specification leaves it open; this is the public description's. */
export const defaultStrategy = 'enqueue' satisfies MultitaskStrategy;
const defaultModes: readonly StreamMode[] = ['values'];
/** Keys of `configurable` that belong to the engine or the server: a request can't set them. */
const reserved = /^(?:__|thread_id$|run_id$|graph_id$|assistant_id$|checkpoint_(?:id|ns|map)$)/;

/** Merges a request with its assistant: the run's values win, key by key. */
export function planRun(
  request: RunCreate,
  { runId, threadId, stateless, mode, forThreadStream, now, assistant }: RunOrder,
): RunPlan {
  const { config } = assistant;
  const tags = [...strings(config['tags']), ...(request.config?.tags ?? [])];
  const recursionLimit = request.config?.recursion_limit ?? config['recursion_limit'];
  const hasNoContext = request.context === undefined && Object.keys(assistant.context).length === 0;
  const ids = { assistant_id: assistant.assistant_id, graph_id: assistant.graph_id };
  return {
    runId,
    threadId,
    assistantId: assistant.assistant_id,
    graphId: assistant.graph_id,
    metadata: { ...assistant.metadata, ...objectOf(request.config?.['metadata']), ...request.metadata, ...ids },
    threadMetadata: request.metadata ?? {},
    kwargs: {
      input: request.input,
      command: request.command,
      config: {
        tags: tags.length > 0 ? tags : undefined,
        recursion_limit: typeof recursionLimit === 'number' ? recursionLimit : undefined,
        configurable: {
          ...withoutClaims(allowed(config['configurable'])),
          ...allowed(request.config?.configurable),
          ...ids,
          thread_id: threadId,
          run_id: runId,
        },
      },
      context: hasNoContext ? undefined : { ...assistant.context, ...request.context },
      checkpoint: request.checkpoint ?? (request.checkpoint_id ? { checkpoint_id: request.checkpoint_id } : undefined),
      stream_mode: modesOf(request.stream_mode),
      stream_subgraphs: request.stream_subgraphs ?? false,
      resumable: request.stream_resumable ?? false,
      interrupt_before: request.interrupt_before,
      interrupt_after: request.interrupt_after,
      durability: request.durability ?? (request.checkpoint_during === false ? 'exit' : undefined),
      ...(forThreadStream ? { thread_stream: true as const } : {}),
      webhook: request.webhook,
    },
    multitaskStrategy: request.multitask_strategy ?? defaultStrategy,
    webhook: request.webhook,
    temporary: stateless && request.on_completion !== 'keep',
    detached: mode === 'background' || request.on_disconnect === 'continue',
    resumable: request.stream_resumable ?? false,
    delayMs: (request.after_seconds ?? 0) * 1000,
    acceptedAt: now,
  };
}

/** The checkpoint of the whole graph at which a run starts, if any. A subgraph's names it in its map. */
export function checkpointOfAll(checkpoint: RunKwargs['checkpoint']): string | undefined {
  const ofAll = checkpoint?.checkpoint_map?.[''];
  return typeof ofAll === 'string' ? ofAll : (checkpoint?.checkpoint_id ?? undefined);
}

function modesOf(requested: RunCreate['stream_mode']): StreamMode[] {
  const modes = typeof requested === 'string' ? [requested] : (requested ?? defaultModes);
  return [...new Set(modes.length > 0 ? modes : defaultModes)];
}

function allowed(configurable: unknown): FreeObject {
  return Object.fromEntries(Object.entries(objectOf(configurable)).filter(([key]) => !reserved.test(key)));
}

const objectOf = (value: unknown): FreeObject => (isObject(value) ? value : {});

const strings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
