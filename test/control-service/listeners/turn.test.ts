import { expect, test } from 'vitest';
import type { RevisionStatus } from '../../../src/contract/control/revision.ts';
import { putBackAgainMs, whatNext } from '../../../src/control-service/rules/listener-turn.ts';
import { mayStep, runningStatuses } from '../../../src/control-service/rules/revision-states.ts';

const newestFirst = (...statuses: RevisionStatus[]) =>
  statuses.map((status, at) => ({ id: `r${statuses.length - at}`, status }));

test.each([
  ['there is nothing to do where everything has ended', 'none', [], { kind: 'nothing' }],
  ['the one that waits is begun', 'none', ['CREATING'], { revision: { id: 'r1' }, steps: ['AWAITING_DEPLOY'] }],
  [
    'of several that wait the newest is begun, and the others are skipped',
    'none',
    ['CREATING', 'QUEUED', 'CREATING'],
    { revision: { id: 'r3' }, skipped: [{ id: 'r2' }, { id: 'r1' }] },
  ],
  [
    'one that was broken off is begun again, and the newer ones wait for it',
    'none',
    ['CREATING', 'DEPLOYING'],
    { revision: { id: 'r1' }, steps: ['AWAITING_DEPLOY'], queued: [{ id: 'r2' }], skipped: [] },
  ],
  [
    'one that was claimed and not begun needs no step',
    'none',
    ['AWAITING_DEPLOY'],
    { revision: { id: 'r1' }, steps: [] },
  ],
  ['a deletion comes before everything else', 'asked', [], { kind: 'remove' }],
  ['what is gone from the cluster is nobody’s work', 'stopped', [], { kind: 'nothing' }],
] as const)('%s', (_, deletion, statuses, turn) => {
  expect(whatNext(deletion, newestFirst(...statuses), false)).toMatchObject(turn);
});

test.each([
  ['what was abandoned is put back to what is live', 'none', [], 'put-back'],
  ['unless a revision waits, which takes its place anyway', 'none', ['CREATING'], 'roll-out'],
  ['or all of it goes', 'asked', [], 'remove'],
] as const)('%s', (_, deletion, statuses, kind) => {
  expect(whatNext(deletion, newestFirst(...statuses), true)).toMatchObject({ kind });
});

test.each([
  ['ten seconds after a failure at once', 200, 10_000],
  ['as long as the cluster has been awry', 90_000, 90_000],
  ['ten minutes at most', 7_200_000, 600_000],
])('a way back that failed is tried again after %s', (_, awry, ms) => expect(putBackAgainMs(awry)).toBe(ms));

test.each(runningStatuses)('the steps back from %s are steps that a revision may take', (status) => {
  const turn = whatNext('none', newestFirst(status), true);
  if (turn.kind !== 'roll-out') throw new Error('nothing to do');
  const way = [status, ...turn.steps];
  for (const [at, to] of turn.steps.entries()) expect(mayStep(way[at] ?? status, to)).toBe(true);
  expect(way.at(-1)).toBe('AWAITING_DEPLOY');
});
