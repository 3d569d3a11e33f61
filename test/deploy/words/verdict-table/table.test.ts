import { describe, expect, test } from 'vitest';
import type { ReportedComparison } from '../../../../src/contract/control/verdict.ts';
import { verdictTable } from '../../../../src/deploy/words/shown-verdict-table.ts';
import { latencyPlots } from '../../../../src/deploy/words/verdict-table/latency-plot.ts';
import { tableNotes } from '../../../../src/deploy/words/verdict-table/notes.ts';
import { measureValues, measureVerdict } from '../../../../src/deploy/words/verdict-table/measures.ts';
import type { TableTest } from '../../../../src/deploy/words/verdict-table/table.ts';

const exact: TableTest = {
  name: 'greets',
  kind: 'failed',
  attempts: 1,
  expectations: [
    { expected: 'status is success', seen: 'success', held: true },
    { expected: '$.reply contains "hello"', seen: '"bye | @all"', held: false },
  ],
  why: null,
  first_event_ms: 12,
  total_ms: 80,
};
const unproven: TableTest = {
  ...exact,
  kind: 'unproven',
  expectations: [],
  why: 'no answer in 3 attempts',
  first_event_ms: null,
  total_ms: null,
};
const rated: TableTest = {
  ...exact,
  name: 'knows refunds',
  kind: 'passed',
  attempts: 31,
  expectations: [],
  answers: 30,
  right_answers: 28,
  pass_rate: 0.9,
  low_rate: 0.6,
};
type Measure = ReportedComparison['measures'][number];
const measure = (name: string, verdict: Measure['verdict'], live: number, changed: number): Measure => ({
  measure: name,
  verdict,
  decides: true,
  p_value: 1,
  live,
  new: changed,
});
const compared: ReportedComparison = {
  answers: { live: 30, new: 30 },
  right_answers: { live: 29, new: 30 },
  unreachable: 0,
  beside: true,
  measures: [
    measure('pass-rate', 'no-worse', 29, 30),
    measure('total', 'worse', 1_000, 1_300),
    measure('nodes', 'no-worse', 1, 1),
    measure('tokens', 'not-measured', 0, 0),
    measure('cost', 'no-worse', 0.0012, 0.00121),
  ],
  times_ms: { live: [900, 1_000, 1_100], new: [1_200, 1_300, 1_400] },
};

describe('the table of verdicts', () => {
  test('has of tests of one answer no more columns than they fill', () => {
    expect(verdictTable([exact, unproven])).toEqual([
      '| test | verdict | attempts | first event | total | what was expected and seen |',
      '|---|---|---|---|---|---|',
      expect.stringMatching(
        /^\| greets \| ❌ failed \| 1 \| 12 ms \| 80 ms \| ✓ <code>status is success<\/code><br>✗ .* saw <code>"bye &#124; &#64;all"<\/code> \|$/,
      ),
      '| greets | ❔ unproven | 1 |  |  | no answer in 3 attempts |',
    ]);
    expect(verdictTable([unproven])[0]).toBe('| test | verdict | attempts | what was expected and seen |');
  });

  test('says of a rate what the answers exclude', () => {
    const [head, , row] = verdictTable([rated]);
    expect(head).toBe('| test | verdict | new | attempts | first event | total |');
    expect(row).toContain(
      '✅ passed: too many right for a pass rate of 60 % | 28 of 30<br>93.3 % &#40;78.7 to 98.2 %&#41; | 31 |',
    );
    expect(verdictTable([{ ...rated, kind: 'failed' }])[2]).toContain('too few right for a pass rate of 90 %');
    expect(verdictTable([{ ...rated, answers: 0, right_answers: 0 }])[0]).not.toContain('new');
  });

  test('puts the live revision beside the new one', () => {
    const [head, , row] = verdictTable([{ ...rated, comparison: compared }]);
    expect(head).toBe(
      '| test | verdict | live | new | change | time of an answer | cost | attempts | first event | total |',
    );
    expect(row).toContain('✅ passed: 30 of 30, live 29 of 30&#58; worse by total time');
    expect(row).toContain('| 29 of 30<br>96.7 % &#40;83.3 to 99.4 %&#41; | 30 of 30<br>100 % ');
    expect(row).toContain(
      '| &#43;3.3 points<br><strong>total time &#43;300 ms &#40;&#43;30 %&#41;</strong><br>nodes visited alike<br>cost &#43;0.00001 &#40;&#43;1 %&#41; |',
    );
    expect(row).toMatch(
      /<code>[▁-█·]{12}<\/code> live 1\.0 s<br><code>[▁-█·]{12}<\/code> new 1\.3 s<br>900 ms to 1\.4 s/,
    );
    expect(row).toContain('| 0.0012 → 0.00121 |');
  });
});

