import { unlessAborted } from '../../../../kit/clock.ts';
import { AsyncLocalStorage } from 'node:async_hooks';
import * as z from 'zod';
import {
  graphSchemaSet,
  type ContextSchema,
  type Drawable,
  type DrawConfig,
  type EngineOptions,
  type GraphInside,
  type GraphSchemaSet,
  type Snapshot,
  type ServerRuntime,
} from '../graph.ts';
import type { EngineUpdate, HistoryOptions, StateConfig, StatefulGraph } from '../stateful.ts';
import { overriding } from '../../../../kit/overriding.ts';
import { Refusal } from '../../refusal.ts';
import type { GraphStore } from '../../store/graph-store.ts';
import { answerAboutCheckpoints, type UsedCheckpoints } from './checkpoint-requests.ts';
import { jsonOf, WorkerGone, type Answer, type Asked } from './connection.ts';
import { WorkerError } from './worker-error.ts';
import { ClientRequests } from './client-requests.ts';
import type { GraphHost, RunWorker } from './run-workers.ts';
import { chunkOf, PythonCommand, runRequest, type EventOptions, takeStep } from './python-run.ts';
import { answerAboutStore } from './store-requests.ts';

/** Keeps the checkpoints of stateless runs in the worker. */
export class WorkerMemory {
  readonly #host: Pick<GraphHost, 'running'>;

  constructor(host: Pick<GraphHost, 'running'>) {
    this.#host = host;
  }

  async deleteThread(threadId: string): Promise<void> {
    try {
      await this.#host.running?.ask('forget', { thread_id: threadId });
    } catch (error) {
      // With the worker its memory has ended.
      if (!(error instanceof WorkerGone)) throw error;
    }
  }
}

/** What a graph is made for, for a factory. */
export interface MadeFor {
  configurable: Record<string, unknown>;
  runtime: ServerRuntime;
}

/** What is known of a graph before it is used. */
export interface KnownGraph {
  nodes: readonly string[];
  contextSchema: ContextSchema | undefined;
  /** What the build kept; undefined without one, and where a factory may make other ones. */
  schemas?: GraphSchemaSet | undefined;
}

const contextIssues = z.array(
  z.object({ path: z.array(z.union([z.string(), z.number()])), message: z.string(), code: z.string() }),
);
const stateConfig = z.object({ configurable: z.record(z.string(), z.unknown()) });
const shownState = z.object({
  values: z.unknown(),
  next: z.array(z.string()),
  tasks: z.array(z.unknown()),
  config: stateConfig,
  parentConfig: stateConfig.nullish(),
  metadata: z.unknown(),
  createdAt: z.string().nullish(),
});

/** A graph in a Python worker, as the server uses one in its own process. */
export class PythonGraph implements StatefulGraph {
  checkpointer?: UsedCheckpoints | WorkerMemory;
  store?: Pick<GraphStore, 'batch'>;
  /** By name; the values mean nothing. */
  readonly nodes: Record<string, true>;
  readonly growsMessages = true;
  readonly contextSchema: ContextSchema | undefined;
  readonly #graphId: string;
  readonly #host: GraphHost;
  readonly #known: KnownGraph;
  /** Absent for a graph that no factory makes. */
  readonly #madeFor: MadeFor | undefined;

  constructor(graphId: string, host: GraphHost, known: KnownGraph, madeFor?: MadeFor) {
    this.#graphId = graphId;
    this.#host = host;
    this.#known = known;
    this.nodes = Object.fromEntries(known.nodes.map((name) => [name, true]));
    this.contextSchema = known.contextSchema;
    this.#madeFor = madeFor;
  }

