import { expect, test } from 'vitest';
import type { RollbackObstacle } from '../../../src/deploy/rules/trigger-types.ts';
import {
  decideRollback,
  isLiveBefore,
  rollbackObstacle,
  type RollbackDecision,
} from '../../../src/deploy/rules/rollback.ts';

const noFormer: RollbackDecision = { kind: 'impossible', because: 'none-before' };

test.each<[string, string | undefined, string | null | undefined, RollbackDecision]>([
  ['another one was live', 'r2', 'r1', { kind: 'restore', revisionId: 'r1' }],
  ['it was live itself', 'r2', 'r2', noFormer],
  ['nothing was live', 'r2', null, noFormer],
  ['it is unknown what was live', 'r2', undefined, noFormer],
  ['none was created', undefined, 'r1', { kind: 'impossible', because: 'none-made' }],
])('decides about a failed revision where %s', (_, revisionId, formerLive, decision) => {
  expect(decideRollback({ onFailure: 'rollback', revisionId, formerLive })).toEqual(decision);
  expect(decideRollback({ onFailure: 'keep', revisionId, formerLive })).toEqual({ kind: 'not-requested' });
});

test.each<[string, string | null, string | undefined, RollbackObstacle | undefined]>([
  ['it serves', 'r2', undefined, undefined],
  ['another one serves', 'r3', undefined, { code: 'other-serves', active: 'r3', broken: 'r2' }],
  ['nothing serves', null, undefined, { code: 'other-serves', active: null, broken: 'r2' }],
  ['a newer one is on its way', 'r2', 'r3', { code: 'other-on-its-way', revisionId: 'r3' }],
])('why a wrong revision is not rolled back: %s', (_, active, onItsWay, obstacle) =>
  expect(rollbackObstacle('r2', { active, onItsWay })).toEqual(obstacle),
);

test.each<[string, readonly [id: string, status: string][], string | undefined]>([
  [
    'the newest that was live',
    [
      ['r3', 'DEPLOYED'],
      ['r2', 'DEPLOYED'],
      ['r1', 'DEPLOYED'],
    ],
    'r2',
  ],
  [
    'not one that failed',
    [
      ['r3', 'DEPLOYED'],
      ['r2', 'BUILD_FAILED'],
      ['r1', 'DEPLOYED'],
    ],
    'r1',
  ],
  [
    'not a newer one',
    [
      ['r4', 'DEPLOYED'],
      ['r3', 'DEPLOYED'],
      ['r2', 'SKIPPED'],
    ],
    undefined,
  ],
  ['none if the live one is not listed', [['r1', 'DEPLOYED']], undefined],
])('what was live before: %s', (_, listed, expected) => {
  const revisions = listed.map(([id, status]) => ({ id, status }));
  expect(revisions.find(isLiveBefore('r3'))?.id).toBe(expected);
});