describe('below the table of verdicts', () => {
  const advice = { ...measure('nodes', 'undecided', 1, 2), decides: false };
  const other = {
    ...compared,
    beside: false,
    unreachable: 3,
    measures: [measure('pass-rate', 'no-worse', 29, 30), advice],
  };

  test('is what decided, what only advises, what was not reached, and when the live revision answered', () => {
    expect(tableNotes([{ ...rated, comparison: other }])).toEqual([
      'Decided by right answers. Only advice: nodes visited. The live revision answered before the new one, and not beside it.',
      'knows refunds: not decided: nodes visited; 3 attempts brought no answer.',
    ]);
    const [one, two] = tableNotes([
      { ...rated, comparison: compared },
      { ...rated, name: 'b', comparison: other },
    ]);
    expect(one).toBe('knows refunds: Decided by right answers, total time, nodes visited and cost.');
    expect(two).toMatch(/^b: Decided by right answers\. Only advice/);
    expect(verdictTable([{ ...rated, comparison: other }]).slice(-2)[0]).toMatch(/^- Decided by right answers/);
  });

  test('is nothing that the rows say already', () => {
    expect(tableNotes([exact, unproven, rated])).toEqual([]);
    expect(tableNotes([{ ...unproven, comparison: other }])).toHaveLength(1);
    expect(tableNotes([{ ...unproven, comparison: { ...other, measures: [] } }])).toEqual([]);
  });
});

describe('the plot of two distributions', () => {
  test('has one scale for both, across and in height', () => {
    const plots = latencyPlots([100, 100, 100, 100], [100, 200, 300, 340]);
    expect(plots?.lines.map(({ plot }) => plot)).toEqual(['█···········', '▂····▂····▂▂']);
    expect(plots).toMatchObject({ scale: '100 ms to 340 ms', lines: [{ median: '100 ms' }, { median: '250 ms' }] });
  });

  test('keeps its scale where one answer took very long', () => {
    const usual = Array.from({ length: 40 }, (_, index) => 100 + index);
    expect(latencyPlots(usual, [...usual.slice(1), 60_000])?.scale).toBe('100 ms to over 137 ms');
  });

  test('is left out where there is nothing to draw', () => {
    expect(latencyPlots([], [1])).toBeUndefined();
    expect(latencyPlots([7, 7], [7])).toBeUndefined();
  });
});

test.each([
  ['tokens', 500, 1_000, ['500', '1000', '+500 (+100 %)']],
  ['cost', 0.0025, 0.00125, ['0.0025', '0.00125', '-0.00125 (-50 %)']],
  ['first-event', 0, 40, ['0 ms', '40 ms', '+40 ms']],
  ['total', 41_300, 41_300, ['41 s', '41 s', '0 ms (0 %)']],
  ['nodes', 1, 2, ['1 path', '2 paths', '']],
])('%s from %d to %d', (name, live, changed, values) => {
  expect(measureValues({ measure: name, verdict: '', live, changed })).toEqual(values);
});

test('calls paths changed or alike, and all else worse or no worse', () => {
  const words = (name: string) =>
    ['worse', 'no-worse', 'undecided'].map((verdict) => measureVerdict({ measure: name, verdict }));
  expect(words('node-order')).toEqual(['changed', 'alike', 'undecided']);
  expect(words('total')).toEqual(['worse', 'no worse', 'undecided']);
});
