import { expect, test } from 'vitest';
import type { Measure } from '../../../src/deploy/file/smoke-test.ts';
import { reasonOfDecision } from '../../../src/deploy/words/hold-messages.ts';
import {
  adviceIfIntended,
  alsoWrong,
  firstTestOf,
  outcomeOfRollout,
  outcomeOfRollback,
  type RollbackResult,
} from '../../../src/deploy/words/outcome-messages.ts';
import { rolloutAfter, rolloutOf, rolloutOutOfTime } from '../../../src/deploy/rules/rollout.ts';
import type { ExpectationResult, NamedVerdict, TestVerdict } from '../../../src/deploy/rules/verdict-types.ts';

const words = {
  serves: 'Revision r1 still serves.',
  waited: '20 min',
  lastSeen: 'BUILDING',
  superseded: 'Revision r3 took its place.',
  advice: { failed: 'Fix it.', interrupted: 'Run it.', 'timed-out': 'Wait.' },
};

test.each([
  ['failed', 'BUILD_FAILED', 'npm said no.', 'Revision r2 ended BUILD_FAILED: npm said no. Revision r1 still serves.'],
  ['failed', 'BUILD_FAILED', undefined, 'Revision r2 ended BUILD_FAILED. Revision r1 still serves.'],
  ['interrupted', 'INTERRUPTED', undefined, 'Revision r2 was interrupted at the service. Revision r1 still serves.'],
  [
    'interrupted',
    'INTERRUPTED',
    'a node left.',
    'Revision r2 was interrupted at the service: a node left. Revision r1 still serves.',
  ],
  ['timed-out', 'BUILDING', undefined, 'Revision r2 was not live within 20 min: last seen BUILDING, and it goes on.'],
  ['superseded', 'SKIPPED', undefined, 'Revision r3 took its place.'],
] as const)('a revision that is %s (%s, %s) is reported', (kind, status, status_message, reason) => {
  const revision = { status, source_revision_config: {}, ...(status_message ? { status_message } : {}) };
  const rollout = rolloutOutOfTime(rolloutAfter(rolloutOf('r2'), { at: 0, revision }));
  if (rollout.kind === 'live') throw new Error('it is live');
  const advice = kind === 'superseded' ? {} : { advice: words.advice[kind] };
  expect(outcomeOfRollout(rollout, words)).toStrictEqual({ kind, reason, ...advice });
});

test('advises on a superseded revision where there is advice', () => {
  const advised = { ...words, advice: { ...words.advice, superseded: 'Look at r3.' } };
  expect(outcomeOfRollout({ kind: 'superseded', revisionId: 'r2', seen: [] }, advised).advice).toBe('Look at r3.');
});

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

test.each<[RollbackResult, string, string]>([
  [
    { kind: 'serves-again', revisionId: 'r1', isProven: true },
    'rolled-back',
    'It is wrong. Revision r1 serves again and answers as it should.',
  ],
  [
    { kind: 'serves-again', revisionId: 'r1', isProven: false },
    'rolled-back',
    'It is wrong. Revision r1 serves again.',
  ],
  [{ kind: 'no-help', why: 'so it is.' }, 'broken', 'It is wrong. Rolled back, which did not help: so it is.'],
  [{ kind: 'not-undone', why: 'r3 serves.' }, 'broken', 'It is wrong. Not rolled back: r3 serves.'],
])('after going back: %o', (undoing, kind, reason) =>
  expect(outcomeOfRollback('It is wrong', undoing)).toEqual({ kind, reason }),
);

test('explains that going back did not help', () =>
  expect(alsoWrong('r1')).toBe('revision r1 serves again, and fails the smoke tests too'));
