import { formatComparison } from './format-comparison.ts';
import { toReportedComparison } from '../rules/verdict-report.ts';
import type { Comparison, Measured, NamedVerdict, Verdict } from '../rules/verdict-types.ts';
import { latencyPlots } from './verdict-table/latency-plot.ts';
import { measureName, measureValues, measureVerdict, pointsText } from './verdict-table/measures.ts';
import { asLine } from './sanitize.ts';
import { rateText, type RightAnswers } from './verdict-table/words.ts';

const outcomes = { failed: 'worse', passed: 'no-worse', unproven: 'undecided', none: 'undecided' } as const;

/** The comparison as a table, a line for each measure of each test, how long the answers took, and what was undecided. */
export function comparisonLines({ kind, tests }: Verdict): string[] {
  const header = ['test', 'measure', 'live', 'new', 'change', 'verdict'];
  const compared = tests.flatMap(({ name, verdict: { comparison } }) => (comparison ? [{ name, comparison }] : []));
  const rows = compared.flatMap(({ name, comparison }) =>
    comparison.measures
      .filter(({ verdict }) => verdict !== 'not-measured')
      .map((measured) => [
        name,
        measureName(measured.measure),
        ...valuesOf(comparison, measured),
        measureVerdict(measured),
      ]),
  );
  const widths = header.map((name, column) =>
    Math.max(...[[...header], ...rows].map((row) => (row[column] ?? name).length)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  const plots = compared.flatMap(({ name, comparison: { times } }) => {
    const drawn = latencyPlots(times.live, times.changed);
    if (!drawn) return [];
    const shown = drawn.lines.map(({ name: agent, plot, median }) => `  ${agent.padEnd(4)} ${plot} median ${median}`);
    return [`${name}: answer times from ${drawn.scale}`, ...shown];
  });
  const outcome = outcomes[kind].replace('-', ' ');
  return [line(header), ...rows.map(line), ...plots, ...tests.map(sentenceOf), `Outcome: ${outcome}`];
}

function valuesOf({ live, changed }: Comparison, measured: Measured): string[] {
  if (measured.measure !== 'pass-rate') return measureValues(measured);
  const rate = (counted: RightAnswers): string => `${counted.right} of ${counted.answers}, ${rateText(counted)}`;
  return [rate(live), rate(changed), pointsText(live.right / live.answers, changed.right / changed.answers)];
}

function sentenceOf({ name, verdict }: NamedVerdict): string {
  if (verdict.comparison) {
    const { example } = verdict.comparison;
    const shown = example
      ? `\n  for example ${example.of}: ${asLine(example.expected, 200)} was expected, ${asLine(example.seen, 300)} was seen`
      : '';
    return `${name}: ${formatComparison(verdict.comparison)}${shown}`;
  }
  if (verdict.kind === 'unproven') return `${name}: undecided, ${verdict.why}`;
  const seen = verdict.held.map(({ held, expected, seen: found }) => (held ? expected : found));
  return `${name}: ${[verdict.kind, ...seen].join('\n  ')}`;
}

/** An agent that was compared: where it answered, or when its kept answers were taken. */
interface ComparedAgentJson {
  address: string | null;
  revision_id: string | null;
  kept_at: string | null;
}

/** The comparison as `--json` prints it. */
export const comparisonJson = (
  { kind, tests }: Verdict,
  agents: { live: ComparedAgentJson; new: ComparedAgentJson },
): unknown => ({
  outcome: outcomes[kind],
  passes: kind === 'passed',
  ...agents,
  tests: tests.map(({ name, verdict, verdict: { comparison } }) => ({
    name,
    pairs: comparison?.changed.answers ?? 0,
    pairs_needed: comparison?.needed ?? null,
    unreachable: comparison?.unreachable ?? 0,
    right: { live: comparison?.live.right ?? 0, new: comparison?.changed.right ?? 0 },
    example: comparison?.example ?? null,
    measures: comparison ? toReportedComparison(comparison, 0).measures : [],
    ...(comparison || verdict.kind === 'unproven'
      ? {}
      : { expectations: verdict.held.map(({ expected, held, seen }) => ({ expected, held, seen })) }),
  })),
});
