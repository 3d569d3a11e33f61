import { expect, test } from 'vitest';
import { readHeads } from '../../../src/control-service/pushes/branch-heads.ts';
import { judgeLook } from '../../../src/control-service/pushes/push-rule.ts';
import type { LookedAt, LookEnd } from '../../../src/control-service/pushes/push-rule.ts';

/** A branch whose last push is live. */
const calm: LookedAt = {
  buildOnPush: true,
  head: 'a',
  seen: 'a',
  latest: { commit: 'a', hasEnded: true },
  wasBuilt: true,
};
const moved: Partial<LookedAt> = { head: 'b', wasBuilt: false };

test.each<[string, Partial<LookedAt>, LookEnd]>([
  ['a branch that did not move is left alone', {}, 'nothing'],
  ['a push is built', moved, 'build'],
  ['a push while build_on_push is off is noted only', { ...moved, buildOnPush: false }, 'note'],
  ['a branch at rest is left alone while it is off too', { buildOnPush: false }, 'nothing'],
  [
    'a push that a revision of somebody else is of makes no other',
    { ...moved, latest: { commit: 'b', hasEnded: false } },
    'note',
  ],
  [
    'a revision whose commit is not known yet may be of it',
    { ...moved, latest: { commit: null, hasEnded: false } },
    'wait',
  ],
  [
    'one that ended before its commit was known is not',
    { ...moved, latest: { commit: null, hasEnded: true } },
    'build',
  ],
  [
    'a push is built while an older commit is on its way',
    { ...moved, latest: { commit: 'a', hasEnded: false } },
    'build',
  ],
  ['a push back to a commit that was built once is a push', { head: 'b', wasBuilt: true }, 'build'],
  ['going back by a redeploy is no push', { latest: { commit: 'older', hasEnded: true } }, 'nothing'],
  ['a branch nobody looked at yet whose head is built is noted', { seen: undefined }, 'note'],
  [
    'one whose head an older revision is of is noted as well',
    { seen: undefined, latest: { commit: 'c', hasEnded: true } },
    'note',
  ],
  ['one that moved before anybody looked is built', { ...moved, seen: undefined }, 'build'],
  [
    'one whose first revision is on its way is waited for',
    { ...moved, seen: undefined, latest: { commit: null, hasEnded: false } },
    'wait',
  ],
])('%s', (_, changes, end) => expect(judgeLook({ ...calm, ...changes })).toBe(end));

test('of what git prints only branches count', () => {
  const commit = 'a'.repeat(40);
  const printed = `${commit}\trefs/heads/main\n${commit}\trefs/heads/feature/x\n${commit}\trefs/tags/v1\nwarning: x\n\n`;
  expect([...readHeads(printed)]).toEqual([
    ['main', commit],
    ['feature/x', commit],
  ]);
});
