/** Server-side apply as the API server does it: field ownership and merging. Pure. */
import { isObject } from '../../../../src/kit/json-object.ts';

export type Json = Record<string, unknown>;

/** The keys that identify entries of a list, by field; every other list is one value. */
const listKeys: Record<string, readonly string[]> = {
  containers: ['name'],
  initContainers: ['name'],
  env: ['name'],
  volumes: ['name'],
  volumeMounts: ['mountPath'],
  imagePullSecrets: ['name'],
  conditions: ['type'],
};
/** Ports have other keys in a pod than in a Service. */
const keysOf = (field: string, items: readonly unknown[]): readonly string[] | undefined => {
  if (field !== 'ports') return listKeys[field];
  return items.some((item) => isObject(item) && 'containerPort' in item)
    ? ['containerPort', 'protocol']
    : ['port', 'protocol'];
};

const keyText = (item: unknown, keys: readonly string[]): string =>
  `k:${JSON.stringify(Object.fromEntries(keys.map((key) => [key, isObject(item) ? item[key] : undefined])))}`;

/** Ownership: the path of every field or entry that a manager set. */
export type Fields = ReadonlySet<string>;

/** Identifying fields have no owner. */
const unowned = new Set(['f:apiVersion', 'f:kind', 'f:metadata/f:name', 'f:metadata/f:namespace']);

/** Every field that a configuration sets: leaves, and the entries of keyed lists. */
export function fieldsOf(configuration: Json): Set<string> {
  const found = new Set<string>();
  const visit = (value: unknown, path: string, field: string): void => {
    if (isObject(value) && Object.keys(value).length > 0) {
      for (const [name, inner] of Object.entries(value))
        visit(inner, path === '' ? `f:${name}` : `${path}/f:${name}`, name);
      return;
    }
    const keys = Array.isArray(value) ? keysOf(field, value) : undefined;
    if (Array.isArray(value) && keys) {
      for (const item of value) {
        const entry = `${path}/${keyText(item, keys)}`;
        if (found.has(entry)) throw new Error(`duplicate entries for key ${entry}`);
        found.add(entry);
        visit(item, entry, '');
      }
      return;
    }
    if (!unowned.has(path)) found.add(path);
  };
  visit(configuration, '', '');
  return found;
}

/** The value at a path, or undefined. */
function valueAt(object: unknown, path: string): unknown {
  let here: unknown = object;
  for (const step of stepsOf(path)) {
    if (step.startsWith('f:')) here = isObject(here) ? here[step.slice(2)] : undefined;
    else here = Array.isArray(here) ? here.find((item) => matches(item, step)) : undefined;
  }
  return here;
}

/** Keys of labels contain slashes, so a step only ends where another one starts. */
const stepsOf = (path: string): string[] => path.split(/\/(?=f:|k:\{)/);

function matches(item: unknown, step: string): boolean {
  const wanted: unknown = JSON.parse(step.slice(2));
  return isObject(wanted) && isObject(item) && Object.entries(wanted).every(([key, value]) => item[key] === value);
}

/** Merges a configuration into an object. */
function merged(live: unknown, configuration: unknown, field = ''): unknown {
  if (isObject(configuration)) {
    const result: Json = isObject(live) ? { ...live } : {};
    for (const [name, value] of Object.entries(configuration)) result[name] = merged(result[name], value, name);
    return result;
  }
  if (!Array.isArray(configuration) || !Array.isArray(live)) return configuration;
  const keys = keysOf(field, configuration);
  if (!keys) return configuration;
  const fresh = configuration.map((item) => {
    const before = live.find((other) => keyText(other, keys) === keyText(item, keys));
    return merged(before, item);
  });
  const others = live.filter((item) => !configuration.some((other) => keyText(other, keys) === keyText(item, keys)));
  return [...fresh, ...others];
}

/** Removes fields, and parents that become empty. */
function without(object: unknown, paths: readonly string[]): unknown {
  const removed = new Set(paths);
  const visit = (value: unknown, path: string, field: string): unknown => {
    if (isObject(value)) {
      const entries = Object.entries(value).flatMap(([name, inner]) => {
        const at = path === '' ? `f:${name}` : `${path}/f:${name}`;
        if (removed.has(at)) return [];
        const kept = visit(inner, at, name);
        const isEmptied =
          isObject(kept) && isObject(inner) && Object.keys(kept).length === 0 && Object.keys(inner).length > 0;
        return isEmptied ? [] : [[name, kept] as const];
      });
      return Object.fromEntries(entries);
    }
    const keys = Array.isArray(value) ? keysOf(field, value) : undefined;
    if (!Array.isArray(value) || !keys) return value;
    return value
      .filter((item) => !removed.has(`${path}/${keyText(item, keys)}`))
      .map((item) => visit(item, `${path}/${keyText(item, keys)}`, ''));
  };
  return visit(object, '', '');
}

/** The result of an apply: the object and its owners, or the conflicting fields. */
export type Applied =
  | { kind: 'applied'; object: unknown; managers: Map<string, Fields> }
  | { kind: 'conflict'; with: string; fields: string[] };

/** Applies a manager's configuration to an object. */
export function applied(
  live: Json,
  managers: ReadonlyMap<string, Fields>,
  configuration: Json,
  manager: string,
  force: boolean,
): Applied {
  const wanted = fieldsOf(configuration);
  const next = new Map(managers);
  for (const [other, owned] of managers) {
    if (other === manager) continue;
    const lost = [...wanted].filter((path) => {
      if (!owned.has(path)) return false;
      return JSON.stringify(valueAt(live, path)) !== JSON.stringify(valueAt(configuration, path)) && !isEntry(path);
    });
    if (lost.length > 0 && !force) return { kind: 'conflict', with: other, fields: lost };
    next.set(other, new Set([...owned].filter((path) => !lost.includes(path))));
  }
  const before = managers.get(manager) ?? new Set<string>();
  const others = new Set([...next].filter(([other]) => other !== manager).flatMap(([, owned]) => [...owned]));
  const gone = [...before].filter((path) => !wanted.has(path) && !others.has(path));
  next.set(manager, wanted);
  return { kind: 'applied', object: merged(without(live, gone), configuration), managers: next };
}

/** An entry of a list is owned as a whole; its fields can differ. */
const isEntry = (path: string): boolean => (stepsOf(path).at(-1) ?? '').startsWith('k:');
