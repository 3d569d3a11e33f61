import { isObject } from '../../../kit/json-object.ts';

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
