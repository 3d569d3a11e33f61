import { expect, test } from 'vitest';
import { verdictReport } from '../../../src/contract/control/verdict.ts';
import { maskOf } from '../../../src/contract/masking/mask.ts';
import { toVerdictReport } from '../../../src/deploy/rules/verdict-report.ts';
import type { Comparison, ExpectationResult, NamedVerdict, Verdict } from '../../../src/deploy/rules/verdict-types.ts';

const expectation = { kind: 'status', equals: 'success' } as const;
const result = (expected: string, seen: string, held = false): ExpectationResult => ({
  expectation,
  expected,
  seen,
  held,
});
const reporting = { reporter: 'action' as const, redact: maskOf(['canary-secret']) };
const tested = (name: string, held: ExpectationResult[]): NamedVerdict => ({
  name,
  attempts: 2,
  verdict: { kind: 'failed', held, firstEventMs: undefined, totalMs: 9 },
});

test('reports what was expected and seen, without secrets', () => {
  const verdict: Verdict = {
    kind: 'failed',
    tests: [
      tested('canary-secret', [result('is canary-secret', 'canary-secret\0', true)]),
      { name: 'b', attempts: 1, verdict: { kind: 'unproven', because: 'denied', why: 'canary-secret was refused' } },
    ],
  };
  const report = toVerdictReport(verdict, { ...reporting, detailsUrl: 'https://github.com/a/b/actions/runs/1' });
  const hidden = maskOf(['canary-secret'])('canary-secret');
  expect(report).toEqual({
    kind: 'failed',
    reporter: 'action',
    details_url: 'https://github.com/a/b/actions/runs/1',
    tests: [
      {
        name: hidden,
        kind: 'failed',
        attempts: 2,
        expectations: [{ expected: `is ${hidden}`, seen: hidden, held: true }],
        why: null,
        first_event_ms: null,
        total_ms: 9,
      },
      {
        name: 'b',
        kind: 'unproven',
        attempts: 1,
        expectations: [],
        why: `${hidden} was refused`,
        first_event_ms: null,
        total_ms: null,
      },
    ],
  });
});

test('reports nothing where nothing was tested', () => {
  expect(toVerdictReport({ kind: 'none', tests: [] }, reporting)).toBeUndefined();
});

test.each([
  ['a long text, and half of a surrogate pair', 1, 1, `${'x'.repeat(1_999)}\u{1f600}`, 1],
  ['many expectations', 3, 60, 'x'.repeat(200), 50],
  ['many tests', 120, 60, 'x'.repeat(2_000), 0],
])('fits %s into what a service takes', (_, tests, expectations, text, shown) => {
  const held = Array.from({ length: expectations }, () => result(text, text));
  const verdict: Verdict = { kind: 'failed', tests: Array.from({ length: tests }, (__, at) => tested(`${at}`, held)) };
  const report = verdictReport.parse(toVerdictReport(verdict, reporting));
  expect(report.tests).toHaveLength(Math.min(tests, 100));
  expect(report.tests[0]?.expectations).toHaveLength(shown);
  for (const { seen } of report.tests[0]?.expectations ?? []) expect(seen.isWellFormed()).toBe(true);
});

test('reports a comparison to a service that takes it, with as many times as fit', () => {
  const times = Array.from({ length: 300 }, (_, index) => 100_000 + index);
  const comparison: Comparison = {
    live: { right: 299, answers: 300 },
    changed: { right: 300, answers: 300 },
    unreachable: 1,
    measures: [{ measure: 'total', verdict: 'worse', decides: false, chance: 0.001, live: 1_000, changed: 1_300 }],
    times: { live: times, changed: [7, 8] },
    isBeside: true,
  };
  const against: NamedVerdict = {
    name: 'against',
    attempts: 602,
    verdict: { kind: 'passed', held: [], firstEventMs: 1, totalMs: 2, comparison },
  };
  const verdict: Verdict = { kind: 'passed', tests: [against] };
  const report = toVerdictReport(verdict, { ...reporting, comparisons: true });
  expect(verdictReport.safeParse(report).success).toBe(true);
  expect(report?.tests[0]?.comparison).toMatchObject({
    answers: { live: 300, new: 300 },
    right_answers: { live: 299, new: 300 },
    measures: [{ measure: 'total', verdict: 'worse', decides: false, p_value: 0.001, live: 1_000, new: 1_300 }],
    times_ms: { new: [7, 8] },
  });
  expect(report?.tests[0]?.comparison?.times_ms.live).toHaveLength(160);
  const many: Verdict = { kind: 'passed', tests: Array.from({ length: 100 }, () => against) };
  const shorter = toVerdictReport(many, { ...reporting, comparisons: true });
  expect(verdictReport.safeParse(shorter).success).toBe(true);
  expect(shorter?.tests[99]?.comparison?.times_ms.live.length).toBeLessThan(160);
  expect(toVerdictReport(verdict, reporting)?.tests[0]).not.toHaveProperty('comparison');
});
