import type { Graph, Snapshot } from '../graphs/graph.ts';

/** What a state waits for. */
export interface OpenTasks {
  /** The nodes that are next. */
  next: string[];
  /** A task's id to what it asks. */
  interrupts: Record<string, unknown[]>;
}

/** What the engine notes of a task that has not ended. */
const NOTES = new Set(['__error__', '__error_source_node__', '__interrupt__', '__resume__', '__scheduled__']);

/**
 * What a state waits for. The engine itself tells of every question that a task of the state ever asked, and counts one
 * that was answered once and asks again for done: what they wrote tells which of them are.
 */
export async function openTasks(graph: Graph, { tasks, next, config }: Snapshot): Promise<OpenTasks> {
  const asking = tasks.flatMap(requested);
  if (asking.length === 0) return { next, interrupts: {} };
  const done = await tasksDone(graph, config);
  const open = asking.filter(({ id }) => !done.has(id));
  const names = open.map(({ name }) => name).filter((name) => !next.includes(name));
  return {
    next: [...next, ...new Set(names)],
    interrupts: Object.fromEntries(open.map(({ id, interrupts }) => [id, interrupts])),
  };
}

/** A task's id to all that it ever asked. */
export const allInterrupts = (tasks: readonly unknown[]): Record<string, unknown[]> =>
  Object.fromEntries(tasks.flatMap(requested).map(({ id, interrupts }) => [id, interrupts]));

function requested(task: unknown): { id: string; name: string; interrupts: unknown[] }[] {
  if (typeof task !== 'object' || task === null) return [];
  const [id, name, interrupts] = ['id', 'name', 'interrupts'].map((key): unknown => Reflect.get(task, key));
  if (typeof id !== 'string' || !Array.isArray(interrupts) || interrupts.length === 0) return [];
  return [{ id, name: String(name), interrupts }];
}

async function tasksDone({ checkpointer }: Graph, config: Snapshot['config']): Promise<Set<string>> {
  const done = new Set<string>();
  if (!isCheckpointer(checkpointer)) return done;
  const { pendingWrites = [] } = (await checkpointer.getTuple(config)) ?? {};
  for (const [taskId, channel] of pendingWrites) if (!NOTES.has(channel)) done.add(taskId);
  return done;
}

interface Checkpointer {
  getTuple(
    config: object,
  ): Promise<{ pendingWrites?: [taskId: string, channel: string, value: unknown][] } | undefined>;
}

const isCheckpointer = (value: unknown): value is Checkpointer =>
  typeof value === 'object' && value !== null && typeof Reflect.get(value, 'getTuple') === 'function';
