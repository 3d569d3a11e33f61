import { describe, expect, test } from 'vitest';
import type { RevisionStatus } from '../../../../src/contract/control/revision-status.ts';
import {
  ages,
  expiredBuilds,
  expiredBuildsOfAll,
  onlyNeeded,
  type BuiltRevision,
} from '../../../../src/services/control/retention/expired-builds.ts';

const now = Date.parse('2030-01-31T00:00:00Z');
const day = 24 * 3_600_000;

/** A revision `r9` of build `r9`, or of another's build as in `r9 of r5`, so many days old. */
function built(name: string, days = 2, status: RevisionStatus = 'DEPLOYED'): BuiltRevision {
  const [id = '', build = id] = name.split(' of ');
  return { id, status, build_folder: `builds/${build}`, updated_at: new Date(now - days * day) };
}
const several = (status: RevisionStatus, days: number, ...names: string[]): BuiltRevision[] =>
  names.map((name) => built(name, days, status));

const bounds = { live: 2, newest: 1, most: 3, ms: day };
const failed = several('DEPLOY_FAILED', 2, 'f3', 'f2', 'f1');

describe('builds to remove', () => {
  test.each<[string, BuiltRevision[], string | null, string[]]>([
    ['keeps the live one and the one that was live before it', several('DEPLOYED', 9, 'r3', 'r2'), 'r3', []],
    [
      'removes older live ones, except the newest other one',
      several('DEPLOYED', 9, 'r5', 'r4', 'r3', 'r2'),
      'r5',
      ['r2'],
    ],
    ['keeps the live one however old it is', several('DEPLOYED', 9, 'r5', 'r4', 'r3', 'r2', 'r1'), 'r1', ['r2']],
    ['removes what never was live, except the newest', [built('r9'), ...failed], 'r9', ['f2', 'f1']],
    ['keeps what is not old yet', several('DEPLOY_FAILED', 0.5, 'f3', 'f2', 'f1'), null, []],
    [
      'removes the oldest of very many at once',
      several('DEPLOY_FAILED', 0.5, 'f5', 'f4', 'f3', 'f2', 'f1'),
      null,
      ['f2', 'f1'],
    ],
    ['keeps the build that a pending revision reuses', [built('r9 of f1', 0, 'CREATING'), ...failed], null, ['f2']],
    [
      'keeps the builds of pending revisions',
      [built('r9', 3, 'DEPLOYING'), built('r8', 3, 'AWAITING_DEPLOY')],
      null,
      [],
    ],
    ['keeps the build that the live revision reuses', [built('r9 of f1'), ...failed], 'r9', ['f2']],
    [
      'counts several live revisions of one build separately',
      [built('r9'), built('r8'), built('r7 of f2'), ...failed],
      'r9',
      ['f3', 'f1'],
    ],
    [
      'takes the age of a build from its newest revision',
      [built('a', 9, 'SKIPPED'), built('r9 of f1', 0.5, 'INTERRUPTED'), ...failed],
      null,
      ['f3', 'f2'],
    ],
    ['removes nothing without builds', [], null, []],
  ])('%s', (_, revisions, active, gone) => {
    expect(expiredBuilds(revisions, active, now, bounds).toSorted()).toEqual(gone.toSorted());
  });

  test('keeps the newest of each deployment', () => {
    const of = (deployment_id: string, revisions: BuiltRevision[]) =>
      revisions.map((revision) => ({ ...revision, deployment_id, active_revision_id: null }));
    const one = several('DEPLOY_FAILED', 2, 'f2', 'f1');
    const other = several('DEPLOY_FAILED', 2, 'g2', 'g1');
    expect(expiredBuildsOfAll([...of('d-1', one), ...of('d-2', other)], now, bounds)).toEqual(['f1', 'g1']);
  });

  test('removes everything unneeded when the disk is short', () => {
    const fresh = [built('r9'), ...several('DEPLOY_FAILED', 0, 'f3', 'f2', 'f1')];
    expect(expiredBuilds(fresh, 'r9', now, onlyNeeded(ages.builds))).toEqual(['f3', 'f2', 'f1']);
  });
});
