import { expect, test } from 'vitest';
import {
  branchGone,
  otherCommitOutcome,
  intentRolloutOutcome,
  withOutcome,
  withDecisionOutcome,
  noRevision,
  supersededOutcome,
  unknownEffect,
  untestedOutcome,
  unverifiedOutcome,
  verifiedOutcome,
  reasonOfWrongAnswer,
  type NewIntentOutcome,
} from '../../../app/reconcile/outcomes.ts';
import type { Rollout } from '../../../src/deploy/rules/rollout-types.ts';
import type { ExpectationResult, TestVerdict, Verdict } from '../../../src/deploy/rules/verdict-types.ts';
import { anIntent } from './an-intent.ts';
import { commitOf, start } from './requests.ts';

const [a, b] = [commitOf('a'), commitOf('b')];
const intent = anIntent(a, { revisionId: 'r2', formerLiveRevisionId: 'r1' });
const sent = anIntent(a, { sentAt: start, sends: 2 });

const rollout = { revisionId: 'r2', seen: [] };
const failed: Rollout = { kind: 'failed', status: 'BUILD_FAILED', statusMessage: 'npm said no', ...rollout };

const held = (isHeld: boolean): ExpectationResult => ({
  expectation: { kind: 'status', equals: 'success' },
  held: isHeld,
  expected: isHeld ? 'nodes include a' : 'status is success',
  seen: isHeld ? 'a' : 'error',
});
const times = { firstEventMs: 5, totalMs: 9 };
const passed: TestVerdict = { kind: 'passed', held: [held(true)], ...times };
const wrong: TestVerdict = { kind: 'failed', held: [held(true), held(false)], ...times };
const away: TestVerdict = { kind: 'unproven', because: 'unreachable', why: 'no answer.' };
const all = (kind: Verdict['kind'], ...verdicts: TestVerdict[]): Verdict => ({
  kind,
  tests: verdicts.map((verdict, index) => ({ name: `t${index + 1}`, attempts: 1, verdict })),
});

