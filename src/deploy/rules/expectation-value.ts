import { deepCompareStrict } from '@cfworker/json-schema';
import { distance } from 'fastest-levenshtein';
import type { JSONPathQuery } from 'json-p3';
import { compilePath, TooManySteps } from '../file/json-path.ts';
import { compilePattern, type CompiledPattern } from '../file/pattern.ts';
import type { SchemaObject } from '../file/json-schema.ts';
import type { ValueTest } from '../file/smoke-test.ts';
import { tooLarge, schemaMismatch } from './expectation-schema.ts';
import { formatShare, kindOfValue, type TextFormatter } from '../words/format-expectation.ts';
import { jsonWithin, parsedJson } from './json-in-text.ts';
import { unseen } from '../words/unseen.ts';

/** Whether something holds, and what was seen, in bounded words. */
export interface CheckResult {
  held: boolean;
  seen: string;
}

/** Texts (characters) longer than this are held to no pattern: RE2 takes time by their length. */
const maxMatchedLength = 100_000;

/** Steps that a pattern may take for all texts together: their characters by the instructions of the pattern. */
const maxSteps = 20_000_000;

/** What one query may find. */
const maxFound = 1000;

/** How often one query may read a value: 25 times for each of the most values that are searched. */
const maxReads = 500_000;

/** What a query that looks at more than one place may look through. */
const searched = { nodes: 20_000, text: 1_000_000 };

/** What the values of a run have at a path, or why nothing is looked for. */
export function findValues(path: string, values: unknown): { found: readonly PathMatch[] } | { problem: string } {
  if (values === undefined) return { problem: unseen.noValues };
  const compiled = compilePath(path);
  if (!compiled.ok) return { problem: unseen.wrongPath(compiled.problem) };
  const large = compiled.query.singularQuery() ? undefined : tooLarge(values, searched);
  if (large) return { problem: unseen.tooLargeToSearch(large) };
  const found = findAll(compiled.query, values);
  if (found === undefined) return { problem: unseen.longPath };
  return found.length > maxFound ? { problem: unseen.tooManyFound(maxFound) } : { found };
}

/** Holds the values of a run to one expectation: something must be found at the path, and all that is found must hold. */
export function checkPath(path: string, test: ValueTest, values: unknown, words: TextFormatter): CheckResult {
  const looked = findValues(path, values);
  if ('problem' in looked) return { held: false, seen: looked.problem };
  const { found } = looked;
  const see = seeing(test, words);
  const seen = found.map((each) => ({ ...see(each.value), where: each.where }));
  const wrong = seen.find(({ held }) => !held);
  const one = wrong ?? seen[0];
  if (!one) return { held: false, seen: unseen.nothingAtPath };
  return {
    held: wrong === undefined,
    seen: found.length > 1 ? `${placeWords(one.where, words)}: ${one.seen}` : one.seen,
  };
}

interface PathMatch {
  value: unknown;
  /** Keys and indexes from the whole of the values. */
  where: readonly (string | number)[];
}

function placeWords(where: PathMatch['where'], words: TextFormatter): string {
  const parts = where.map((part) => (typeof part === 'number' ? `[${part}]` : `.${words.text(part, 40)}`));
  const shown = parts.length > 6 ? [...parts.slice(0, 3), '…', ...parts.slice(-2)] : parts;
  return `$${shown.join('')}`;
}

/** All that a query finds, or little more than is allowed; undefined where the search takes too many steps. */
function findAll(query: JSONPathQuery, values: unknown): PathMatch[] | undefined {
  const found: PathMatch[] = [];
  if (!isJson(values)) return found;
  try {
    for (const { location } of query.lazyQuery(countedValues(values, maxReads))) {
      found.push({ value: valueAt(values, location), where: location });
      if (found.length > maxFound) break;
    }
    return found;
  } catch (error) {
    if (error instanceof TooManySteps) return undefined;
    throw error;
  }
}

