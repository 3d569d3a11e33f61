import { expect, test } from 'vitest';
import type { Measure } from '../../../src/deploy/file/smoke-test.ts';
import { adviceIfIntended, firstTestOf, reasonOfDecision } from '../../../src/deploy/words/verdict-words.ts';
import type { ExpectationResult, NamedVerdict, TestVerdict } from '../../../src/deploy/rules/verdict-types.ts';

const held = (holds: boolean, what: string): ExpectationResult => ({
  expectation: { kind: 'status', equals: 'success' },
  held: holds,
  expected: what,
  seen: 'something else',
});
const failed: TestVerdict = {
  kind: 'failed',
  held: [held(true, 'one'), held(false, 'two')],
  firstEventMs: 1,
  totalMs: 2,
};
const unproven: TestVerdict = { kind: 'unproven', because: 'unreachable', why: 'nothing arrived.' };
const named = (name: string, verdict: TestVerdict): NamedVerdict => ({ name, attempts: 1, verdict });

test.each<['failed' | 'unproven', NamedVerdict[], string]>([
  ['failed', [named('hi', failed)], 'hi: two was expected, something else was seen'],
  ['unproven', [named('hi', failed), named('ho', unproven)], 'ho: nothing arrived'],
  [
    'failed',
    [named('a', unproven), named('b', failed), named('c', failed)],
    'b: two was expected, something else was seen (and 1 more)',
  ],
  ['unproven', [named('a', unproven), named('b', unproven), named('c', unproven)], 'a: nothing arrived (and 2 more)'],
  ['failed', [named('a', { ...failed, held: [held(true, 'one')] })], 'a: nothing was expected'],
  ['failed', [named('a', unproven)], 'no reason given'],
])('the first of the tests that ended %s is named (%#)', (kind, tests, clause) =>
  expect(firstTestOf({ kind, tests }, kind)).toBe(clause),
);

const noWorse = (measure: Measure, holds: boolean): ExpectationResult => ({
  ...held(holds, measure),
  expectation: { kind: 'no-worse', measure },
});
const worseBy = (...all: ExpectationResult[]): NamedVerdict => named('a', { ...failed, held: all });
const brokenConversations = named('conversations', {
  ...failed,
  held: [{ ...held(false, 'each goes on'), expectation: { kind: 'goes-on' }, seen: 'thread t1: it is gone' }],
});

test.each<[what: string, NamedVerdict[], advice: string]>([
  ['a wrong answer', [named('hi', failed)], ''],
  ['right answers too', [worseBy(noWorse('pass-rate', false), noWorse('total', false))], ''],
  [
    'a time and tokens',
    [named('hi', failed), worseBy(noWorse('total', false), noWorse('tokens', false), noWorse('cost', true))],
    ' If total time (`total`), `tokens` may change so, write a `decide-by` without them into the smoke test, or `pass-rate: baseline` instead of `against: live`.',
  ],
  [
    'conversations',
    [brokenConversations],
    ' If these conversations may break, leave `conversations` out of the deploy file.',
  ],
])('advice names what to change where %s may become worse', (_, tests, advice) =>
  expect(adviceIfIntended({ tests })).toBe(advice),
);

test('conversations are no smoke test in what is said of a revision', () => {
  const verdict = { kind: 'failed', tests: [named('hi', { ...failed, kind: 'passed' }), brokenConversations] } as const;
  expect(reasonOfDecision(verdict, 'discarded')).toBe('It broke copies of conversations: thread t1: it is gone.');
  const nothing = { kind: 'unproven', tests: [named('conversations', unproven)] } as const;
  expect(reasonOfDecision(nothing, 'discarded')).toBe(
    'Its conversations proved nothing, so the live revision is kept: nothing arrived.',
  );
  expect(reasonOfDecision(nothing, 'promoted')).toBe(
    'Its conversations proved nothing, and it gets the traffic all the same: nothing arrived.',
  );
  const passed = (name: string) => named(name, { ...failed, kind: 'passed' });
  expect(reasonOfDecision({ kind: 'passed', tests: [passed('hi'), passed('conversations')] }, 'promoted')).toBe(
    'Its smoke tests passed, and its conversations go on.',
  );
  expect(reasonOfDecision({ kind: 'passed', tests: [passed('conversations')] }, 'promoted')).toBe(
    'Its conversations go on.',
  );
});