  withConfig(): PythonGraph {
    return new PythonGraph(this.#graphId, this.#host, this.#known, this.#madeFor);
  }

  /** @throws the values that its engine would refuse, as a schema library says so. */
  async _validateContext(context: unknown): Promise<unknown> {
    if (this.contextSchema === undefined) return context;
    const { value } = await this.#ask('validate_context', {}, { context });
    const issues = contextIssues.parse(value);
    if (issues.length > 0) throw Object.assign(new Error('The context is invalid.'), { issues });
    return context;
  }

  async stream(input: unknown, options: EngineOptions): Promise<AsyncIterable<unknown>> {
    return this.#chunks('run', input, options);
  }

  async streamEvents(input: unknown, { version, ...options }: EventOptions): Promise<AsyncIterable<unknown>> {
    return version === 'v3' ? this.#threadEvents(input, options) : this.#chunks('events', input, options);
  }

  async getState({ configurable }: StateConfig, options?: { subgraphs: boolean }): Promise<Snapshot> {
    return snapshotOf(await this.#ask('state', configurable, { subgraphs: options?.subgraphs ?? false }));
  }

  async *getStateHistory(
    { configurable }: StateConfig,
    { limit, before, filter }: HistoryOptions,
  ): AsyncGenerator<Snapshot> {
    for await (const each of this.#stream('history', { configurable }, { limit, before, filter }))
      yield snapshotOf(each);
  }

  async bulkUpdateState({ configurable }: StateConfig, steps: { updates: EngineUpdate[] }[]): Promise<StateConfig> {
    const shown = steps.map(({ updates }) => ({
      updates: updates.map(({ values, asNode }) => ({
        ...(values instanceof PythonCommand ? { command: values.command } : { values }),
        as_node: asNode ?? null,
      })),
    }));
    return stateConfig.parse(jsonOf(await this.#ask('update', configurable, { steps: shown })));
  }

  /** Its JSON schemas, which its types have at run time. */
  async ownSchemas(): Promise<GraphSchemaSet> {
    return this.#known.schemas ?? graphSchemaSet.parse(jsonOf(await this.#ask('schemas', {}, {})));
  }

  async *getSubgraphsAsync(namespace: string | undefined, recurse: boolean): AsyncGenerator<[string, GraphInside]> {
    const found = jsonOf(await this.#ask('subgraphs', {}, { namespace, recurse }));
    for (const [name, schemas] of Object.entries(z.record(z.string(), graphSchemaSet).parse(found)))
      yield [name, subgraphOf(this, schemas)];
  }

  async getGraphAsync({ configurable, xray }: DrawConfig): Promise<Drawable> {
    const drawn = z.looseObject({}).parse(jsonOf(await this.#ask('draw', configurable, { xray })));
    return { toJSON: () => drawn };
  }

  async *#chunks(op: 'run' | 'events', input: unknown, options: Omit<EventOptions, 'version'>) {
    const { config, args } = runRequest(input, options);
    for await (const answer of this.#stream(op, config, args, options)) yield chunkOf(answer, options, op);
  }

  /** @throws what the worker says if its engine has no such events, before the first one. */
  async #threadEvents(input: unknown, options: Omit<EventOptions, 'version'>): Promise<AsyncIterable<unknown>> {
    const { config, args } = runRequest(input, options);
    const events = this.#stream('thread_events', config, args, options);
    const first = await events.next();
    return (async function* () {
      if (first.done) return;
      yield jsonOf(first.value);
      for await (const each of events) yield jsonOf(each);
    })();
  }

  async #ask(op: string, configurable: Record<string, unknown>, args: object): Promise<Answer> {
    const answers = this.#stream(op, { configurable }, args);
    for (;;) {
      const { done, value } = await answers.next();
      if (done) return value;
    }
  }

  async *#stream(
    op: string,
    { configurable, ...config }: { configurable: Record<string, unknown>; run_id?: string | undefined },
    args: object,
    { signal, callbacks = [] }: Pick<Partial<EngineOptions>, 'signal' | 'callbacks'> = {},
  ): AsyncGenerator<Answer, Answer, void> {
    const { checkpointer, store } = this;
    const inMemory = checkpointer instanceof WorkerMemory;
    // What the worker asks belongs to the run that asked the worker, whose queries go on while the database is away.
    const inRun = AsyncLocalStorage.snapshot();
    const clientRequests = new ClientRequests(this.#host.fetch, { isRun: true });
    let failure: unknown;
    const answer = async (about: Asked): Promise<Answer> => {
      if (about.op.startsWith('step.')) return takeStep(about, callbacks);
      if (about.op.startsWith('client.')) return clientRequests.answer(about);
      try {
        return await inRun(answerFrom, about, inMemory ? undefined : checkpointer, store);
      } catch (error) {
        failure = error;
        throw error;
      }
    };
    const { runtime, configurable: made } = this.#madeFor ?? {};
    const asked = {
      ...args,
      graph_id: this.#graphId,
      config: { ...config, configurable: { ...made, ...configurable } },
      in_memory: inMemory,
      runtime: runtime && { access: runtime.accessContext, context: runtime.executionRuntime?.context ?? null },
    };
    let worker: RunWorker | undefined;
    let ended: unknown;
    try {
      worker = await this.#workerFor(config.run_id, signal);
      const begins = inMemory || !beginsAtState.has(op) ? undefined : await inRun(stateFor, asked.config, checkpointer);
      const { state, attachments } = begins ?? {};
      return yield* worker.connection.stream(op, { ...asked, state }, { answer, signal, attachments });
    } catch (error) {
      ended = error;
      if (!(error instanceof WorkerError)) throw error;
      if (error.code === 'unreadable-state') throw new UnreadableState(error.message);
      // The worker only repeats what this server told it.
      throw error.code === 'server-error' && failure !== undefined ? failure : error;
    } finally {
      clientRequests.end();
      await worker?.release(ended);
    }
  }

  async #workerFor(runId: string | undefined, signal: AbortSignal | undefined): Promise<RunWorker> {
    if (runId !== undefined && signal && this.#host.forRun) return this.#host.forRun(runId, signal);
    const connecting = this.#host.connection();
    return {
      connection: await (signal ? unlessAborted(connecting, signal) : connecting),
      release: async () => undefined,
    };
  }
}

/** A state has a value of a type that this revision lacks. */
class UnreadableState extends Refusal {
  constructor(message: string) {
    super(409, message);
    this.name = 'UnreadableState';
  }
}

/** The operations that read one state of the thread before they do anything else. */
const beginsAtState: ReadonlySet<string> = new Set(['run', 'events', 'thread_events', 'state']);

/** The state that a request begins at, which the worker would ask for; undefined without a thread. */
async function stateFor(
  { configurable: { thread_id, checkpoint_ns = '', checkpoint_id } }: StateConfig,
  checkpoints: UsedCheckpoints | undefined,
): Promise<{ state: object; attachments: readonly Uint8Array[] } | undefined> {
  if (checkpoints === undefined || thread_id === undefined) return undefined;
  const place = { thread_id, checkpoint_ns, ...(checkpoint_id === undefined ? {} : { checkpoint_id }) };
  const asked = { op: 'checkpoint.get', args: { place }, attachments: [] };
  const { value, attachments = [] } = await answerAboutCheckpoints(asked, checkpoints);
  return { state: { place, value }, attachments };
}

async function answerFrom(
  asked: Asked,
  checkpoints: UsedCheckpoints | undefined,
  store: Pick<GraphStore, 'batch'> | undefined,
): Promise<Answer> {
  if (asked.op.startsWith('checkpoint.') && checkpoints) return answerAboutCheckpoints(asked, checkpoints);
  if (asked.op.startsWith('store.') && store) return answerAboutStore(asked, store);
  throw new Error(`The worker asks for "${asked.op}", which this request has not.`);
}

/** A graph within one: it is read and written through the outer one, which finds it by its namespace. */
const subgraphOf = (outer: PythonGraph, schemas: GraphSchemaSet): GraphInside =>
  overriding<StatefulGraph, PythonGraph>(outer, {
    ownSchemas: async () => schemas,
    bulkUpdateState({ configurable }, steps) {
      // The worker finds the checkpointer by itself.
      const place = Object.entries(configurable).filter(([key]) => !key.startsWith('__pregel_'));
      return outer.bulkUpdateState({ configurable: Object.fromEntries(place) }, steps);
    },
  });

function snapshotOf(answer: Answer): Snapshot {
  const { parentConfig, createdAt, ...state } = shownState.parse(jsonOf(answer));
  return { ...state, parentConfig: parentConfig ?? undefined, createdAt: createdAt ?? undefined };
}
