import { describe, expect, test } from 'vitest';
import { afterLook, afterTests } from '../../../app/reconcile/next.ts';
import type { IntentFields } from '../../../app/reconcile/intent.ts';
import type { Rollout } from '../../../src/deploy/rules/rollout-types.ts';
import type { Verdict } from '../../../src/deploy/rules/verdict-types.ts';
import { anIntent, commit, newer } from '../an-intent.ts';

const back = { kind: 'redeploy', revisionId: 'r1' } as const;
const verdict = (kind: Verdict['kind']): Verdict => ({ kind, tests: [] });

describe('after a look', () => {
  const seen = { revisionId: 'r2', seen: [] };
  const hold = { kind: 'held', address: 'https://held.test', endsAt: '2026-01-05T09:00:00Z' } as const;
  const held: Rollout = { kind: 'in-progress', hold, ...seen };
  const failed: Rollout = { kind: 'failed', status: 'BUILD_FAILED', ...seen };
  const another: Rollout = { kind: 'live', builtCommit: newer, ...seen };

  test.each<[string, Rollout, Partial<IntentFields>, boolean, object]>([
    ['it is in progress', { kind: 'in-progress', ...seen }, {}, false, { kind: 'look-again' }],
    ['its time is over', { kind: 'in-progress', ...seen }, {}, true, { rollout: { kind: 'timed-out', ...seen } }],
    ['it is live', { kind: 'live', builtCommit: commit, ...seen }, {}, true, { kind: 'live' }],
    ['another took its place', { kind: 'superseded', ...seen }, {}, true, { kind: 'superseded' }],
    ['it failed', failed, {}, false, { kind: 'not-live', rollout: failed }],
    ['another commit was built', another, {}, false, { kind: 'other-commit', commit: newer }],
    ['another commit goes back', another, { sending: back }, false, { kind: 'live' }],
    ['it is held for us', held, { holdSeconds: 9 }, true, { kind: 'test-held', hold }],
    ['it is held for others', held, {}, false, { kind: 'look-again' }],
    ['it was tested', held, { holdSeconds: 9, verdict: verdict('passed') }, false, { kind: 'look-again' }],
  ])('%s', (_, rollout, fields, isOver, expected) => {
    expect(afterLook(anIntent('following', { rollout, ...fields }), isOver)).toMatchObject(expected);
  });
});

describe('after the tests', () => {
  const onFailure = (kind: 'keep' | 'rollback', more: Partial<IntentFields> = {}): Partial<IntentFields> => ({
    verdict: verdict('failed'),
    former: { live: 'r1' },
    terms: { ...anIntent('requested').terms, onFailure: kind },
    ...more,
  });
  const before = { verified: 'before-traffic' } as const;
  const unread = { terms: { ...anIntent('requested').terms, unread: true } } as const;
  const wrong = { kind: 'wrong', isImpossible: false };

  test.each<[string, Partial<IntentFields>, string | null | undefined, object]>([
    ['it passed', {}, 'r2', { kind: 'live', isVerdictDue: true }],
    ['it passed before traffic', before, 'r2', { kind: 'live', isVerdictDue: false }],
    ['it passed before traffic, and another serves', before, 'r3', { kind: 'live', isVerdictDue: false }],
    ['it proves nothing', { verdict: verdict('unproven') }, 'r2', { kind: 'live', isVerdictDue: true }],
    ['no test is known', { verdict: verdict('none'), ...unread }, 'r2', { kind: 'untested', isVerdictDue: true }],
    ['another serves', {}, 'r3', { kind: 'replaced', isVerdictDue: false }],
    ['none serves', {}, null, { kind: 'replaced', isVerdictDue: false }],
    ['it failed, and another serves', onFailure('rollback'), 'r3', { kind: 'replaced', isVerdictDue: false }],
    ['it failed', onFailure('rollback'), 'r2', { kind: 'restore', revisionId: 'r1', isVerdictDue: true }],
    ['it failed before traffic', onFailure('rollback', before), 'r2', { kind: 'restore', isVerdictDue: false }],
    ['it failed, and nothing can be read', onFailure('rollback'), undefined, { kind: 'restore', isVerdictDue: false }],
    ['it failed, and is kept', onFailure('keep'), 'r2', { ...wrong, isVerdictDue: true }],
    ['it failed, and goes back itself', onFailure('rollback', { sending: back }), 'r2', wrong],
    ['none served before', onFailure('rollback', { former: {} }), 'r2', { kind: 'wrong', isImpossible: true }],
  ])('%s', (_, fields, active, expected) => {
    expect(afterTests(anIntent('concluding', fields), active, false)).toMatchObject(expected);
  });

  test('it failed, and was to be restored before', () => {
    expect(afterTests(anIntent('concluding', onFailure('rollback')), 'r2', true)).toMatchObject(wrong);
  });
});
