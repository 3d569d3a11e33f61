import { isObject } from '../../../kit/json-object.ts';
import { selected } from '../api/pages.ts';
import type { Snapshot } from '../graphs/graph.ts';
import { checkpointOf, taskError } from '../runs/debug-payload.ts';
import type { OpenTasks } from '../runs/open-tasks.ts';

/** Serializes a state with its subgraphs. `open`: its pending tasks, if known better than by the engine. */
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

/** Keeps the selected fields of a state, and the selected keys of its values; all by default. */
export function selectedState(state: object, fields: readonly string[] | undefined): object {
  const keys = fields?.filter((field) => field.startsWith(keyPrefix)).map((field) => field.slice(keyPrefix.length));
  if (!fields || !keys || keys.length === 0 || fields.includes('values')) return selected(state, fields);
  const values: unknown = Reflect.get(state, 'values');
  return { ...selected(state, fields), values: isObject(values) ? selected(values, keys) : {} };
}

/** Starts a field that selects one key of the values. */
const keyPrefix = 'values.';

/** The state of a thread without runs. */
export function emptyState(threadId: string): object {
  return showState({ values: {}, next: [], tasks: [], config: { configurable: { thread_id: threadId } } });
}

/** Serializes a task. For a subgraph, the engine returns its state if requested, else the configuration to read it. */
function showTask(task: unknown): unknown {
  if (!isObject(task)) return task;
  const { state, error, interrupts, result, ...rest } = task;
  return {
    ...rest,
    error: taskError(error),
    interrupts: interrupts ?? [],
    checkpoint: isObject(state) && !isSnapshot(state) ? subgraphCheckpoint(state) : null,
    state: isSnapshot(state) ? showState(state) : null,
    result: result ?? null,
  };
}

/** Where the state of a subgraph is: as on the public server, without an id and a map that the engine did not name. */
function subgraphCheckpoint(state: object): object | null {
  const checkpoint = checkpointOf(state);
  if (checkpoint === undefined) return null;
  return Object.fromEntries(Object.entries(checkpoint).filter(([, value]) => value !== null));
}

function interruptsOf(task: unknown): unknown[] {
  const interrupts: unknown = isObject(task) ? task['interrupts'] : undefined;
  return Array.isArray(interrupts) ? interrupts : [];
}

const isSnapshot = (value: unknown): value is Snapshot =>
  isObject(value) && 'values' in value && Array.isArray(value['next']) && Array.isArray(value['tasks']);
