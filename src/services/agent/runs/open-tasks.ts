import { stackOf } from '../../../kit/errors.ts';
import { isObject } from '../../../kit/json-object.ts';
import type { Logger } from '../../../kit/logger.ts';
import { isDatabaseUnavailable } from '../../../kit/postgres/unavailable.ts';
import type { Graph, Snapshot } from '../graphs/graph.ts';
import { toWire } from '../wire.ts';
import type { RunEnd } from './run-row.ts';

/** The pending tasks of a state. */
export interface OpenTasks {
  next: string[];
  /** The open interrupts by task id. */
  interrupts: Record<string, unknown[]>;
}

/** The channels of the engine's notes on an unfinished task. */
const noteChannels = new Set(['__error__', '__error_source_node__', '__interrupt__', '__resume__', '__scheduled__']);

/**
 * The pending tasks of a state. The engine returns every interrupt that a task ever raised, and treats a task that was
 * resumed and interrupted again as done; the tasks' writes show which interrupts are open.
 */
export async function openTasks(graph: Graph, { tasks, next, config }: Snapshot): Promise<OpenTasks> {
  const asking = tasks.flatMap(interruptedTask);
  if (asking.length === 0) return { next, interrupts: {} };
  const done = await tasksDone(graph, config);
  const open = asking.filter(({ id }) => !done.has(id));
  const names = open.map(({ name }) => name).filter((name) => !next.includes(name));
  return {
    next: [...next, ...new Set(names)],
    interrupts: Object.fromEntries(open.map(({ id, interrupts }) => [id, interrupts])),
  };
}

/** The open interrupts after a run stopped, and whether a node is next. @throws if the database is unavailable. */
export async function stateAfter(
  graph: Graph,
  threadId: string,
  log: Logger,
): Promise<Pick<RunEnd, 'interrupts' | 'unfinishedState'>> {
  try {
    const { next, interrupts } = await openTasks(
      graph,
      await graph.getState({ configurable: { thread_id: threadId } }),
    );
    return { interrupts: toWire(interrupts), unfinishedState: next.length > 0 };
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw error;
    // The run has ended anyway; only its thread's interrupts stay unknown.
    log.error({ threadId }, `The state of thread ${threadId} could not be read: ${stackOf(error)}`);
    return { interrupts: '{}', unfinishedState: true };
  }
}

/** All interrupts that tasks ever raised, by task id. */
export const allInterrupts = (tasks: readonly unknown[]): Record<string, unknown[]> =>
  Object.fromEntries(tasks.flatMap(interruptedTask).map(({ id, interrupts }) => [id, interrupts]));

function interruptedTask(task: unknown): { id: string; name: string; interrupts: unknown[] }[] {
  if (!isObject(task)) return [];
  const { id, name, interrupts } = task;
  if (typeof id !== 'string' || !Array.isArray(interrupts) || interrupts.length === 0) return [];
  return [{ id, name: String(name), interrupts }];
}

async function tasksDone({ checkpointer }: Graph, config: Snapshot['config']): Promise<Set<string>> {
  const done = new Set<string>();
  if (!isCheckpointer(checkpointer)) return done;
  const { pendingWrites = [] } = (await checkpointer.getTuple(config)) ?? {};
  for (const [taskId, channel] of pendingWrites) if (!noteChannels.has(channel)) done.add(taskId);
  return done;
}

interface Checkpointer {
  getTuple(
    config: object,
  ): Promise<{ pendingWrites?: [taskId: string, channel: string, value: unknown][] } | undefined>;
}

const isCheckpointer = (value: unknown): value is Checkpointer =>
  isObject(value) && typeof value['getTuple'] === 'function';
