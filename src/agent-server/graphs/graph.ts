/** The options of one run, in the engine's spelling; what else the engine knows is left at its default. */
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
  signal: AbortSignal;
  runId: string;
}

/** A state of a thread, in the engine's spelling. */
export interface Snapshot {
  values: unknown;
  next: string[];
  tasks: readonly unknown[];
  config: { configurable?: Record<string, unknown> };
  parentConfig?: { configurable?: Record<string, unknown> } | undefined;
  metadata?: unknown;
  createdAt?: string | undefined;
}

/**
 * A compiled graph, as far as the server needs it. The engine is the agent's own, of a version that nobody here
 * chose: it is known by what it can do and not by its class.
 */
export interface Graph {
  checkpointer?: unknown;
  store?: unknown;
  /** The nodes by their names, the engine's own among them; absent in a graph that is elsewhere. */
  nodes?: unknown;
  withConfig(config: object): Graph;
  stream(input: unknown, options: EngineOptions): Promise<AsyncIterable<unknown>>;
  streamEvents(input: unknown, options: EngineOptions & { version: 'v2' }): AsyncIterable<unknown>;
  getState(config: { configurable: Record<string, unknown> }, options?: { subgraphs: boolean }): Promise<Snapshot>;
  /** Throws what the context schema's library throws; absent in engines that know no context. */
  _validateContext?(context: unknown): Promise<unknown>;
  /** The graph as it can be drawn; `xray` opens the graphs inside, a number those down to that depth. */
  getGraphAsync?(config: DrawConfig): Promise<Drawable>;
  /** The same of engines that know no other way. */
  getGraph?(config: DrawConfig): Drawable;
  /** The graphs inside, each with its namespace. */
  getSubgraphsAsync?(namespace: undefined, recurse: boolean): AsyncIterable<[string, Graph]>;
  getSubgraphs?(namespace: undefined, recurse: boolean): Iterable<[string, Graph]>;
  /** What the graph was compiled from; absent where it was made another way. */
  builder?: unknown;
}

/** What a drawing is made with. */
export interface DrawConfig {
  configurable: Record<string, unknown>;
  xray: boolean | number;
}

/** A graph that can be drawn. */
export interface Drawable {
  toJSON(): object;
}

/** A graph that is not compiled yet. */
export interface GraphBuilder {
  compile(): unknown;
}

const has = (value: unknown, ...methods: string[]): boolean =>
  typeof value === 'object' &&
  value !== null &&
  methods.every((name) => typeof Reflect.get(value, name) === 'function');

export const isGraph = (value: unknown): value is Graph =>
  has(value, 'withConfig', 'stream', 'streamEvents', 'getState');

export const isGraphBuilder = (value: unknown): value is GraphBuilder => has(value, 'compile', 'addNode');
