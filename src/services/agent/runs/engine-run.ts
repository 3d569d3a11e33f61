import { isObject } from '../../../kit/json-object.ts';
import { namespaceSeparator, type StreamMode } from '../../../contract/agent/stream-event.ts';
import type { EngineOptions, Graph } from '../graphs/graph.ts';
import { showCheckpoint, showDebug } from './debug-payload.ts';
import { MessageStream, type Emit } from './message-stream.ts';
import { checkpointOfAll, type RunPlan } from './run-plan.ts';

/** The latest state of a run. */
export interface RunState {
  /** The values at the start of the run; undefined before they are known. */
  first?: unknown;
  /** The values of the last step, as clients see them; undefined before the first. */
  values: unknown;
  /** The whole of the same, where clients see a part of it. */
  whole?: unknown;
  /** The interrupts at which the graph stopped, possibly without any value. */
  waitsFor: unknown[] | undefined;
}

/** The mode of the whole state of a graph, before the values that show a part of it. No client can request it. */
export const wholeStateMode = 'state';

/** The key under which the engine's values have interrupts. */
export const interruptChannel = '__interrupt__';

/** The response for a waiting caller: the values with the interrupts. */
export function valuesWithInterrupts({ values, waitsFor }: RunState): unknown {
  if (waitsFor === undefined) return values ?? null;
  return { ...(typeof values === 'object' ? values : {}), [interruptChannel]: waitsFor };
}

/** The part of a run that the engine needs, with the handlers of this server. */
export type EngineRun = Pick<RunPlan, 'runId' | 'threadId' | 'metadata' | 'kwargs'> & {
  callbacks?: object[] | undefined;
};

const engineMode = (mode: StreamMode): string => (mode === 'messages-tuple' ? 'messages' : mode);

/**
 * Runs a graph and emits its events in order. Rejects with what it threw, or the signal's reason. @param reached
 * updated meanwhile, so that it is correct also if the run fails.
 */
export async function runEngine(
  graph: Graph,
  input: unknown,
  plan: EngineRun,
  { attempt, signal, emit, reached }: { attempt: number; signal: AbortSignal; emit: Emit; reached: RunState },
): Promise<void> {
  const { kwargs } = plan;
  const requestedModes = new Set(kwargs.stream_mode);
  // Values are always streamed: the last ones are the run's result.
  const engineModes = kwargs.stream_mode.filter((mode) => mode !== 'events');
  const modes = new Set(['values', ...(graph.growsMessages ? engineModes : engineModes.map(engineMode))]);
  const messages = requestedModes.has('messages') ? new MessageStream(emit) : undefined;
  const notify = streamNotifier(requestedModes, messages, emit, reached);
  const options = engineOptions(plan, [...modes], attempt, signal);
  try {
    if (!requestedModes.has('events')) {
      // The engine reports the checkpoint of each state of subgraphs only where its events are versioned.
      const versioned = options.subgraphs ? { ...options, version: 'v2' } : options;
      for await (const chunk of await graph.stream(input, versioned)) take(chunk, options.subgraphs, notify);
      return;
    }
    for await (const event of await graph.streamEvents(input, { ...options, version: 'v2' })) {
      const chunk = ownChunk(event, plan.runId);
      if (chunk !== undefined) take(chunk, options.subgraphs, notify);
      else if (!isHidden(event)) emit('events', event);
    }
  } finally {
    messages?.end();
  }
}

type Notify = (mode: string, namespace: readonly string[], payload: unknown) => void;

function streamNotifier(
  requestedModes: ReadonlySet<string>,
  messages: MessageStream | undefined,
  emit: Emit,
  reached: RunState,
): Notify {
  // Those that the engine adds to states, without the state itself.
  const besideStates = requestedModes.has('values') || requestedModes.has('messages');
  return (mode, namespace, payload) => {
    const name = (event: string) => [event, ...namespace].join(namespaceSeparator);
    const isRoot = namespace.length === 0;
    const isState = mode === 'values' && isRoot;
    if (mode === wholeStateMode) {
      reached.whole = payload;
      reached.first ??= payload;
      return;
    }
    if (isState) updateReached(reached, payload);
    if (mode === 'messages') {
      const [message, metadata]: unknown[] = Array.isArray(payload) ? payload : [];
      messages?.take(message, metadata);
      if (requestedModes.has('messages-tuple')) emit(name('messages'), payload);
      return;
    }
    if (requestedModes.has(mode)) emit(name(mode), shown(mode, payload));
    else if (mode === 'checkpoints' && besideStates) emit(name(mode), payload);
    if (isState) messages?.state(payload);
  };
}

