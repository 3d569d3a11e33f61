import type { Snapshot } from '../graphs/graph.ts';
import { checkpointOf } from '../runs/debug-payload.ts';
import type { OpenTasks } from '../runs/open-tasks.ts';
import { taskError } from '../runs/task-error.ts';

/**
 * A state as the API shows it (`GET /threads/{thread_id}/state`), the states of graphs inside in the same way.
 *
 * @param open what it waits for, where more is known of that than the engine tells.
 */
export function showState(snapshot: Snapshot, open?: OpenTasks): object {
  return {
    values: snapshot.values,
    next: open?.next ?? snapshot.next,
    tasks: snapshot.tasks.map(showTask),
    metadata: snapshot.metadata ?? {},
    created_at: snapshot.createdAt ?? null,
    checkpoint: checkpointOf(snapshot.config) ?? null,
    parent_checkpoint: checkpointOf(snapshot.parentConfig) ?? null,
    interrupts: open ? Object.values(open.interrupts).flat() : snapshot.tasks.flatMap(interruptsOf),
  };
}

/** The state of a thread on which nothing ran yet. */
export function emptyState(threadId: string): object {
  return showState({ values: {}, next: [], tasks: [], config: { configurable: { thread_id: threadId } } });
}

/**
 * A task of a state. Of a graph inside, the engine gives the state where it was asked for, and else the configuration
 * under which the state can be read.
 */
function showTask(task: unknown): unknown {
  if (!isObject(task)) return task;
  const { state, error, interrupts, result, ...rest } = task;
  return {
    ...rest,
    error: taskError(error),
    interrupts: interrupts ?? [],
    checkpoint: isObject(state) && !isSnapshot(state) ? (checkpointOf(state) ?? null) : null,
    state: isSnapshot(state) ? showState(state) : null,
    result: result ?? null,
  };
}

function interruptsOf(task: unknown): unknown[] {
  const interrupts: unknown = isObject(task) ? task['interrupts'] : undefined;
  return Array.isArray(interrupts) ? interrupts : [];
}

const isSnapshot = (value: unknown): value is Snapshot =>
  isObject(value) && 'values' in value && Array.isArray(value['next']) && Array.isArray(value['tasks']);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
