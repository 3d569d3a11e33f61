import { isObject } from '../../kit/json-object.ts';
import { didYouMean } from '../../kit/diagnostics/did-you-mean.ts';
import { kindOf } from '../../kit/diagnostics/format-issue.ts';
import { maxTextLength, parseText } from '../../kit/diagnostics/parse.ts';
import {
  fieldName,
  shortName,
  type FieldPath,
  type Problem,
  type SourcePositions,
} from '../../kit/diagnostics/problem.ts';

/** One row of a file of cases, and its path within the text that it was read from. */
export interface CaseRow {
  value: Record<string, unknown>;
  places: SourcePositions;
  at: FieldPath;
}

/** Ours, promptfoo's tests, or the examples of a dataset of LangSmith. */
export type CaseFormat = 'own' | 'promptfoo' | 'langsmith';

/** A file of cases; `defaults` is what promptfoo lays under each of its tests. */
export type CaseFile =
  { ok: true; format: CaseFormat; rows: CaseRow[]; defaults?: CaseRow } | { ok: false; problems: Problem[] };

/** A problem of a row, at `path` within it. */
export function rowProblem({ places, at }: Omit<CaseRow, 'value'>, path: FieldPath, message: string): Problem {
  const whole = [...at, ...path];
  const field = fieldName(whole);
  return { file: places.file, ...places.placeOf(whole), field, message: field ? `\`${field}\` ${message}` : message };
}

/** The keys of a map that are not among the known ones: what they say would be lost. */
export const strayKeys = (
  row: Omit<CaseRow, 'value'>,
  value: object,
  known: string,
  within: FieldPath = [],
): Problem[] =>
  Object.keys(value)
    .filter((key) => !known.split(' ').includes(key))
    .map((key) => ({
      ...rowProblem(row, [...within, key], 'is not supported here: remove it'),
      ...row.places.placeOfKey([...row.at, ...within, key]),
      suggestion: didYouMean(key, known.split(' ')),
    }));

/**
 * Longer files of JSON or JSON lines (characters) are not read, and neither are longer ones of YAML than a deploy file
 * may have, nor more cases than one deployment may have smoke tests.
 */
export const maxCaseFileLength = 1_000_000;

const keysOfRow: Record<CaseFormat, string> = {
  own: 'name id input expect context',
  promptfoo: 'description vars assert metadata',
  langsmith: 'id name inputs outputs metadata dataset_id created_at modified_at source_run_id split',
};

/** What promptfoo's file says beside its tests: which prompts and models it sends, and where its results go. */
const besideTests =
  'tests defaultTest description prompts providers targets outputPath evaluateOptions commandLineOptions sharing tags metadata $schema';