function shown(mode: string, payload: unknown): unknown {
  if (mode === 'debug') return showDebug(payload);
  return mode === 'checkpoints' ? showCheckpoint(payload) : payload;
}

/** Updates the state of a run by an event of its values: new ones, interrupts, or both. */
export function updateReached(reached: RunState, payload: unknown): void {
  const interrupts = isObject(payload) ? payload[interruptChannel] : undefined;
  const { [interruptChannel]: _, ...values } = isObject(payload) ? payload : {};
  if (Array.isArray(interrupts)) reached.waitsFor = gathered(reached.waitsFor, interrupts);
  if (Array.isArray(interrupts) && Object.keys(values).length === 0) return;
  const state = Array.isArray(interrupts) ? values : payload;
  reached.first ??= state;
  reached.values = state;
}

/** Collects the interrupts of parallel tasks, which arrive one by one. A repeated interrupt counts once. */
function gathered(before: unknown[] = [], more: unknown[]): unknown[] {
  const known = new Set(before.map(questionId));
  return [...before, ...more.filter((one) => questionId(one) === undefined || !known.has(questionId(one)))];
}

const questionId = (interrupt: unknown): unknown => (isObject(interrupt) ? interrupt['id'] : undefined);

/** Unpacks the engine's chunk: mode and payload, with subgraphs the namespace before them. */
function take(chunk: unknown, subgraphs: boolean, notify: Notify): void {
  if (!Array.isArray(chunk)) return;
  const [namespace, mode, payload]: unknown[] = subgraphs ? chunk : [[], ...chunk];
  notify(String(mode), Array.isArray(namespace) ? namespace.map(String) : [], payload);
}

/** The options of one run for the engine. */
export function engineOptions(
  { runId, threadId, metadata, kwargs, callbacks }: EngineRun,
  streamMode: string[],
  attempt: number,
  signal: AbortSignal,
): EngineOptions {
  const { config, context, checkpoint, interrupt_before, interrupt_after, durability } = kwargs;
  const beginsAt = checkpointOfAll(checkpoint);
  return {
    streamMode,
    subgraphs: kwargs.stream_subgraphs,
    configurable: {
      ...config.configurable,
      ...(beginsAt === undefined ? {} : { checkpoint_id: beginsAt }),
      ...(checkpoint?.checkpoint_map ? { checkpoint_map: checkpoint.checkpoint_map } : {}),
    },
    metadata: { ...metadata, run_id: runId, thread_id: threadId, run_attempt: attempt },
    ...(context === undefined ? {} : { context }),
    ...(config.tags === undefined ? {} : { tags: config.tags }),
    ...(config.recursion_limit === undefined ? {} : { recursionLimit: config.recursion_limit }),
    ...(interrupt_before === undefined ? {} : { interruptBefore: interrupt_before }),
    ...(interrupt_after === undefined ? {} : { interruptAfter: interrupt_after }),
    ...(durability === undefined ? {} : { durability }),
    ...(callbacks === undefined ? {} : { callbacks }),
    signal,
    runId,
  };
}

/** Selects the graph's own chunks among the events of everything inside it. */
function ownChunk(event: unknown, runId: string): unknown {
  if (!isObject(event) || event['event'] !== 'on_chain_stream' || event['run_id'] !== runId) return undefined;
  return isObject(event['data']) ? event['data']['chunk'] : undefined;
}

function isHidden(event: unknown): boolean {
  const tags = isObject(event) ? event['tags'] : undefined;
  return Array.isArray(tags) && tags.includes('langsmith:hidden');
}
