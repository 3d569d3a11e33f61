import { isObject } from '../../kit/json-object.ts';
import type { FieldPath, Problem } from '../../kit/diagnostics/problem.ts';
import { quoted } from '../../kit/diagnostics/format-issue.ts';
import { rowProblem, strayKeys, type CaseRow } from './case-file.ts';

interface Assertion {
  row: CaseRow;
  path: FieldPath;
  written: unknown;
}

/** Expectations of the answer, without its path. */
type Item = Record<string, unknown>;

/** A test of promptfoo as a smoke test: its `vars` fill the test's `input`, its assertions are held against the answer. */
export function mapPromptfoo(
  row: CaseRow,
  { test, answer, defaults }: { test: Record<string, unknown>; answer: string; defaults: CaseRow | undefined },
): MappedCase {
  const problems: Problem[] = [];
  const skipped: string[] = [];
  const vars: Record<string, unknown> = {};
  const assertions: Assertion[] = [];
  const limits: { ms: number; from: FieldPath }[] = [];
  for (const each of defaults ? [defaults, row] : [row]) readTest(each);
  const { input } = test;
  if (input === undefined) {
    const names = Object.keys(vars).map((name) => `{{${name}}}`);
    const message = `needs an \`input\` in the smoke test that names this file, in whose texts the vars are put, for example ${quoted(names.slice(0, 1))}`;
    problems.push(rowProblem(row, ['vars'], message));
  }
  const filled = fill(input, vars, (why) => {
    problems.push(rowProblem(row, ['vars'], `does not fit the smoke test's \`input\`: ${why}`));
  });
  const values = assertions.flatMap((each) =>
    itemsOf(each).map((item) => ({ item: { path: answer, ...item }, from: each.row === row ? each.path : [] })),
  );
  const { expect, sources } = withValues(test, values);
  const [limit] = limits.toSorted((one, other) => one.ms - other.ms);
  return {
    over: { input: filled ?? null, expect: { ...expect, ...(limit ? { 'total-within': `${limit.ms}ms` } : {}) } },
    problems,
    skipped,
    sources: [
      [['name'], ['description']],
      [['input'], ['vars']],
      ...(limit ? [[['expect', 'total-within'], limit.from] as const] : []),
      ...sources,
    ],
  };

  function readTest(each: CaseRow): void {
    const { vars: own = {}, assert = [] } = each.value;
    if (!isObject(own)) problems.push(rowProblem(each, ['vars'], 'must be a map: files of vars are not read'));
    else
      for (const [name, value] of Object.entries(own)) {
        if (Array.isArray(value))
          problems.push(
            rowProblem(each, ['vars', name], 'is a list, which makes several tests: write a test for each'),
          );
        else if (isFile(value))
          problems.push(rowProblem(each, ['vars', name], 'is a file, which is not read: write its text'));
        vars[name] = value;
      }
    if (!Array.isArray(assert)) problems.push(rowProblem(each, ['assert'], 'must be a list'));
    else assertions.push(...assert.map((written, at) => ({ row: each, path: ['assert', at], written })));
  }

  function itemsOf({ row: of, path, written }: Assertion): Item[] {
    const refuse = (message: string, ...key: string[]): Item[] => {
      problems.push(rowProblem(of, [...path, ...key], message));
      return [];
    };
    if (!isObject(written) || typeof written['type'] !== 'string') return refuse('must be a map with a `type`');
    const { type } = written;
    const map = mappings.get(type.replace(/^not-/, ''));
    const graded = gradedTypes.get(type);
    if (type !== 'latency' && !graded && (!map || /^not-.*-json$/.test(type))) {
      if (isSkipped(test['skip-unmapped'], type)) {
        skipped.push(shortType(type));
        return [];
      }
      return refuse(
        `is of the type \`${shortType(type)}\`, which is not supported. Remove it, or leave such out with \`skip-unmapped: [${shortType(type)}]\` in the smoke test`,
      );
    }
    problems.push(...strayKeys(of, written, `type metric ${keysOf(type)}`, path));
    if (isFile(written['value'])) return refuse('is a file, which is not read: write its text', 'value');
    const value = fill(written['value'], vars, (why) => refuse(`is not read: ${why}`, 'value'));
    if (type === 'latency') {
      const { threshold } = written;
      if (typeof threshold !== 'number') return refuse('needs a `threshold` in milliseconds');
      limits.push({ ms: threshold, from: of === row ? path : [] });
      return [];
    }
    if (graded) {
      const { grader } = test;
      if (!isObject(grader) || grader[graded.model] === undefined) {
        if (isSkipped(test['skip-unmapped'], type)) {
          skipped.push(type);
          return [];
        }
        return refuse(`needs a \`grader\` with \`${graded.model}\` in the smoke test, or \`skip-unmapped\``);
      }
      const made = typeof value === 'string' ? graded.map(value, written['threshold']) : undefined;
      return made ? [made] : refuse('is not what an assertion of this type takes', 'value');
    }
    const item = map?.(value);
    if (!item) return refuse('is not what an assertion of this type takes', 'value');
    return [type.startsWith('not-') ? { schema: negated(item) } : item];
  }
}

/** What a model grades there: it advises, as every model that is not said to decide. */
const gradedTypes = new Map<string, { model: string; map: (value: string, threshold: unknown) => Item | undefined }>([
  ['llm-rubric', { model: 'model', map: (judge) => ({ judge }) }],
  [
    'similar',
    {
      model: 'embedding-model',
      // The default there.
      map: (text, atLeast = 0.75) => ({ 'similar-to': text, by: 'meaning', 'at-least': atLeast }),
    },
  ],
]);

