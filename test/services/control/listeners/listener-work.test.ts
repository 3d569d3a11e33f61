import { expect, test } from 'vitest';
import type { RevisionStatus } from '../../../../src/contract/control/revision-status.ts';
import { restoreRetryDelayMs, nextListenerWork } from '../../../../src/services/control/listeners/listener-work.ts';
import { mayStep, runningStatuses } from '../../../../src/services/control/revisions/states.ts';

const newestFirst = (...statuses: RevisionStatus[]) =>
  statuses.map((status, at) => ({ id: `r${statuses.length - at}`, status }));

test.each([
  ['does nothing when everything has ended', 'none', [], { kind: 'nothing' }],
  ['starts the waiting revision', 'none', ['CREATING'], { revision: { id: 'r1' }, steps: ['AWAITING_DEPLOY'] }],
  [
    'starts the newest of several waiting revisions and skips the others',
    'none',
    ['CREATING', 'QUEUED', 'CREATING'],
    { revision: { id: 'r3' }, skipped: [{ id: 'r2' }, { id: 'r1' }] },
  ],
  [
    'restarts an interrupted one first; newer ones wait',
    'none',
    ['CREATING', 'DEPLOYING'],
    { revision: { id: 'r1' }, steps: ['AWAITING_DEPLOY'], queued: [{ id: 'r2' }], skipped: [] },
  ],
  [
    'needs no step for one that was claimed and not started',
    'none',
    ['AWAITING_DEPLOY'],
    { revision: { id: 'r1' }, steps: [] },
  ],
  ['runs a deletion first', 'asked', [], { kind: 'remove' }],
  ['has no work for what is gone from the cluster', 'stopped', [], { kind: 'nothing' }],
] as const)('%s', (_, deletion, statuses, turn) => {
  expect(nextListenerWork(deletion, newestFirst(...statuses), false)).toMatchObject(turn);
});

test.each([
  ['rolls an abandoned revision back to the live one', 'none', [], 'put-back'],
  ['rolls out a waiting revision instead', 'none', ['CREATING'], 'roll-out'],
  ['removes everything for a deletion', 'asked', [], 'remove'],
] as const)('%s', (_, deletion, statuses, kind) => {
  expect(nextListenerWork(deletion, newestFirst(...statuses), true)).toMatchObject({ kind });
});

test.each([
  ['ten seconds right after the failure', 200, 10_000],
  ['the time since the first failure', 90_000, 90_000],
  ['ten minutes at most', 7_200_000, 600_000],
])('a failed rollback is retried after %s', (_, awry, ms) => expect(restoreRetryDelayMs(awry)).toBe(ms));

test.each(runningStatuses)('the steps back from %s are valid steps of a revision', (status) => {
  const turn = nextListenerWork('none', newestFirst(status), true);
  if (turn.kind !== 'roll-out') throw new Error('nothing to do');
  const way = [status, ...turn.steps];
  for (const [at, to] of turn.steps.entries()) expect(mayStep(way[at] ?? status, to)).toBe(true);
  expect(way.at(-1)).toBe('AWAITING_DEPLOY');
});
