import { readTextPath, type TextPath } from '../../../contract/agent/text-path.ts';
import { isObject } from '../../../kit/json-object.ts';

/**
 * The different texts at the paths of a JSON value; every other value but null counts as its JSON.
 *
 * @param max the maximum number of characters of all; undefined if there are more.
 */
export function textsAt(value: unknown, paths: readonly string[], max: number): string[] | undefined {
  const texts = new Set<string>();
  let characters = 0;
  for (const path of new Set(paths)) {
    for (const found of valuesAt(value, readTextPath(path) ?? [])) {
      if (found === undefined || found === null) continue;
      const text = textOf(found);
      characters += text.length;
      if (characters > max) return undefined;
      if (text.trim() !== '') texts.add(text);
    }
  }
  return [...texts];
}

function valuesAt(value: unknown, [step, ...rest]: TextPath): unknown[] {
  if (step === undefined) return [value];
  switch (step.kind) {
    case 'name':
      return isObject(value) && Object.hasOwn(value, step.name) ? valuesAt(value[step.name], rest) : [];
    case 'index':
      return Array.isArray(value) ? valuesAt(value.at(step.index), rest) : [];
    case 'all':
      return typeof value === 'object' && value !== null
        ? Object.values(value).flatMap((each: unknown) => valuesAt(each, rest))
        : [];
    case 'each-of':
      return step.paths.flatMap((path) => valuesAt(value, [...path, ...rest]));
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
