import type { Snapshot } from '../graphs/graph.ts';
import { checkpointOf, showTask } from '../runs/debug-payload.ts';

/** A state as the API shows it (`GET /threads/{thread_id}/state`). */
export function showState(snapshot: Snapshot): object {
  const tasks = snapshot.tasks.map(showTask);
  return {
    values: snapshot.values,
    next: snapshot.next,
    tasks,
    metadata: snapshot.metadata ?? {},
    created_at: snapshot.createdAt ?? null,
    checkpoint: checkpointOf(snapshot.config) ?? null,
    parent_checkpoint: checkpointOf(snapshot.parentConfig) ?? null,
    interrupts: snapshot.tasks.flatMap(interruptsOf),
  };
}

/** The state of a thread on which nothing ran yet. */
export function emptyState(threadId: string): object {
  return showState({ values: {}, next: [], tasks: [], config: { configurable: { thread_id: threadId } } });
}

function interruptsOf(task: unknown): unknown[] {
  const interrupts: unknown = typeof task === 'object' && task !== null ? Reflect.get(task, 'interrupts') : undefined;
  return Array.isArray(interrupts) ? interrupts : [];
}
