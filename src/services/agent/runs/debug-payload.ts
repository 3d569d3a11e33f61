import { isObject } from '../../../kit/json-object.ts';

/** Name and message of a task's error, in the engine's form or as stored; null if there is none. */
export function taskError(error: unknown): string | null {
  if (error === undefined || error === null) return null;
  if (typeof error === 'string') return error;
  if (typeof error !== 'object') return JSON.stringify(error) ?? 'Error';
  const [name, message]: unknown[] = [Reflect.get(error, 'name'), Reflect.get(error, 'message')];
  const reported = [name, message].filter((part) => typeof part === 'string' && part !== '');
  return reported.length > 0 ? reported.join(': ') : 'Error';
}

/** Converts the engine's checkpoints to the API's names, without callbacks and keys that begin with two underscores. */
export function showCheckpoint(payload: unknown): unknown {
  if (!isObject(payload)) return payload;
  const { config, parentConfig, tasks, ...rest } = payload;
  return {
    ...rest,
    config: showConfig(config),
    tasks: Array.isArray(tasks) ? tasks.map(showTask) : tasks,
    checkpoint: checkpointOf(config) ?? null,
    parent_config: showConfig(parentConfig),
    parent_checkpoint: checkpointOf(parentConfig) ?? null,
  };
}

/** Converts the data of a `debug` event; only checkpoint events differ. */
export function showDebug(data: unknown): unknown {
  return isObject(data) && data['type'] === 'checkpoint' ? { ...data, payload: showCheckpoint(data['payload']) } : data;
}

/** Converts a task of a state; the engine identifies a subgraph's state by its configuration. */
function showTask(task: unknown): unknown {
  if (!isObject(task)) return task;
  const { state, error, ...rest } = task;
  const named = isObject(state) && 'configurable' in state && !('values' in state);
  return {
    ...rest,
    error: taskError(error),
    checkpoint: named ? checkpointOf(state) : null,
    state: named ? null : (state ?? null),
  };
}

/** The checkpoint of a configuration: a thread, a namespace, an id. */
export function checkpointOf(config: unknown): Record<string, unknown> | undefined {
  const configurable = isObject(config) ? config['configurable'] : undefined;
  if (!isObject(configurable)) return undefined;
  return {
    thread_id: configurable['thread_id'],
    checkpoint_ns: configurable['checkpoint_ns'] ?? '',
    checkpoint_id: configurable['checkpoint_id'] ?? null,
    checkpoint_map: configurable['checkpoint_map'] ?? null,
  };
}

function showConfig(config: unknown): unknown {
  if (!isObject(config)) return undefined;
  const { callbacks: _, configurable, ...rest } = config;
  const shown = Object.entries(isObject(configurable) ? configurable : {}).filter(([key]) => !key.startsWith('__'));
  return { ...rest, configurable: Object.fromEntries(shown) };
}
