import { expect, test } from 'vitest';
import { attributeVerdict, isReplaced } from '../../../src/deploy/rules/verdict-subject.ts';
import type { NamedVerdict, Verdict } from '../../../src/deploy/rules/verdict-types.ts';

const named = (kind: 'passed' | 'failed'): NamedVerdict => ({
  name: kind,
  attempts: 2,
  verdict: { kind, held: [], firstEventMs: 1, totalMs: 2 },
});
const verdictOf = (kind: 'passed' | 'failed'): Verdict => ({ kind, tests: [named('passed'), named(kind)] });

test.each(['passed', 'failed'] as const)('a verdict that is %s is about the revision that still serves', (kind) => {
  expect(attributeVerdict(verdictOf(kind), { tested: 'r1', active: 'r1' })).toEqual(verdictOf(kind));
  expect(isReplaced(verdictOf(kind))).toBe(false);
});

test.each([
  ['passed', 'r2'],
  ['failed', 'r2'],
  ['failed', null],
] as const)('a verdict that is %s proves nothing where %s serves by then', (kind, active) => {
  const verdict = attributeVerdict(verdictOf(kind), { tested: 'r1', active });
  expect(verdict).toMatchObject({ kind: 'unproven', tests: [{ name: 'passed', attempts: 2 }, { name: kind }] });
  expect(isReplaced(verdict)).toBe(true);
});

test('no tests leave no verdict', () => {
  const none: Verdict = { kind: 'none', tests: [] };
  expect(attributeVerdict(none, { tested: 'r1', active: 'r2' })).toEqual(none);
});