const keysOf = (type: string): string =>
  type === 'latency' ? 'threshold' : type === 'similar' ? 'value threshold' : 'value';

/** Whether assertions of a type are left out on purpose: all that have no counterpart, or those that are named. */
const isSkipped = (skip: unknown, type: string): boolean =>
  skip === true || (Array.isArray(skip) && skip.includes(type));

const shortType = (type: string): string => type.slice(0, 40).replaceAll(/[^\w:-]/g, '');

const isFile = (value: unknown): boolean => typeof value === 'string' && value.startsWith('file://');

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
const matches = (pattern: string): Item => ({ matches: pattern });
const ofText = (make: (text: string) => Item) => (value: unknown) =>
  typeof value === 'string' || typeof value === 'number' ? make(String(value)) : undefined;
const texts = (value: unknown): string[] | undefined =>
  Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string')
    ? value.map(escaped)
    : undefined;
const anyOf = (flags: string) => (value: unknown) => {
  const list = texts(value);
  return list && matches(`${flags}(${list.join('|')})`);
};
const allOf = (flags: string) => (value: unknown) => {
  const list = texts(value);
  return list && { schema: { type: 'string', allOf: list.map((each) => ({ pattern: `${flags}${each}` })) } };
};

/** What each type of assertion expects; undefined where its value is not of the right kind. */
const mappings = new Map<string, (value: unknown) => Item | undefined>(
  Object.entries({
    equals: (value: unknown) => {
      if (value === undefined) return undefined;
      // The text of a number is equal to it there.
      return typeof value === 'number' ? { schema: { enum: [value, String(value)] } } : { equals: value };
    },
    contains: ofText((text) => ({ contains: text })),
    icontains: ofText((text) => matches(`(?i)${escaped(text)}`)),
    regex: ofText(matches),
    'starts-with': ofText((text) => matches(`^${escaped(text)}`)),
    'contains-any': anyOf(''),
    'icontains-any': anyOf('(?i)'),
    'contains-all': allOf(''),
    'icontains-all': allOf('(?i)'),
    'is-json': (schema: unknown) => (schema === undefined || isObject(schema) ? { json: schema ?? {} } : undefined),
    'contains-json': (schema: unknown) =>
      schema === undefined || isObject(schema) ? { 'contains-json': schema ?? {} } : undefined,
  }),
);

/** The schema of what an expectation does not hold for; an answer that is no text has no text in it. */
function negated({ equals, contains, matches: pattern, schema }: Item): Record<string, unknown> {
  if (schema !== undefined) return { not: schema };
  if (pattern === undefined && contains === undefined) return { not: { const: equals } };
  return { not: { type: 'string', pattern: pattern ?? escaped(String(contains)) } };
}

/** The most characters of vars within the texts of one value: a few vars and references would make very many. */
const maxFilled = 100_000;

/**
 * Replaces `{{name}}` in all texts of a value; a text that is nothing else becomes the var itself. Reports the first
 * reason why it cannot.
 */
function fill(value: unknown, vars: Record<string, unknown>, refuse: (why: string) => void): unknown {
  let left = maxFilled;
  let why: string | undefined;
  const filled = fillIn(value);
  if (why !== undefined) refuse(why);
  return filled;

  function fillIn(part: unknown): unknown {
    if (Array.isArray(part)) return part.map(fillIn);
    if (isObject(part)) return Object.fromEntries(Object.entries(part).map(([key, each]) => [key, fillIn(each)]));
    if (typeof part !== 'string') return part;
    const whole = /^\{\{\s*([\w-]+)\s*\}\}$/.exec(part)?.[1];
    if (whole !== undefined && Object.hasOwn(vars, whole)) return vars[whole];
    return part.replaceAll(/\{\{([^{}]*)\}\}|\{[%#]/g, (_, name: string = '') => textOf(name.trim()));
  }

  function textOf(name: string): string {
    const found = Object.hasOwn(vars, name) ? vars[name] : undefined;
    const text = typeof found === 'string' ? found : (JSON.stringify(found) ?? '');
    left -= text.length;
    if (found === undefined) why ??= `only \`{{name}}\` of a var that it has is replaced, not \`${shortType(name)}\``;
    else if (left < 0) why ??= `more than ${maxFilled} characters of vars would be within its texts`;
    return left < 0 ? '' : text;
  }
}

/** What a row says of a smoke test, and which part of the row each part is from. */
export interface MappedCase {
  /** Its `input`, `context` and `expect`. */
  over: Record<string, unknown>;
  sources: (readonly [part: FieldPath, from: FieldPath])[];
  problems: Problem[];
  /** The types of assertions that were left out on purpose. */
  skipped?: string[];
}

/** What a test expects, as it was written. */
export const expectOf = (test: Record<string, unknown>): Record<string, unknown> =>
  isObject(test['expect']) ? test['expect'] : {};

/** Lays expectations of values after those of the test itself. */
export function withValues(
  test: Record<string, unknown>,
  values: readonly { item: Record<string, unknown>; from: FieldPath }[],
): { expect: Record<string, unknown>; sources: MappedCase['sources'] } {
  const expect = expectOf(test);
  const before: unknown[] = Array.isArray(expect['values']) ? expect['values'] : [];
  return {
    expect: { ...expect, values: [...before, ...values.map(({ item }) => item)] },
    sources: values.map(({ from }, index) => [['expect', 'values', before.length + index], from]),
  };
}
