import { expect, test } from 'vitest';
import { readHeads } from '../../../../src/services/control/pushes/branch-heads.ts';
import {
  decidePush,
  type BranchObservation,
  type PushDecision,
} from '../../../../src/services/control/pushes/watch-pushes.ts';

/** A branch whose last push is live. */
const calm: BranchObservation = {
  buildOnPush: true,
  head: 'a',
  seen: 'a',
  latest: { commit: 'a', hasEnded: true },
  wasBuilt: true,
};
const moved: Partial<BranchObservation> = { head: 'b', wasBuilt: false };

test.each<[string, Partial<BranchObservation>, PushDecision]>([
  ['an unchanged branch is ignored', {}, 'nothing'],
  ['a push is built', moved, 'build'],
  ['a push while build_on_push is off is only recorded', { ...moved, buildOnPush: false }, 'note'],
  ['an unchanged branch is ignored while it is off, too', { buildOnPush: false }, 'nothing'],
  ['a push that already has a revision makes no other', { ...moved, latest: { commit: 'b', hasEnded: false } }, 'note'],
  [
    'a revision whose commit is not known yet may have it',
    { ...moved, latest: { commit: null, hasEnded: false } },
    'wait',
  ],
  [
    'a revision that ended before its commit was known does not',
    { ...moved, latest: { commit: null, hasEnded: true } },
    'build',
  ],
  [
    'a push is built while an older commit is being built',
    { ...moved, latest: { commit: 'a', hasEnded: false } },
    'build',
  ],
  ['a push back to a commit that was built before is a push', { head: 'b', wasBuilt: true }, 'build'],
  ['a redeploy of an older commit is no push', { latest: { commit: 'older', hasEnded: true } }, 'nothing'],
  ['a new branch whose head is built is recorded', { seen: undefined }, 'note'],
  [
    'a new branch whose head an older revision has is recorded as well',
    { seen: undefined, latest: { commit: 'c', hasEnded: true } },
    'note',
  ],
  ['a branch that moved before it was first observed is built', { ...moved, seen: undefined }, 'build'],
  [
    'waits for the first revision of a branch',
    { ...moved, seen: undefined, latest: { commit: null, hasEnded: false } },
    'wait',
  ],
])('%s', (_, changes, end) => expect(decidePush({ ...calm, ...changes })).toBe(end));

test('reads only branches from the output of git', () => {
  const commit = 'a'.repeat(40);
  const printed = `${commit}\trefs/heads/main\n${commit}\trefs/heads/feature/x\n${commit}\trefs/tags/v1\nwarning: x\n\n`;
  expect([...readHeads(printed)]).toEqual([
    ['main', commit],
    ['feature/x', commit],
  ]);
});
