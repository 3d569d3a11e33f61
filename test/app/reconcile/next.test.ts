import { describe, expect, test } from 'vitest';
import { afterTests } from '../../../app/reconcile/next.ts';
import type { IntentFields } from '../../../app/reconcile/intent.ts';
import type { Verdict } from '../../../src/deploy/rules/verdict-types.ts';
import { anIntent } from '../an-intent.ts';

const back = { kind: 'redeploy', revisionId: 'r1' } as const;
const verdict = (kind: Verdict['kind']): Verdict => ({ kind, tests: [] });

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
