import { describe, expect, test } from 'vitest';
import type { Verify } from '../../src/config/desired.ts';
import { decideVerification, decisionOf, verificationAfterRefusal } from '../../src/planning/verification.ts';

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
    {
      ...after,
      note: 'verify: before-traffic is not possible: this service does not hold revisions. The revision is tested once it is live',
    },
  ],
])('decides when a revision is tested: %s', (_, verify, tests, holds, expected) =>
  expect(decideVerification({ verify, tests, holds })).toEqual(expected),
);

describe('a write that is refused with a hold', () => {
  const detail = 'A revision of an image can not be held. Send the change without Landfall-Hold: its revision is live.';
  const refused = { kind: 'rejected', detail, problems: [] } as const;

  test('is sent without one, and says so only where the file requested it', () => {
    expect(verificationAfterRefusal(undefined, refused)).toEqual(after);
    expect(verificationAfterRefusal('before-traffic', refused)?.note).toBe(
      'verify: before-traffic is not possible: A revision of an image can not be held. The revision is tested once it is live',
    );
  });

  test.each([
    ['for another reason', { ...refused, detail: 'The name is taken.' }],
    ['by a conflict', { ...refused, kind: 'conflict' as const }],
  ])('is not sent again: %s', (_, error) => expect(verificationAfterRefusal(undefined, error)).toBeUndefined());
});

test.each([
  ['passed', 'promoted'],
  ['failed', 'discarded'],
  ['unproven', 'promoted'],
  ['none', 'promoted'],
] as const)('%s: the held revision is %s', (kind, decision) => expect(decisionOf({ kind, tests: [] })).toBe(decision));
