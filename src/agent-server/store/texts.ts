import { readTextPath, type TextPath } from '../../contract/agent/text-path.ts';
import { isObject } from '../../contract/json-object.ts';

/** The different texts at the paths of a JSON value; every other value but null counts as its JSON. */
export function textsAt(value: unknown, paths: readonly string[]): string[] {
  const found = paths.flatMap((path) => valuesAt(value, readTextPath(path) ?? []));
  const texts = found.filter((each) => each !== undefined && each !== null).map(textOf);
  return [...new Set(texts)].filter((text) => text.trim() !== '');
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