/** Reads a file of cases: JSON, JSON lines or YAML, in one of the three formats, which its content shows. */
export function readCaseFile(text: string, file: string, most: number): CaseFile {
  const start = { file, line: 1, column: 1, field: '' };
  const refused = (message: string): CaseFile => ({ ok: false, problems: [{ ...start, message }] });
  if (text.length > maxCaseFileLength) return refused(`this is longer than ${maxCaseFileLength} characters: split it`);
  const lines = readJsonLines(text, file, most);
  if (lines && lines.count > most) return refused(tooMany(lines.count, most));
  const isJson = lines !== undefined || isWholeJson(text, file);
  if (!isJson && text.length > maxTextLength) return refused(longYaml);
  const texts = lines ? lines.rows : [{ line: text, index: 0 }];
  const problems: Problem[] = [];
  const items: (Omit<CaseRow, 'value'> & { value: unknown })[] = [];
  let defaults: CaseRow | undefined;
  let isPromptfoo = false;
  let count = 0;
  const addAll = (values: readonly unknown[], places: SourcePositions, within: FieldPath | undefined): void => {
    count += values.length;
    for (const [at, value] of values.slice(0, most).entries()) {
      items.push({ value, places, at: within ? [...within, at] : [] });
    }
  };
  for (const { line, index } of texts) {
    const parsed = parseText(line, file, { longest: maxCaseFileLength, isJson });
    const lower = <T extends { line: number }>(place: T): T => ({ ...place, line: place.line + index });
    if (!parsed.ok) {
      problems.push(...parsed.problems.map(lower));
      continue;
    }
    const places: SourcePositions = {
      file,
      placeOf: (path) => lower(parsed.placeOf(path)),
      placeOfKey: (path) => lower(parsed.placeOfKey(path)),
    };
    const { value } = parsed;
    if (isObject(value) && 'tests' in value && !lines) {
      const root = { places, at: [] };
      isPromptfoo = true;
      problems.push(...strayKeys(root, value, besideTests));
      const { tests, defaultTest } = value;
      if (isObject(defaultTest)) defaults = { value: defaultTest, places, at: ['defaultTest'] };
      else if (defaultTest !== undefined) problems.push(rowProblem(root, ['defaultTest'], 'must be a map'));
      if (Array.isArray(tests)) addAll(tests, places, ['tests']);
      else problems.push(rowProblem(root, ['tests'], `must be a list of tests, not ${kindOf(tests)}`));
    } else if (Array.isArray(value)) addAll(value, places, []);
    else addAll([value], places, undefined);
  }
  if (problems.length > 0) return { ok: false, problems };
  if (count > most) return refused(tooMany(count, most));
  const rows = items.flatMap(({ value, ...row }) => (isObject(value) ? [{ value, ...row }] : []));
  const format = isPromptfoo ? 'promptfoo' : formatOf(rows);
  if (format === undefined) {
    return refused(
      'this has no cases in a format that is read: rows with `input`, tests of promptfoo with `vars` or `assert`, or examples of LangSmith with `inputs`',
    );
  }
  if (items.length === 0) return refused('this has no cases: write at least one');
  for (const item of items) {
    if (isObject(item.value)) problems.push(...strayKeys(item, item.value, keysOfRow[format]));
    else problems.push(rowProblem(item, [], `must be a map, not ${kindOf(item.value)}`));
  }
  if (defaults) problems.push(...strayKeys(defaults, defaults.value, keysOfRow.promptfoo));
  return problems.length > 0 ? { ok: false, problems } : { ok: true, format, rows, ...(defaults ? { defaults } : {}) };
}

/** JSON by its name; or by its look, where it is too long to be YAML. */
const isWholeJson = (text: string, file: string): boolean =>
  file.endsWith('.json') || (text.length > maxTextLength && /^\s*[[{]/.test(text));

const longYaml = `this is longer than ${maxTextLength} characters, which is too long for YAML: split it, or write its cases as JSON lines, one case a line`;

const tooMany = (count: number, most: number): string =>
  `this has ${count} cases, and ${most} are allowed, as all smoke tests of a deployment together are at most 100`;

function formatOf(rows: readonly CaseRow[]): CaseFormat | undefined {
  for (const { value } of rows) {
    if ('inputs' in value) return 'langsmith';
    if ('vars' in value || 'assert' in value) return 'promptfoo';
    if ('input' in value) return 'own';
  }
  return undefined;
}

/** What a row is called after the test's name. */
export function labelOf({ value: { name, description, id } }: CaseRow, index: number): string {
  const written = [name, description, id].filter((each) => typeof each === 'string' || typeof each === 'number');
  return shortName(String(written.find((each) => each !== '') ?? index + 1));
}

/** The lines of a text in JSON lines that are not blank: the first of them, and how many there are. */
interface JsonLines {
  /** With the number of the line, from 0. */
  rows: readonly { line: string; index: number }[];
  count: number;
}

/**
 * Splits JSON lines, in one pass and without holding more than `most` of them. A text is taken for JSON lines by its
 * file's name, or where each of several lines is in braces; undefined for any other text.
 */
function readJsonLines(text: string, file: string, most: number): JsonLines | undefined {
  const isNamed = /\.(?:jsonl|ndjson)$/i.test(file);
  const rows: { line: string; index: number }[] = [];
  let count = 0;
  for (let from = 0, index = 0; from <= text.length; index += 1) {
    const found = text.indexOf('\n', from);
    const end = found === -1 ? text.length : found;
    const line = text.slice(from, end);
    from = end + 1;
    const written = line.trim();
    if (written === '') continue;
    if (!isNamed && !(written.startsWith('{') && written.endsWith('}'))) return undefined;
    count += 1;
    if (count <= most) rows.push({ line, index });
  }
  return isNamed || count > 1 ? { rows, count } : undefined;
}