test.each<[what: string, end: NewIntentOutcome, expected: NewIntentOutcome]>([
  [
    'superseded by a head that contains it',
    supersededOutcome(intent, b, true),
    {
      kind: 'superseded',
      reason: 'Commit aaaaaaa is not built: the head of main is bbbbbbb by now, which contains it.',
      by: { commit: b, contains: true },
    },
  ],
  [
    'superseded by another head',
    supersededOutcome(intent, b, undefined),
    {
      kind: 'superseded',
      reason: 'Commit aaaaaaa is not built: the head of main is bbbbbbb by now.',
      by: { commit: b, contains: undefined },
    },
  ],
  [
    'built from another commit',
    otherCommitOutcome(intent, b, true),
    {
      kind: 'other-commit',
      reason: 'Revision r2 was built from bbbbbbb and not from aaaaaaa: main had moved on.',
      by: { commit: b, contains: true },
    },
  ],
  [
    'built from another commit by the service',
    otherCommitOutcome(anIntent(a), b),
    {
      kind: 'other-commit',
      reason: 'The newest revision was built from bbbbbbb and not from aaaaaaa: main had moved on.',
      by: { commit: b, contains: undefined },
    },
  ],
  [
    'a branch that is gone',
    branchGone(intent),
    { kind: 'skipped', reason: 'The branch main is gone, so there is nothing to build.' },
  ],
  [
    'an unknown effect',
    unknownEffect(intent, 'it says nothing'),
    {
      kind: 'unknown',
      reason:
        'A revision was requested from the service, and it is unknown whether that took effect: it says nothing. It is not sent again.',
      advice: 'Look at the newest revisions of the deployment; press Re-run to build this commit again.',
    },
  ],
  [
    'an unknown effect of several requests',
    unknownEffect(sent, 'it says nothing'),
    {
      kind: 'unknown',
      reason:
        'A revision was requested from the service 2 times at 2026-11-21T08:00:00.000Z, and it is unknown whether that took effect: it says nothing. It is not sent again.',
      advice: 'Look at the newest revisions of the deployment; press Re-run to build this commit again.',
    },
  ],
  [
    'no revision',
    noRevision(),
    {
      kind: 'refused',
      reason: 'The service took the change and made no revision of it.',
      advice: 'Look at the deployment and its newest revision; press Re-run to request it again.',
    },
  ],
  [
    'a failure',
    intentRolloutOutcome(intent, failed),
    {
      kind: 'failed',
      reason: 'Revision r2 ended BUILD_FAILED: npm said no. Revision r1 still serves.',
      advice: 'Read the log lines of this revision, correct what they name, and push.',
    },
  ],
  [
    'an interruption of the first revision',
    intentRolloutOutcome(anIntent(a), { kind: 'interrupted', ...rollout }),
    {
      kind: 'interrupted',
      reason: 'Revision r2 was interrupted at the service. No other revision of ours served before.',
      advice: 'Press Re-run to build this commit again.',
    },
  ],
  [
    'a revision that is replaced by a known one',
    intentRolloutOutcome(intent, { kind: 'superseded', by: 'r3', ...rollout }),
    { kind: 'superseded', reason: 'Revision r2 did not stay: revision r3 took its place.' },
  ],
  [
    'a revision that is replaced by an unknown one',
    intentRolloutOutcome(intent, { kind: 'superseded', ...rollout }),
    { kind: 'superseded', reason: 'Revision r2 did not stay: a newer one took its place.' },
  ],
  [
    'a revision that is late',
    intentRolloutOutcome(intent, { kind: 'timed-out', lastStatus: 'BUILDING', ...rollout }),
    {
      kind: 'timed-out',
      reason: 'Revision r2 was not live within 30 min: last seen BUILDING, and it goes on.',
      advice: 'Look at the revision at the service; press Re-run to follow it or to build again.',
    },
  ],
  [
    'a revision without smoke tests',
    verifiedOutcome(intent, all('none')),
    { kind: 'deployed', reason: 'Revision r2 of commit aaaaaaa is live.' },
  ],
  [
    'one smoke test that passed',
    verifiedOutcome(intent, all('passed', passed)),
    { kind: 'deployed', reason: 'Revision r2 of commit aaaaaaa is live and passed 1 smoke test.' },
  ],
  [
    'several smoke tests that passed',
    verifiedOutcome(intent, all('passed', passed, passed)),
    { kind: 'deployed', reason: 'Revision r2 of commit aaaaaaa is live and passed 2 smoke tests.' },
  ],
  [
    'smoke tests that passed and conversations that go on',
    verifiedOutcome(
      { ...intent, verified: 'before-traffic' },
      {
        kind: 'passed',
        tests: [
          { name: 'greets', attempts: 1, verdict: passed },
          { name: 'conversations', attempts: 2, verdict: passed },
        ],
      },
    ),
    {
      kind: 'deployed',
      reason:
        'Revision r2 of commit aaaaaaa is live and passed 1 smoke test before it got traffic, and conversations go on with it.',
    },
  ],
  [
    'conversations that prove nothing',
    unverifiedOutcome(intent, { kind: 'unproven', tests: [{ name: 'conversations', attempts: 2, verdict: away }] }),
    {
      kind: 'unproven',
      reason: 'Revision r2 is live, but conversations are not proven to go on with it: no answer.',
      advice:
        'Check that the agent can be reached with this key; for a cold start raise the `attempts` of the test. Re-run builds and tests it again.',
    },
  ],
  [
    'smoke tests that prove nothing',
    unverifiedOutcome(intent, all('unproven', passed, away, away)),
    {
      kind: 'unproven',
      reason: 'Revision r2 is live, but is not proven to answer: t2: no answer (and 1 more).',
      advice:
        'Check that the agent can be reached with this key; for a cold start raise the `attempts` of the test. Re-run builds and tests it again.',
    },
  ],
  [
    'a deploy file that could not be read',
    untestedOutcome(intent),
    {
      kind: 'unproven',
      reason: 'Revision r2 is live, but was not tested: the deploy file could not be read.',
      advice: 'Correct the deploy file on the default branch (the notes name its mistakes), and press Re-run.',
    },
  ],
])('reports %s', (_, end, expected) => expect(end).toEqual(expected));

test.each<[what: string, verdict: Verdict, words: string]>([
  [
    'the expectation that was missed',
    all('failed', passed, wrong, away),
    'Revision r2 failed its smoke tests: t2: status is success was expected, error was seen',
  ],
  [
    'the first of several tests',
    all('failed', wrong, wrong, wrong),
    'Revision r2 failed its smoke tests: t1: status is success was expected, error was seen (and 2 more)',
  ],
  [
    'a failure without a missed expectation',
    all('failed', { ...wrong, held: [] }),
    'Revision r2 failed its smoke tests: t1: nothing was expected',
  ],
  ['no test at all', all('failed'), 'Revision r2 failed its smoke tests: no reason given'],
])('names %s', (_, verdict, words) => expect(reasonOfWrongAnswer(intent, verdict)).toBe(words));

test('an ended intent has its outcome and the time', () => {
  expect(withOutcome(intent, noRevision(), 7)).toEqual({ ...intent, state: 'ended', end: { ...noRevision(), at: 7 } });
});

test.each(['skipped', 'joined'] as const)('a decision to send nothing ends an intent as %s', (kind) => {
  const decision = { kind: 'skip', code: 'branch-gone', branch: 'main' } as const;
  expect(withDecisionOutcome(intent, kind, decision, 7)).toEqual({
    ...intent,
    decision,
    state: 'ended',
    end: { kind, reason: 'The branch main is gone.', at: 7 },
  });
});
