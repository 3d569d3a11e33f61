import { expect, test } from 'vitest';
import { afterLook } from '../../../src/deploy/machine/after-look.ts';
import type { Rollout } from '../../../src/deploy/rules/rollout-types.ts';

const seen = { revisionId: 'r2', seen: [] };
const hold = { kind: 'held', address: 'https://held.test', endsAt: '2026-01-05T09:00:00Z' } as const;
const inProgress: Rollout = { kind: 'in-progress', ...seen };
const held: Rollout = { kind: 'in-progress', hold, ...seen };
const pending: Rollout = { kind: 'in-progress', hold: { kind: 'pending' }, ...seen };
const live: Rollout = { kind: 'live', ...seen };
const superseded: Rollout = { kind: 'superseded', ...seen };
const failed: Rollout = { kind: 'failed', status: 'BUILD_FAILED', ...seen };

const [followed, tested] = [false, true];
const [open, over] = [false, true];

test.each<[what: string, rollout: Rollout, untilHeld: boolean, isOver: boolean, expected: object | undefined]>([
  ['one in progress is looked at again', inProgress, followed, open, undefined],
  ['one in progress ends with its time', inProgress, tested, over, { ...inProgress, kind: 'timed-out' }],
  ['a live one has ended', live, followed, over, live],
  ['a superseded one has ended', superseded, tested, open, superseded],
  ['a failed one has ended', failed, followed, open, failed],
  ['a held one is tested, however late', held, tested, over, held],
  ['one that will be held is looked at again', pending, tested, open, undefined],
  ['a hold that is left to others is waited for', held, followed, open, undefined],
  ['a hold that is left to others ends with its time', held, followed, over, { ...held, kind: 'timed-out' }],
])('%s', (_, rollout, untilHeld, isOver, expected) => {
  expect(afterLook(rollout, { untilHeld, isOver })).toEqual(expected);
});
