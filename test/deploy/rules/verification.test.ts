import { describe, expect, test } from 'vitest';
import type { OnUnproven, Verify } from '../../../src/deploy/file/desired.ts';
import type { HoldDecision } from '../../../src/contract/control/revision.ts';
import type { NamedVerdict, UnprovenReason, Verdict } from '../../../src/deploy/rules/verdict-types.ts';
import { decisionOf } from '../../../src/deploy/rules/hold-state.ts';
import { afterTraffic, decideVerification, holdRefusal } from '../../../src/deploy/rules/verification.ts';

const before = { when: 'before-traffic', holdSeconds: 1_800 };
const after = { when: 'after-traffic' };

test.each<[string, Verify | undefined, number, boolean | undefined, object]>([
  ['a service that holds revisions', undefined, 1, true, before],
  ['the same, as the file says', 'before-traffic', 1, true, before],
  ['a file that says after traffic', 'after-traffic', 1, true, after],
  ['no smoke tests', 'before-traffic', 0, true, after],
  ['a service without holds', undefined, 1, undefined, after],
  [
    'a service without the holds that the file needs',
    'before-traffic',
    1,
    false,
    { ...after, note: { code: 'not-offered', verify: 'before-traffic' } },
  ],
])('decides when a revision is tested: %s', (_, verify, tests, holds, expected) =>
  expect(decideVerification({ verify, tests, holds })).toEqual(expected),
);

describe('a write that is refused with a hold', () => {
  const detail = 'A revision of an image can not be held. Send the change without Landfall-Hold: its revision is live.';
  const refused = { kind: 'rejected', detail, problems: [] } as const;

  test('is sent without one, and says so only where the file requested it', () => {
    const why = holdRefusal(refused) ?? '';
    expect(afterTraffic(undefined, why)).toEqual(after);
    const text = 'A revision of an image can not be held';
    expect(afterTraffic('before-traffic', why).note).toEqual({ code: 'refused', verify: 'before-traffic', text });
  });

  test.each([
    ['for another reason', { ...refused, detail: 'The name is taken.' }],
    ['by a conflict', { ...refused, kind: 'conflict' as const }],
  ])('is not sent again: %s', (_, error) => expect(holdRefusal(error)).toBeUndefined());
});

const unproven = (because: UnprovenReason, more: object = {}): NamedVerdict => ({
  name: 'greets',
  attempts: 3,
  verdict: { kind: 'unproven', because, why: 'so it is', ...more },
});
const verdict = (kind: Verdict['kind'], ...tests: NamedVerdict[]): Verdict => ({ kind, tests });
const someAnswers = { rate: { right: 7, answers: 7 } };

test.each<[string, Verdict, { onUnproven?: OnUnproven; isReplacing: boolean }, HoldDecision]>([
  ['one that passed', verdict('passed'), { isReplacing: true }, 'promoted'],
  ['one that failed', verdict('failed'), { isReplacing: false, onUnproven: 'promote' }, 'discarded'],
  ['one without tests', verdict('none'), { isReplacing: true }, 'promoted'],
  ['one that is unproven', verdict('unproven', unproven('undecided')), { isReplacing: true }, 'discarded'],
  [
    'one that is unproven, where that promotes',
    verdict('unproven', unproven('undecided', someAnswers)),
    { isReplacing: true, onUnproven: 'promote' },
    'promoted',
  ],
  [
    'one that is unproven, where none serves',
    verdict('unproven', unproven('hangs')),
    { isReplacing: false },
    'promoted',
  ],
  ...(['unreachable', 'hangs', 'server-error', 'provider', 'missing', 'undecided'] as const).flatMap((because) => [
    [
      `one that gave no answer (${because}), whatever promotes`,
      verdict('unproven', unproven('disagreement'), unproven(because)),
      { isReplacing: true, onUnproven: 'promote' as const },
      'discarded' as const,
    ] satisfies [string, Verdict, object, HoldDecision],
    [
      `one that gave some answers (${because}), where that promotes`,
      verdict('unproven', unproven(because, someAnswers)),
      { isReplacing: true, onUnproven: 'promote' as const },
      'promoted' as const,
    ] satisfies [string, Verdict, object, HoldDecision],
  ]),
  [
    'one that had time for some of its tests, where that promotes',
    verdict('unproven', unproven('undecided', someAnswers), { ...unproven('undecided'), attempts: 0 }),
    { isReplacing: true, onUnproven: 'promote' },
    'promoted',
  ],
  [
    'one that had time for none of its tests, whatever promotes',
    verdict('unproven', { ...unproven('undecided'), attempts: 0 }),
    { isReplacing: true, onUnproven: 'promote' },
    'discarded',
  ],
  [
    'one whose conversations could not be read, where that promotes',
    verdict('unproven', { ...unproven('unreachable'), name: 'conversations' }),
    { isReplacing: true, onUnproven: 'promote' },
    'promoted',
  ],
])('decides about a held revision: %s', (_, of, terms, decision) => expect(decisionOf(of, terms)).toBe(decision));
