import type { Graph } from '../graphs/graph.ts';
import { toWire } from '../wire.ts';
import type { RunEnd } from './run-row.ts';

/** What the thread of a run that stopped in the middle waits for: the interrupts of each task, and whether any node is next. */
export async function stateAfter(
  graph: Graph,
  threadId: string,
  log: (line: string) => void,
): Promise<Pick<RunEnd, 'interrupts' | 'unfinishedState'>> {
  try {
    const { tasks, next } = await graph.getState({ configurable: { thread_id: threadId } });
    return { interrupts: toWire(interruptsOf(tasks)), unfinishedState: next.length > 0 };
  } catch (error) {
    // The run has ended all the same; only what its thread waits for stays unknown.
    log(`The state of thread ${threadId} could not be read: ${String(error)}`);
    return { interrupts: '{}', unfinishedState: true };
  }
}

/** A task's id to what it waits for. */
export function interruptsOf(tasks: readonly unknown[]): Record<string, unknown[]> {
  const waiting: Record<string, unknown[]> = {};
  for (const task of tasks) {
    if (typeof task !== 'object' || task === null) continue;
    const interrupts: unknown = Reflect.get(task, 'interrupts');
    const id: unknown = Reflect.get(task, 'id');
    if (typeof id === 'string' && Array.isArray(interrupts) && interrupts.length > 0) waiting[id] = interrupts;
  }
  return waiting;
}
