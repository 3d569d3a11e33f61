import type { ComparedTest, Comparison } from '../deploy/compare.ts';
import type { Measure, Measured } from '../planning/compare.ts';
import { interval, percent } from '../sequential-test.ts';

const names: Record<Measure, string> = {
  'pass-rate': 'right answers',
  'first-event': 'first event',
  total: 'total time',
  nodes: 'nodes visited',
  'node-order': 'order of nodes',
  tokens: 'tokens',
};

const words: Record<Measured['verdict'], string> = {
  worse: 'worse',
  'no-worse': 'no worse',
  undecided: 'undecided',
  'not-measured': 'not measured',
};

/** Nodes are not better or worse, but alike or not. */
const alike: Partial<Record<Measured['verdict'], string>> = { worse: 'changed', 'no-worse': 'alike' };

const isPath = (measure: Measure): boolean => measure === 'nodes' || measure === 'node-order';
const wordsOf = ({ measure, verdict }: Measured): string =>
  (isPath(measure) ? alike[verdict] : undefined) ?? words[verdict];

/** The comparison as a table, a line for each measure of each test, and what was undecided. */
export function comparisonLines({ kind, tests }: Comparison): string[] {
  const header = ['probe', 'measure', 'live', 'new', 'change', 'verdict'];
  const rows = tests.flatMap((test) =>
    test.measures
      .filter(({ verdict }) => verdict !== 'not-measured')
      .map((measured) => [test.name, names[measured.measure], ...valuesOf(test, measured), wordsOf(measured)]),
  );
  const widths = header.map((name, column) =>
    Math.max(...[[...header], ...rows].map((row) => (row[column] ?? name).length)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return [line(header), ...rows.map(line), ...tests.map(sentenceOf), `Outcome: ${words[kind]}`];
}

function valuesOf({ pairs, right }: ComparedTest, { measure, live, changed }: Measured): string[] {
  if (measure === 'pass-rate') {
    const points = Number((((right.changed - right.live) / pairs) * 100).toFixed(1));
    return [rate(right.live, pairs), rate(right.changed, pairs), `${signed(points)} points`];
  }
  if (isPath(measure)) return [live, changed].map((count) => `${count} ${count === 1 ? 'path' : 'paths'}`).concat('');
  const unit = measure === 'tokens' ? '' : ' ms';
  const share = live > 0 ? ` (${signed(Math.round((changed / live - 1) * 100))} %)` : '';
  const change = `${signed(Math.round(changed - live))}${unit}${share}`;
  return [`${Math.round(live)}${unit}`, `${Math.round(changed)}${unit}`, change];
}

const signed = (value: number): string => (value > 0 ? `+${value}` : String(value));

function rate(right: number, of: number): string {
  const { low, high } = interval(right, of);
  return `${right} of ${of} (${percent(low).replace(' %', '')} to ${percent(high)})`;
}

function sentenceOf(test: ComparedTest): string {
  const { name, pairs, right, unreachable, measures } = test;
  const missing = unreachable === 0 ? '' : `; ${unreachable} pairs without an answer are left out`;
  if (pairs === 0) return `${name}: undecided, no pair of requests was answered by both${missing}`;
  const named = (verdict: Measured['verdict']) =>
    measures.filter((each) => each.verdict === verdict).map(({ measure }) => names[measure]);
  const [worse, undecided] = [named('worse'), named('undecided')];
  const decided = worse.length > 0 ? `worse by ${worse.join(', ')}` : undecided.length > 0 ? 'undecided' : 'no worse';
  const open =
    undecided.length > 0
      ? `; undecided: ${undecided.join(', ')}, which about ${pairs * 2} pairs (--tries) may decide`
      : '';
  return `${name}: ${right.changed} of ${pairs}, live ${right.live} of ${pairs}: ${decided}${open}${missing}`;
}

/** The comparison as `--json` prints it. */
export const comparisonJson = ({ kind, tests }: Comparison): unknown => ({
  outcome: kind,
  passes: kind === 'no-worse',
  tests: tests.map(({ name, pairs, right, unreachable, measures }) => ({
    name,
    pairs,
    unreachable,
    right: { live: right.live, new: right.changed },
    measures: measures.map(({ measure, verdict, chance, live, changed }) => ({
      measure,
      verdict,
      p_value: chance,
      live,
      new: changed,
    })),
  })),
});
