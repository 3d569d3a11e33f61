import { isObject } from '../../kit/json-object.ts';
import { didYouMean } from '../../kit/diagnostics/did-you-mean.ts';
import { problemsOf, knownKeys } from '../../kit/diagnostics/issues.ts';
import { parseText } from '../../kit/diagnostics/parse.ts';
import {
  fieldName,
  inOrder,
  leftOut,
  maxProblems,
  type FieldPath,
  type SourcePositions,
  type Problem,
} from '../../kit/diagnostics/problem.ts';
import { findImageOnlyKeys } from './image-only-keys.ts';
import { findUnsupportedKeys } from './unsupported-keys.ts';
import { graphConfig, type GraphConfig } from './schema.ts';

/**
 * The content of a graph configuration file with the positions of its parts, or every error in it. `warnings` are about
 * unknown keys (the public service may have newer ones) and keys without effect here; they block nothing. `refused` are
 * about keys that our agent server does not support, though others may; `imageOnly` about keys that need an image
 * build.
 */
export type ReadGraphConfig =
  | ({ ok: true; value: GraphConfig; warnings: Problem[]; refused: Problem[]; imageOnly: Problem[] } & SourcePositions)
  | { ok: false; problems: Problem[] };

/** The objects that may contain unknown keys, such as newer ones. Those about access and webhooks are strict. */
const openPaths: readonly FieldPath[] = [
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
  ['ui_config'],
  ['source'],
];

/**
 * Reads a graph configuration file, strict JSON. Reports every error at once with its line and column; a key that looks
 * like a typo is an error with a suggestion.
 *
 * @param text the content of the file.
 * @param file its path, as shown in errors.
 */
export function readGraphConfig(text: string, file: string): ReadGraphConfig {
  const parsed = parseText(text, file.endsWith('.json') ? file : `${file}.json`);
  if (!parsed.ok) return { ok: false, problems: withFile(parsed.problems, file) };
  const { value, unknownPaths } = withoutUnknown(parsed.value, []);
  const result = graphConfig.safeParse(value);
  if (!result.success) {
    const problems = problemsOf(result.error.issues, { schema: graphConfig, value, places: parsed });
    return { ok: false, problems: withFile(inOrder(problems), file) };
  }
  const toProblem = (path: FieldPath, message: string): Problem => {
    const field = fieldName(path);
    return { file, ...parsed.placeOfKey(path), field, message: `\`${field}\` ${message}` };
  };
  const { ineffective, refused } = findUnsupportedKeys(result.data);
  const unknownKeyWarnings = unknownPaths
    .slice(0, maxProblems)
    .map((path) => toProblem(path, 'is not known here and has no effect'));
  return {
    ok: true,
    value: result.data,
    warnings: inOrder([
      ...unknownKeyWarnings,
      ...leftOut(unknownKeyWarnings.at(-1), unknownPaths.length - unknownKeyWarnings.length),
      ...ineffective.map(({ path, message }) => toProblem(path, message)),
    ]),
    refused: inOrder(refused.map(({ path, message }) => toProblem(path, message))),
    imageOnly: inOrder(findImageOnlyKeys(result.data).map(({ path, message }) => toProblem(path, message))),
    file,
    placeOf: (path) => parsed.placeOf(path),
    placeOfKey: (path) => parsed.placeOfKey(path),
  };
}

/** Removes unknown keys that are allowed and are not typos of known ones, and returns their paths. */
function withoutUnknown(value: unknown, path: FieldPath): { value: unknown; unknownPaths: FieldPath[] } {
  if (!isObject(value) || !openPaths.some((open) => fieldName(open) === fieldName(path)))
    return { value, unknownPaths: [] };
  const known = knownKeys(graphConfig, path);
  // Comparing is slow, so only the first unknown keys are checked for typos.
  const unknown = Object.keys(value)
    .filter((key) => !known.includes(key))
    .filter((key, index) => index >= maxProblems || didYouMean(key, known) === undefined);
  const unknownKeys = new Set(unknown);
  const knownEntries = Object.entries(value)
    .filter(([key]) => !unknownKeys.has(key))
    .map(([key, inner]) => ({ key, ...withoutUnknown(inner, [...path, key]) }));
  return {
    value: Object.fromEntries(knownEntries.map(({ key, value: inner }) => [key, inner])),
    unknownPaths: [
      ...unknown.map((key) => [...path, key]),
      ...knownEntries.flatMap(({ unknownPaths }) => unknownPaths),
    ],
  };
}

const withFile = (problems: readonly Problem[], file: string): Problem[] =>
  problems.map((problem) => ({ ...problem, file }));
