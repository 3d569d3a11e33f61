import { isObject } from '../contract/json-object.ts';
import { didYouMean } from '../diagnostics/did-you-mean.ts';
import { problemsOf } from '../diagnostics/issues.ts';
import { knownKeys } from '../diagnostics/known-keys.ts';
import { parseText } from '../diagnostics/parse.ts';
import { fieldName, inOrder, leftOut, mostProblems } from '../diagnostics/problem.ts';
import type { FieldPath, Places, Problem } from '../diagnostics/problem.ts';
import { effectsHere } from './effects.ts';
import { GraphConfig } from './schema.ts';

/**
 * What a graph configuration file says, with the places of its parts; or everything that is wrong with it.
 * `warnings` name keys that nobody here knows (the public service may have newer ones) and keys without effect here;
 * they stop nothing. `refused` names what an agent server of ours does not start with, and another's may offer.
 */
export type ReadGraphConfig =
  | ({ ok: true; value: GraphConfig; warnings: Problem[]; refused: Problem[] } & Places)
  | { ok: false; problems: Problem[] };

/** The maps in which a newer key of the public service may stand. Who may ask and what is sent is held to what is known. */
const OPEN: readonly FieldPath[] = [
  [],
  ['http'],
  ['http', 'cors'],
  ['http', 'configurable_headers'],
  ['http', 'logging_headers'],
  ['store'],
  ['store', 'index'],
  ['store', 'ttl'],
  ['checkpointer'],
  ['checkpointer', 'ttl'],
];

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
  const { value, strangers } = withoutStrangers(parsed.value, []);
  const result = GraphConfig.safeParse(value);
  if (!result.success) {
    const problems = problemsOf(result.error.issues, { schema: GraphConfig, value, places: parsed });
    return { ok: false, problems: named(inOrder(problems), file) };
  }
  const reported = (path: FieldPath, message: string): Problem => {
    const field = fieldName(path);
    return { file, ...parsed.placeOfKey(path), field, message: `\`${field}\` ${message}` };
  };
  const { ineffective, refused } = effectsHere(result.data);
  const warnedStrangers = strangers
    .slice(0, mostProblems)
    .map((path) => reported(path, 'is not known here and has no effect'));
  return {
    ok: true,
    value: result.data,
    warnings: inOrder([
      ...warnedStrangers,
      ...leftOut(warnedStrangers.at(-1), strangers.length - warnedStrangers.length),
      ...ineffective.map(({ path, message }) => reported(path, message)),
    ]),
    refused: inOrder(refused.map(({ path, message }) => reported(path, message))),
    file,
    placeOf: (path) => parsed.placeOf(path),
    placeOfKey: (path) => parsed.placeOfKey(path),
  };
}

/** What was written without the keys that resemble no known one, where such may stand, and the paths of those. */
function withoutStrangers(value: unknown, path: FieldPath): { value: unknown; strangers: FieldPath[] } {
  if (!isObject(value) || !OPEN.some((open) => fieldName(open) === fieldName(path))) return { value, strangers: [] };
  const known = knownKeys(GraphConfig, path);
  // Comparing costs: of very many strange keys the last ones are no slips of a finger.
  const strange = Object.keys(value)
    .filter((key) => !known.includes(key))
    .filter((key, index) => index >= mostProblems || didYouMean(key, known) === undefined);
  const strangeKeys = new Set(strange);
  const isStrange = (key: string) => strangeKeys.has(key);
  const kept = Object.entries(value).flatMap(([key, inner]) =>
    isStrange(key) ? [] : [{ key, ...withoutStrangers(inner, [...path, key]) }],
  );
  return {
    value: Object.fromEntries(kept.map(({ key, value: inner }) => [key, inner])),
    strangers: [...strange.map((key) => [...path, key]), ...kept.flatMap(({ strangers }) => strangers)],
  };
}

const named = (problems: readonly Problem[], file: string): Problem[] =>
  problems.map((problem) => ({ ...problem, file }));
