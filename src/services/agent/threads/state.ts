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

/** The part of a value at a path such as `values.messages[-1].content`; null if the path does not exist. */
export function partAt(value: unknown, path: string): unknown {
  let found = value;
  for (const step of stepsOf(path)) {
    if (!isObject(found) && !Array.isArray(found)) return null;
    if (typeof step === 'number') found = Array.isArray(found) ? found.at(step) : undefined;
    else found = Object.hasOwn(found, step) ? Reflect.get(found, step) : undefined;
  }
  return found ?? null;
}

export const extracted = (value: unknown, paths: Record<string, string>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, partAt(value, path)]));

/** Whether a path has valid syntax. */
export const isPath = (path: string): boolean => /^[^.[\]]+(?:\.[^.[\]]+|\[-?\d{1,9}\])*$/.test(path);

function stepsOf(path: string): (string | number)[] {
  const steps = path.match(/\[-?\d+\]|[^.[\]]+/g) ?? [];
  return steps.map((step) => (step.startsWith('[') ? Number(step.slice(1, -1)) : step));
}
