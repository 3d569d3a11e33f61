import { isObject } from '../../kit/json-object.ts';
import type { FieldPath } from '../../kit/diagnostics/problem.ts';
import { fieldAliases } from '../../contract/control/aliases.ts';

/** Whose word it is shows in its letters: `image_uri` is the service's, `imageUri` ours, `image-uri` a person's. */
export const toKebab = (word: string): string =>
  word.replaceAll('_', '-').replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
export const toCamel = (word: string): string =>
  word.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
const toSnake = (word: string): string => word.replaceAll('-', '_');

/** The public service's names in a person's spelling, and what they are called here. */
export const synonyms: ReadonlyMap<string, string> = new Map(
  fieldAliases.flatMap((alias) => [
    [alias.public, alias.contract],
    [toKebab(alias.public), toKebab(alias.contract)],
  ]),
);

/** A map with its keys in the service's spelling; anything else as it is. */
export const withSnakeKeys = (value: unknown): unknown =>
  isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [toSnake(key), inner])) : value;

/** The keys of a map that stand in it in another spelling already. */
export function keysInTwoSpellings(value: unknown): string[] {
  const seen = new Set<string>();
  return Object.keys(isObject(value) ? value : {}).filter((key) => seen.size === seen.add(toSnake(key)).size);
}

/** The path of what was written, from a path in another spelling: wherever the written value has no such key. */
export function writtenPath(written: unknown, path: FieldPath): FieldPath {
  const found: (string | number)[] = [];
  let inner = written;
  for (const part of path) {
    const key = typeof part === 'string' && isObject(inner) && !Object.hasOwn(inner, part) ? toKebab(part) : part;
    found.push(key);
    inner = typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined;
  }
  return found;
}
