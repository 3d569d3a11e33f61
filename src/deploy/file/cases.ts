import { graphConfigPathProblem } from '../../contract/control/field-values.ts';
import { isObject } from '../../kit/json-object.ts';
import { eachOnce, type FieldPath, type Problem, type SourcePositions } from '../../kit/diagnostics/problem.ts';
import { labelOf, readCaseFile, rowProblem, type CaseFile, type CaseRow } from './case-file.ts';
import { readDrafts } from './deploy-file.ts';
import { fieldProblem, type Draft } from './draft.ts';
import { compilePath } from './json-path.ts';
import { expectOf, withValues, type MappedCase, mapPromptfoo } from './promptfoo.ts';
import { maxSmokeTests } from './written-smoke-test.ts';

/** The files that smoke tests may name in `cases`. */
export interface CaseFiles {
  /** The text of a file, or why it is not read: a clause that follows the name of the field. */
  read(path: string): { text: string } | { why: string };
  /** Reports how many cases a file has. */
  counted?(path: string, cases: number): unknown;
}

/** One smoke test of the list, and where it is from. */
interface Entry {
  value: unknown;
  /** Its index, or that of the test that names the file. */
  index: number;
  row?: CaseRow;
  sources?: MappedCase['sources'];
}

const defaultAnswer = '$.messages[-1].content';

/** The draft with its cases, what is wrong with them, and what of their files is left out on purpose. */
interface ExpandedCases {
  draft: Draft;
  problems: Problem[];
  notes: string[];
}

/** Replaces each smoke test that names a file of cases by one for each case. They are validated like all others. */
export function expandCases(draft: Draft, files: CaseFiles | undefined): ExpandedCases {
  const written = draft.fields.get('smoke-tests');
  const tests: unknown = written?.value;
  if (!written || !Array.isArray(tests) || tests.length > maxSmokeTests || !tests.some(namesCases)) {
    return { draft, problems: [], notes: [] };
  }
  const problems: Problem[] = [];
  const skipped = new Map<string, string[]>();
  const entries: Entry[] = [];
  const known = new Map<string, CaseFile>();
  for (const [index, value] of tests.entries()) {
    const room = Math.max(0, maxSmokeTests - entries.length - (tests.length - index - 1));
    const expanded = namesCases(value) ? expand(value, index, room) : [];
    entries.push(...(expanded.length > 0 ? expanded : [{ value, index }]));
  }
  const value = entries.map((entry) => entry.value);
  const smokeTests = { ...written, value, places: placesOf(entries, written.places, written.within) };
  return {
    draft: { ...draft, fields: new Map([...draft.fields, ['smoke-tests', smokeTests]]) },
    problems: eachOnce(problems),
    notes: [...skipped].map(([path, types]) => skippedNote(path, types)),
  };

  function expand({ cases, answer = defaultAnswer, ...test }: NamesCases, index: number, room: number): Entry[] {
    // These two are reported with the test's other fields.
    if (graphConfigPathProblem(cases) !== undefined) return [];
    if (typeof answer !== 'string' || !compilePath(answer).ok) return [];
    const file = known.get(cases) ?? readCases(cases, index, room);
    if (!file) return [];
    known.set(cases, file);
    if (!file.ok) {
      problems.push(...file.problems);
      return [];
    }
    const { format, rows, defaults } = file;
    const mapped = rows.map((row) => {
      if (format === 'own') return mapOwn(row, test);
      return format === 'promptfoo'
        ? mapPromptfoo(row, { test, answer, defaults })
        : mapLangSmith(row, { test, answer });
    });
    problems.push(...mapped.flatMap((each) => each.problems));
    const left = mapped.flatMap((each) => each.skipped ?? []);
    if (left.length > 0) skipped.set(cases, [...(skipped.get(cases) ?? []), ...left]);
    const { 'skip-unmapped': _, ...whole } = test;
    return mapped.map(({ sources, over }, at) => {
      const row = rows[at];
      const label = row && labelOf(row, at);
      const name = typeof test['name'] === 'string' ? { name: `${test['name']}: ${label}` } : {};
      return { value: { ...whole, ...name, ...over }, index, ...(row ? { row, sources } : {}) };
    });
  }

  function readCases(path: string, index: number, room: number): CaseFile | undefined {
    const refuse = (message: string): undefined => {
      const at = ['smoke-tests', index, 'cases'];
      if (written) problems.push(fieldProblem(written, at, `\`smoke-tests[${index}].cases\` ${message}`));
    };
    if (!files) return refuse('is not read here. Write the cases as smoke tests, or deploy with the Action');
    const read = files.read(path);
    if ('why' in read) return refuse(read.why);
    const file = readCaseFile(read.text, path, room);
    if (file.ok) files.counted?.(path, file.rows.length);
    return file;
  }
}

