import type { ComparedTest, Comparison } from '../deploy/compare.ts';
import type { Measured } from '../planning/compare.ts';
import { latencyPlots } from '../verdict-table/latency-plot.ts';
import { measureName, measureValues, measureVerdict, pointsText } from '../verdict-table/measures.ts';
import { comparedText } from '../verdict-table/table.ts';
import { rateText } from '../verdict-table/words.ts';

/** The comparison as a table, a line for each measure of each test, how long the answers took, and what was undecided. */
export function comparisonLines({ kind, tests }: Comparison): string[] {
  const header = ['test', 'measure', 'live', 'new', 'change', 'verdict'];
  const rows = tests.flatMap((test) =>
    test.measures
      .filter(({ verdict }) => verdict !== 'not-measured')
      .map((measured) => [
        test.name,
        measureName(measured.measure),
        ...valuesOf(test, measured),
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
  const plots = tests.flatMap(({ name, times }) => {
    const drawn = latencyPlots(times.live, times.changed);
    if (!drawn) return [];
    const shown = drawn.lines.map(({ name: agent, plot, median }) => `  ${agent.padEnd(4)} ${plot} median ${median}`);
    return [`${name}: time of an answer, ${drawn.scale}`, ...shown];
  });
  const outcome = measureVerdict({ measure: 'pass-rate', verdict: kind });
  return [line(header), ...rows.map(line), ...plots, ...tests.map(sentenceOf), `Outcome: ${outcome}`];
}

function valuesOf({ pairs, right }: ComparedTest, measured: Measured): string[] {
  if (measured.measure !== 'pass-rate') return measureValues(measured);
  const rate = (count: number): string => `${count} of ${pairs}, ${rateText({ right: count, answers: pairs })}`;
  return [rate(right.live), rate(right.changed), pointsText(right.live / pairs, right.changed / pairs)];
}

function sentenceOf(test: ComparedTest): string {
  const { name, pairs, right, unreachable, measures, needed } = test;
  const missing = unreachable === 0 ? '' : `; ${unreachable} pairs without an answer are left out`;
  if (pairs === 0) return `${name}: undecided, no pair of attempts was answered by both${missing}`;
  const undecided = measures.filter(({ verdict }) => verdict === 'undecided').map((each) => measureName(each.measure));
  const takes =
    needed === undefined
      ? `which ${pairs * 3} pairs like these would not decide either`
      : `which about ${needed} pairs (--tries) would decide if the others are like these`;
  const open = undecided.length > 0 ? `; undecided: ${undecided.join(', ')}, ${takes}` : '';
  const counted = (count: number) => ({ right: count, answers: pairs });
  const text = comparedText({ live: counted(right.live), changed: counted(right.changed), measures });
  return `${name}: ${text}${open}${missing}`;
}

/** The comparison as `--json` prints it. */
export const comparisonJson = ({ kind, tests }: Comparison): unknown => ({
  outcome: kind,
  passes: kind === 'no-worse',
  tests: tests.map(({ name, pairs, right, unreachable, measures, needed }) => ({
    name,
    pairs,
    pairs_needed: needed ?? null,
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
