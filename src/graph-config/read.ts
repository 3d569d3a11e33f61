import { isObject } from '../contract/json-object.ts';
import type * as z from 'zod';
import { didYouMean } from '../located/did-you-mean.ts';
import { problemsOf } from '../located/issues.ts';
import { parseText } from '../located/parse.ts';
import { inOrder } from '../located/problem.ts';
import type { Places, Problem } from '../located/problem.ts';
import { HttpConfig } from './http-config.ts';
import { GraphConfig } from './schema.ts';

/**
 * What a graph configuration file says, with the places of its parts; or everything that is wrong with it.
 * `warnings` name keys that nobody here knows: the public service may have newer ones, so they stop nothing.
 */
export type ReadGraphConfig =
  ({ ok: true; value: GraphConfig; warnings: Problem[] } & Places) | { ok: false; problems: Problem[] };

/**
 * Reads a graph configuration file, strict JSON. Every problem is told at once with its line and column; a key that
 * looks like a slip of the finger is a problem, with what was probably meant.
 *
 * @param text what the file holds.
 * @param file its path, as problems shall name it.
 */
export function readGraphConfig(text: string, file: string): ReadGraphConfig {
  const parsed = parseText(text, file.endsWith('.json') ? file : `${file}.json`);
  if (!parsed.ok) return { ok: false, problems: named(parsed.problems, file) };
  const top = withoutStrangers(parsed.value, GraphConfig, []);
  const http = isObject(top.value)
    ? withoutStrangers(top.value['http'], HttpConfig, ['http'])
    : { value: undefined, keys: [] };
  const value = isObject(http.value) && isObject(top.value) ? { ...top.value, http: http.value } : top.value;
  const result = GraphConfig.safeParse(value);
  if (!result.success) {
    const problems = problemsOf(result.error.issues, { schema: GraphConfig, value, places: parsed });
    return { ok: false, problems: named(inOrder(problems), file) };
  }
  const warnings = [...top.keys, ...http.keys].map((path) => ({
    file,
    ...parsed.placeOfKey(path),
    field: path.join('.'),
    message: `\`${path.join('.')}\` is not known here and has no effect`,
  }));
  return {
    ok: true,
    value: result.data,
    warnings: inOrder(warnings),
    file,
    placeOf: (path) => parsed.placeOf(path),
    placeOfKey: (path) => parsed.placeOfKey(path),
  };
}

/** A map without the keys that resemble no known one, and the paths of those. */
function withoutStrangers(value: unknown, schema: z.ZodObject, within: string[]): { value: unknown; keys: string[][] } {
  if (!isObject(value)) return { value, keys: [] };
  const known = Object.keys(schema.shape);
  const isStrange = (key: string) => !known.includes(key) && didYouMean(key, known) === undefined;
  const entries = Object.entries(value);
  return {
    value: Object.fromEntries(entries.filter(([key]) => !isStrange(key))),
    keys: entries.flatMap(([key]) => (isStrange(key) ? [[...within, key]] : [])),
  };
}

const named = (problems: readonly Problem[], file: string): Problem[] =>
  problems.map((problem) => ({ ...problem, file }));
