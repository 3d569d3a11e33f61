import { validate, type Schema } from '@cfworker/json-schema';
import { schemaDraft, schemaFormats, walkSchema, type SchemaObject } from '../file/json-schema.ts';
import { compilePattern } from '../file/pattern.ts';
import type { TextFormatter } from '../words/format-expectation.ts';
import { unseen } from '../words/unseen.ts';
import { deepestValues } from '../file/json-path.ts';

/** How much of an untrusted value is examined. */
interface Bounds {
  /** Maps, lists and single values together. */
  nodes: number;
  /** Characters of all texts and keys together. */
  text: number;
}

/**
 * Why a value is too large to validate, or undefined. Examines no more than the bounds allow, with an explicit stack
 * instead of recursion, so that no value can make it slow or overflow the call stack.
 */
export function tooLarge(value: unknown, most: Bounds): string | undefined {
  const waiting: { value: unknown; depth: number }[] = [{ value, depth: 0 }];
  let nodes = 1;
  let text = 0;
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    if (typeof next.value === 'string') text += next.value.length;
    if (typeof next.value === 'object' && next.value !== null) {
      if (next.depth >= deepestValues) return unseen.tooDeep(deepestValues);
      for (const key in next.value) {
        nodes += 1;
        text += Array.isArray(next.value) ? 0 : key.length;
        if (nodes > most.nodes) return unseen.tooManyValues(most.nodes);
        waiting.push({ value: Reflect.get(next.value, key), depth: next.depth + 1 });
      }
    }
    if (text > most.text) return unseen.tooManyCharacters(most.text);
  }
  return undefined;
}

const bounds = { nodes: 10_000, text: 100_000 };

/** Whether a value is small enough to be held to a JSON Schema. */
export const isCheckable = (value: unknown): boolean => tooLarge(value, bounds) === undefined;

/** Where and why a value does not fit a JSON Schema (draft 2020-12), in bounded words; undefined where it fits. */
export function schemaMismatch(schema: SchemaObject, value: unknown, words: TextFormatter): string | undefined {
  const large = tooLarge(value, bounds);
  if (large) return unseen.tooLargeForSchema(large);
  const texts = textsIn(value);
  // The validator writes keys into URIs, and breaks on one that is half a character.
  if (![...texts.keys].every((key) => key.isWellFormed())) return unseen.brokenKey;
  const last = validate(value, onLinearTime(schema, texts), schemaDraft).errors.at(-1);
  if (!last) return undefined;
  const where = last.instanceLocation === '#' ? '' : `at ${words.text(placeWithin(last.instanceLocation), 80)}: `;
  return `${where}${words.text(last.error)}`;
}

/** A JSON pointer as a person reads it, and as a secret in it is recognised. */
const placeWithin = (pointer: string): string =>
  decodeURIComponent(pointer.slice(1)).replaceAll('~1', '/').replaceAll('~0', '~');

interface Texts {
  keys: ReadonlySet<string>;
  values: ReadonlySet<string>;
}

/**
 * Replaces each pattern of the schema by the exact texts of this value that match it under RE2: the validator's own
 * regular expressions could backtrack without bound on an untrusted value.
 */
function onLinearTime(schema: SchemaObject, { keys, values }: Texts): Schema {
  const copy = structuredClone(schema);
  const texts = [...new Set([...keys, ...values])];
  const literally = (pattern: string): string => {
    const compiled = compilePattern(pattern);
    return onlyThese(compiled.ok ? texts.filter((text) => compiled.pattern.matcher(text).find()) : []);
  };
  walkSchema(copy, (each) => {
    if (typeof each['pattern'] === 'string') each['pattern'] = literally(each['pattern']);
    if (typeof each['format'] === 'string' && !schemaFormats.includes(each['format'])) delete each['format'];
    const byName = each['patternProperties'];
    if (typeof byName !== 'object' || byName === null) return;
    const together = new Map<string, unknown[]>();
    for (const [pattern, inner] of Object.entries(byName)) {
      const names = literally(pattern);
      together.set(names, [...(together.get(names) ?? []), inner]);
    }
    each['patternProperties'] = Object.fromEntries([...together].map(([names, allOf]) => [names, { allOf }]));
  });
  return copy;
}

/** Every key and every text within a value that is bounded already. */
function textsIn(value: unknown): Texts {
  const keys = new Set<string>();
  const values = new Set<string>();
  const look = (inner: unknown): void => {
    if (typeof inner === 'string') values.add(inner);
    if (typeof inner !== 'object' || inner === null) return;
    for (const [key, each] of Object.entries(inner)) {
      if (!Array.isArray(inner)) keys.add(key);
      look(each);
    }
  };
  look(value);
  return { keys, values };
}

/** A pattern for exactly these texts; one that nothing matches where there are none. */
const onlyThese = (texts: readonly string[]): string =>
  texts.length === 0 ? '(?!)' : `^(?:${texts.map((text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|')})$`;
