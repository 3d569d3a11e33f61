import { isObject } from '../../../kit/json-object.ts';
import {
  threadEventParams,
  type LifecycleStatus,
  type ThreadEventParams,
} from '../../../contract/agent/thread-stream.ts';
import type { FinalRunStatus } from '../../../contract/agent/run.ts';
import type { Graph } from '../graphs/graph.ts';
import { engineOptions, interruptChannel, updateReached, type EngineRun, type RunState } from './engine-run.ts';
import type { Emit } from './message-stream.ts';
import { taskError } from './debug-payload.ts';

/** The event with the status of a run or of one of its subgraphs. */
export const lifecycleEvent = 'lifecycle';
/** The event that reports an interrupt. */
export const inputEvent = 'input.requested';

/**
 * Runs a graph with the engine's third version of `streamEvents`, and emits the events of the thread-stream protocol,
 * except the run's own status. @throws Error if the agent's engine has no such version.
 */
export async function runEngineForThread(
  graph: Graph,
  input: unknown,
  plan: EngineRun,
  { attempt, signal, emit, reached }: { attempt: number; signal: AbortSignal; emit: Emit; reached: RunState },
): Promise<void> {
  // Leaving the loop does not stop the engine, unlike that of `stream`.
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const { streamMode: _, subgraphs: __, ...options } = engineOptions(plan, [], attempt, either);
  const requested = new Set<string>();
  try {
    for await (const event of await eventsOf(graph, input, { ...options, version: 'v3' })) {
      if (!isObject(event)) continue;
      const params = threadEventParams.safeParse(event['params']);
      if (!params.success) continue;
      const method = String(event['method']);
      if (method === 'values' && params.data.namespace.length === 0) updateReached(reached, params.data.data);
      for (const shown of shownEvents(method, params.data, requested)) emit(shown.method, shown.params);
    }
  } catch (error) {
    failed.abort();
    throw error;
  }
}

async function eventsOf(
  graph: Graph,
  input: unknown,
  options: Parameters<Graph['streamEvents']>[1],
): Promise<AsyncIterable<unknown>> {
  try {
    return await graph.streamEvents(input, options);
  } catch (error) {
    if (!(error instanceof Error && error.message.includes('Only versions "v1" and "v2"'))) throw error;
    throw new Error(
      'The langgraph of this agent has no events of version 3, which streams of threads need. Update it, or use runs.stream.',
      { cause: error },
    );
  }
}

interface ShownEvent {
  method: string;
  params: ThreadEventParams;
}

/** Converts an event of the engine. `requested` holds the interrupts that have been reported, and grows. */
export function shownEvents(method: string, params: ThreadEventParams, requested: Set<string>): ShownEvent[] {
  const { data, namespace, timestamp } = params;
  const inputs = (interrupts: unknown): ShownEvent[] =>
    unreported(interrupts, requested).map((each) => ({
      method: inputEvent,
      params: { namespace, timestamp, data: { interrupt_id: each['id'], payload: each['value'] } },
    }));
  switch (method) {
    case 'lifecycle':
      return namespace.length === 0 ? [] : [{ method, params }];
    case 'values': {
      if (!isObject(data)) return [{ method, params }];
      const { [interruptChannel]: interrupts, ...values } = data;
      const shown = Object.keys(values).length > 0 ? [{ method, params: { ...params, data: values } }] : [];
      return [...inputs(interrupts), ...shown];
    }
    case 'updates': {
      const { node, values } = isObject(data) ? data : {};
      if (node === interruptChannel) return inputs(values);
      return [{ method, params: { ...params, ...(typeof node === 'string' ? { node } : {}), data: values } }];
    }
    case 'tasks':
      return [{ method, params: { ...params, data: shownTask(data) } }];
    case 'messages':
    case 'tools':
    case 'checkpoints':
    case 'custom':
      return [{ method, params }];
    default:
      return [
        {
          method: 'custom',
          params: { ...params, data: { name: method.replace(/^custom:/, ''), payload: data } },
        },
      ];
  }
}

function unreported(interrupts: unknown, requested: Set<string>): Record<string, unknown>[] {
  const listed = isObject(interrupts) ? interrupts[interruptChannel] : interrupts;
  return (Array.isArray(listed) ? listed : []).filter((each): each is Record<string, unknown> => {
    const id: unknown = isObject(each) ? each['id'] : undefined;
    if (typeof id !== 'string' || requested.has(id)) return false;
    requested.add(id);
    return true;
  });
}

const shownTask = (task: unknown): unknown =>
  isObject(task) && 'error' in task ? { ...task, error: taskError(task['error']) } : task;

/** The lifecycle status with which a run ends. */
export function lifecycleAfter(status: FinalRunStatus, hasInterrupts: boolean): LifecycleStatus {
  if (status === 'success') return hasInterrupts ? 'interrupted' : 'completed';
  return status === 'interrupted' ? 'interrupted' : 'failed';
}

/** The parameters of the event that reports the status of a run. */
export const runLifecycle = (
  event: LifecycleStatus,
  graphName: string,
  { at, error }: { at: number; error?: string | undefined },
): ThreadEventParams => ({
  namespace: [],
  timestamp: at,
  data: { event, graph_name: graphName, ...(error === undefined ? {} : { error }) },
});