/** How many types of checks a note names. */
const maxNamed = 10;

function skippedNote(path: string, types: readonly string[]): string {
  const distinct = [...new Set(types)];
  const named = [...distinct.slice(0, maxNamed), ...(distinct.length > maxNamed ? ['and others'] : [])].join(', ');
  return `${types.length} ${types.length === 1 ? 'check' : 'checks'} of ${path} ${types.length === 1 ? 'is' : 'are'} not run: ${named}`;
}

/** The files of cases that a deploy file names, each once, however much else is wrong with it. */
export function casePaths(deployFile: string, path: string): string[] {
  const drafts = readDrafts(deployFile, path);
  if (!drafts.ok) return [];
  const tests = drafts.drafts.flatMap(({ fields }): unknown => fields.get('smoke-tests')?.value);
  const paths = tests.filter(namesCases).map(({ cases }) => cases);
  return [...new Set(paths)].filter((each) => graphConfigPathProblem(each) === undefined);
}

type NamesCases = Record<string, unknown> & { cases: string };

const namesCases = (test: unknown): test is NamesCases => isObject(test) && typeof test['cases'] === 'string';

/** Where the parts of the list of tests were written: in the list itself, or in a file of cases. */
function placesOf(entries: readonly Entry[], places: SourcePositions, within: FieldPath): SourcePositions {
  const origin = ([list = '', at, ...part]: FieldPath): ReturnType<SourcePositions['origin'] & {}> => {
    const entry = entries[Number(at)];
    const source = entry?.sources?.findLast(([prefix]) => prefix.every((key, index) => key === part[index]));
    if (entry?.row && source) {
      return {
        places: entry.row.places,
        path: [...entry.row.at, ...source[1], ...part.slice(source[0].length)],
        within: [],
      };
    }
    return { places, path: entry ? [list, entry.index, ...part] : [list], within };
  };
  return {
    file: places.file,
    origin,
    placeOf: (path) => places.placeOf(origin(path).path),
    placeOfKey: (path) => places.placeOfKey(origin(path).path),
  };
}

function mapOwn(row: CaseRow, test: Record<string, unknown>): MappedCase {
  const { input, context, expect } = row.value;
  const keys = isObject(expect) ? Object.keys(expect) : [];
  return {
    over: {
      input,
      ...(context === undefined ? {} : { context }),
      ...(expect === undefined ? {} : { expect: isObject(expect) ? { ...expectOf(test), ...expect } : expect }),
    },
    sources: [
      ...['name', 'input', ...(context === undefined ? [] : ['context'])].map((key) => [[key], [key]] as const),
      ...(isObject(expect) ? [] : [[['expect'], ['expect']] as const]),
      ...keys.map(
        (key) =>
          [
            ['expect', key],
            ['expect', key],
          ] as const,
      ),
    ],
    problems: [],
  };
}

function mapLangSmith(row: CaseRow, { test, answer }: { test: Record<string, unknown>; answer: string }): MappedCase {
  const { inputs, outputs } = row.value;
  const problems: Problem[] = [];
  if (inputs !== undefined && !isObject(inputs)) problems.push(rowProblem(row, ['inputs'], 'must be a map'));
  if (!isObject(outputs) && outputs !== undefined && outputs !== null) {
    problems.push(rowProblem(row, ['outputs'], 'must be a map'));
  }
  const entries = Object.entries(isObject(outputs) ? outputs : {});
  const isText = entries.length === 1 && typeof entries[0]?.[1] === 'string';
  const { expect, sources } = withValues(
    test,
    entries.map(([key, equals]) => ({
      item: { path: isText ? answer : `$[${JSON.stringify(key)}]`, equals },
      from: ['outputs', key],
    })),
  );
  return { over: { input: inputs, expect }, problems, sources: [[['name'], []], [['input'], ['inputs']], ...sources] };
}
