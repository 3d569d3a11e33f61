import { expect, test } from 'vitest';
import { isLiveBefore, revisionToRestore, whyNotUndone } from '../../src/planning/rollback.ts';

test.each<[string, string | null | undefined, string | undefined]>([
  ['another one was live', 'r1', 'r1'],
  ['it was live itself', 'r2', undefined],
  ['nothing was live', null, undefined],
  ['it is unknown what was live', undefined, undefined],
])('the revision to restore where %s', (_, former, target) => expect(revisionToRestore('r2', former)).toBe(target));

test.each<[string, string | null, string | undefined, string | undefined]>([
  ['it serves', 'r2', undefined, undefined],
  ['another one serves', 'r3', undefined, 'revision r3 serves by now, not r2'],
  ['nothing serves', null, undefined, 'revision none serves by now, not r2'],
  ['a newer one is on its way', 'r2', 'r3', 'revision r3 is on its way and takes over'],
])('why a wrong revision is not rolled back: %s', (_, active, onItsWay, why) =>
  expect(whyNotUndone('r2', { active, onItsWay })).toBe(why),
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
