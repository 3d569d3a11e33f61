import type { Graph, Snapshot } from '../graphs/graph.ts';

/** The pending tasks of a state. */
export interface OpenTasks {
  /** The next nodes. */
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

/** All interrupts that tasks ever raised, by task id. */
export const allInterrupts = (tasks: readonly unknown[]): Record<string, unknown[]> =>
  Object.fromEntries(tasks.flatMap(interruptedTask).map(({ id, interrupts }) => [id, interrupts]));

function interruptedTask(task: unknown): { id: string; name: string; interrupts: unknown[] }[] {
  if (typeof task !== 'object' || task === null) return [];
  const [id, name, interrupts] = ['id', 'name', 'interrupts'].map((key): unknown => Reflect.get(task, key));
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
  typeof value === 'object' && value !== null && typeof Reflect.get(value, 'getTuple') === 'function';
