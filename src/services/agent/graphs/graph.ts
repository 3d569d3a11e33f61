import * as z from 'zod';
import { freeObject } from '../../../contract/agent/open-word.ts';
import { hasMethods } from '../members.ts';
import { messageOf } from '../../../kit/errors.ts';

/** The schema of a graph's context: an object of the agent's own schema library, of any version. */
export interface ContextSchema {
  /** The known keys, each with its schema. */
  shape: Readonly<Record<string, unknown>>;
  /** What it does with unknown keys: ignores them, rejects them, or accepts them. */
  others: 'passed over' | 'refused' | 'taken';
  /** True if its engine takes nothing else, such as `configurable`, for a context that is missing: that one is empty. */
  isApart?: boolean;
}

/** The options of one run, in the engine's names; the engine's defaults apply to the rest. */
export interface EngineOptions {
  streamMode: string[];
  subgraphs: boolean;
  configurable: Record<string, unknown>;
  metadata: Record<string, unknown>;
  context?: Record<string, unknown>;
  tags?: string[];
  recursionLimit?: number;
  interruptBefore?: '*' | string[];
  interruptAfter?: '*' | string[];
  durability?: 'sync' | 'async' | 'exit';
  /** Handlers of what happens in the run. */
  callbacks?: object[];
  signal: AbortSignal;
  runId: string;
}

/** A state of a thread, in the engine's names. */
export interface Snapshot {
  values: unknown;
  next: string[];
  tasks: readonly unknown[];
  config: { configurable?: Record<string, unknown> };
  parentConfig?: { configurable?: Record<string, unknown> } | undefined;
  metadata?: unknown;
  createdAt?: string | undefined;
}

/** The part of a compiled graph that the server uses, recognized by its methods: agents choose the engine's version. */
export interface Graph {
  checkpointer?: unknown;
  store?: unknown;
  /** The options that it was made with. */
  config?: unknown;
  /** The nodes by name, including the engine's own; absent in a remote graph. */
  nodes?: unknown;
  /** Whether the mode `messages` has the message so far with each chunk, and `messages-tuple` the chunks alone. */
  readonly growsMessages?: true;
  withConfig(config: object): Graph;
  stream(input: unknown, options: EngineOptions): Promise<AsyncIterable<unknown>>;
  /** Version `v3` resolves to the events of the thread-stream protocol; older engines throw for it. */
  streamEvents(
    input: unknown,
    options: Omit<EngineOptions, 'streamMode' | 'subgraphs'> & Partial<EngineOptions> & { version: 'v2' | 'v3' },
  ): AsyncIterable<unknown> | Promise<AsyncIterable<unknown>>;
  getState(config: { configurable: Record<string, unknown> }, options?: { subgraphs: boolean }): Promise<Snapshot>;
  /** The schema of its contexts, of a graph that is not in this process. */
  readonly contextSchema?: ContextSchema | undefined;
  /** Throws the schema library's error; absent in engines without contexts. */
  _validateContext?(context: unknown): Promise<unknown>;
  /** The graph's drawing; `xray` expands subgraphs, a number up to that depth. */
  getGraphAsync?(config: DrawConfig): Promise<Drawable>;
  /** The same in engines without the asynchronous form. */
  getGraph?(config: DrawConfig): Drawable;
  /** The subgraphs, each with its namespace. */
  getSubgraphsAsync?(namespace: string | undefined, recurse: boolean): AsyncIterable<[string, GraphInside]>;
  getSubgraphs?(namespace?: string, recurse?: boolean): Iterable<[string, GraphInside]>;
  /** Its JSON schemas, of a graph that is not in this process: it has no types here. */
  ownSchemas?(): Promise<GraphSchemaSet>;
  /** The builder that the graph was compiled from; absent if created otherwise. */
  builder?: unknown;
}

/** What is read of a graph within another one. */
export type GraphInside = Pick<Graph, 'builder' | 'ownSchemas' | 'contextSchema' | 'getState' | 'getSubgraphs'>;

/** The JSON schemas of a graph; unknown ones are omitted. */
export const graphSchemaSet = z.object({
  input_schema: freeObject.optional(),
  output_schema: freeObject.optional(),
  /** Always present; `{}`, which accepts everything, if unknown. */
  state_schema: freeObject.default({}),
  /** The engine has one schema for both: without a context, a run's configurable values are validated by it. */
  config_schema: freeObject.optional(),
  context_schema: freeObject.optional(),
});
export type GraphSchemaSet = z.output<typeof graphSchemaSet>;

export interface DrawConfig {
  configurable: Record<string, unknown>;
  xray: boolean | number;
}

export interface Drawable {
  toJSON(): object;
}

export const isGraph = (value: unknown): value is Graph =>
  hasMethods(value, 'withConfig', 'stream', 'streamEvents', 'getState');

/** Whether a graph is not compiled yet. */
export const isGraphBuilder = (value: unknown): value is { compile(): unknown } =>
  hasMethods(value, 'compile', 'addNode');

/** A graph factory of the agent failed for one run; `cause` is what it threw. Fails the run, not the server. */
export class GraphFactoryError extends Error {
  constructor(graphId: string, cause: unknown) {
    super(`The factory of graph "${graphId}" failed: ${messageOf(cause)}`, { cause });
    this.name = 'GraphFactoryError';
  }
}

/** What a graph is made for, as the public server tells it to a factory. */
export type ServerRuntime =
  | { accessContext: 'threads.create_run'; executionRuntime: { context: Record<string, unknown> | undefined } }
  | { accessContext: 'assistants.read' | 'threads.read' | 'threads.update'; executionRuntime: null };

/** The graph itself is read, not a thread. */
export const readsAssistant: ServerRuntime = { accessContext: 'assistants.read', executionRuntime: null };
export const readsThread: ServerRuntime = { accessContext: 'threads.read', executionRuntime: null };
export const updatesThread: ServerRuntime = { accessContext: 'threads.update', executionRuntime: null };
/** A run with this context is executed, or about to be. */
export const createsRun = (context: Record<string, unknown> | undefined): ServerRuntime => ({
  accessContext: 'threads.create_run',
  executionRuntime: { context },
});