const valueAt = (values: unknown, where: PathMatch['where']): unknown =>
  where.reduce(
    (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
    values,
  );

/** The values come from JSON text, so comparing their serialized form is enough. */
const isJson = (value: unknown): value is Parameters<JSONPathQuery['lazyQuery']>[0] =>
  ['string', 'number', 'boolean', 'object'].includes(typeof value);

/** Makes what holds each value that was found to a test. A pattern is compiled once for all of them. */
function seeing(test: ValueTest, words: TextFormatter): (value: unknown) => CheckResult {
  if (test.kind === 'matches') {
    const compiled = compilePattern(test.pattern);
    let left = maxSteps;
    return (value) => {
      const isMatched = compiled.ok && typeof value === 'string' && value.length <= maxMatchedLength;
      if (isMatched) left -= value.length * compiled.pattern.programSize();
      return left < 0 ? { held: false, seen: unseen.tooMuchToMatch } : matched(value, compiled, words);
    };
  }
  return (value) => seenIn(value, test, words);
}

function seenIn(value: unknown, test: Exclude<ValueTest, { kind: 'matches' }>, words: TextFormatter): CheckResult {
  switch (test.kind) {
    case 'equals':
      return { held: deepCompareStrict(value, test.value), seen: words.brief(value) };
    case 'contains':
      if (typeof value === 'string') return { held: value.includes(test.text), seen: words.brief(value) };
      if (Array.isArray(value)) return { held: value.includes(test.text), seen: words.brief(value) };
      return { held: false, seen: unseen.containsNoText(kindOfValue(value), words.brief(value)) };
    case 'similar':
      return similarTo(value, test, words);
    case 'schema':
      return whereOneFits([value], test.schema, value, words);
    case 'json': {
      const parsed = isParsed(value) ? parsedJson(value) : undefined;
      return whereOneFits(parsed ? [parsed.value] : [], test.schema, value, words);
    }
    case 'contains-json':
      return whereOneFits(isParsed(value) ? jsonWithin(value) : [], test.schema, value, words);
  }
}

const isParsed = (value: unknown): value is string => typeof value === 'string' && value.length <= maxMatchedLength;

/** Whether one of the values that were found fits a schema. */
function whereOneFits(
  found: readonly unknown[],
  schema: SchemaObject,
  value: unknown,
  words: TextFormatter,
): CheckResult {
  let first: string | undefined;
  for (const each of found) {
    const mismatch = schemaMismatch(schema, each, words);
    if (mismatch === undefined) return { held: true, seen: words.brief(value) };
    first ??= mismatch;
  }
  return { held: false, seen: `${first ?? unseen.noJson} (${words.brief(value, 120)})` };
}

/** Longer texts (characters) are not compared: it takes time by their product. */
const maxComparedLength = 10_000;

function similarTo(value: unknown, { text, atLeast }: { text: string; atLeast: number }, words: TextFormatter) {
  if (typeof value !== 'string') return { held: false, seen: unseen.notText(kindOfValue(value), words.brief(value)) };
  if (value.length > maxComparedLength) {
    return { held: false, seen: unseen.tooLongToCompare(value.length) };
  }
  const similarity = 1 - distance(value, text) / Math.max(value.length, text.length);
  return { held: similarity >= atLeast, seen: `${formatShare(similarity)} (${words.brief(value, 120)})` };
}

function matched(value: unknown, compiled: CompiledPattern, words: TextFormatter): CheckResult {
  if (typeof value !== 'string') return { held: false, seen: unseen.notText(kindOfValue(value), words.brief(value)) };
  if (value.length > maxMatchedLength) {
    return { held: false, seen: unseen.tooLongToMatch(value.length, maxMatchedLength) };
  }
  if (!compiled.ok) return { held: false, seen: unseen.wrongPattern(compiled.problem) };
  return { held: compiled.pattern.matcher(value).find(), seen: words.brief(value) };
}

/**
 * The same JSON values, which throw `TooManySteps` as soon as they are read more than `most` times, within and again
 * too.
 */
function countedValues<Value>(values: Value, most: number): Value {
  let left = most;
  const spend = (reads: number): void => {
    left -= reads;
    if (left < 0) throw new TooManySteps(`The values were read more than ${most} times.`);
  };
  const show = <Inner>(value: Inner): Inner =>
    typeof value === 'object' && value !== null ? new Proxy<Inner & object>(value, handler) : value;
  const handler: ProxyHandler<object> = {
    get(target, key, receiver) {
      spend(1);
      return show(Reflect.get(target, key, receiver));
    },
    has(target, key) {
      spend(1);
      return Reflect.has(target, key);
    },
    ownKeys(target) {
      const keys = Reflect.ownKeys(target);
      spend(1 + keys.length);
      return keys;
    },
    getOwnPropertyDescriptor(target, key) {
      spend(1);
      return Reflect.getOwnPropertyDescriptor(target, key);
    },
  };
  return show(values);
}
