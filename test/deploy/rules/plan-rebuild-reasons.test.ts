import { describe, expect, test } from 'vitest';
import type { DesiredExternalDocker, DesiredGithub } from '../../../src/deploy/file/desired.ts';
import { phaseOf } from '../../../src/deploy/rules/plan-rebuild.ts';
import { plan } from '../../../src/deploy/rules/plan.ts';
import type {
  ChangeReason,
  Plan,
  PlanNote,
  PlanReason,
  ObservedState,
  RebuildReason,
} from '../../../src/deploy/rules/plan-types.ts';
import {
  ours,
  theirs,
  unknown,
  github,
  docker,
  image,
  revision,
  imageRevision,
  live,
  seen,
  seenImage,
  newest,
} from './plan-cases.ts';

describe('says why', () => {
  const commit = ours;
  const failed = revision('r2', 'DEPLOY_FAILED');
  const secrets = [{ name: 'TOKEN', value: 'one' }];
  const liveAlready: PlanReason = { code: 'commit-live', commit };
  const building = { code: 'on-its-way', revisionId: 'r2', status: 'BUILDING' } as const;
  const unreported = { code: 'commit-unreported', revisionId: 'r2', status: 'QUEUED' } as const;
  const lost = { revisionId: 'r2', status: 'DEPLOY_FAILED' };
  const mayLack: ChangeReason = { code: 'restated', reason: { code: 'ended', ...lost, mayLack: true } };
  const doesNotServe: PlanNote = { code: 'newest-ended', ...lost };
  const newer: PlanNote = { code: 'newer-waits', revisionId: 'r3', commit };
  const restated = (reason: PlanReason): ChangeReason => ({ code: 'restated', reason });
  const sure = (reason: RebuildReason): [ChangeReason, PlanNote] => [
    restated(reason),
    { code: 'built-to-be-sure', reason },
  ];
  type Said = (PlanReason | ChangeReason | PlanNote)[];
  /** The reason, and the notes behind it. */
  const said = (planned: Plan): (Said[number] | undefined)[] => {
    if (planned.kind === 'impossible') return [...planned.obstacles];
    return [planned.kind === 'none' ? planned.why : planned.changes.at(-1)?.why, ...planned.notes];
  };

  test.each<[what: string, actual: Partial<ObservedState>, requested: Partial<DesiredGithub>, Said]>([
    ['a commit that is live', {}, {}, [liveAlready]],
    ['a live commit of no known newest revision', { latest: undefined }, {}, [liveAlready]],
    [
      'another commit that is live',
      newest(live, theirs),
      {},
      [restated({ code: 'commit-not-live', commit, live: theirs })],
    ],
    [
      'nothing that is live',
      { latest: undefined, live: undefined },
      {},
      [restated({ code: 'commit-not-live', commit, live: undefined })],
    ],
    [
      'a live commit that is not reported',
      { live: revision('r1', 'DEPLOYED', null) },
      {},
      sure({ code: 'live-commit-unreported' }),
    ],
    [
      'a commit that is not known',
      { commit: unknown },
      {},
      sure({ code: 'commit-unknown', because: { code: 'no-workflow' } }),
    ],
    ['a revision on its way', newest(revision('r2', 'BUILDING'), theirs), {}, [{ ...building, commit }]],
    [
      'a revision on its way before the newest',
      { ...newest(revision('r3', 'QUEUED', theirs), theirs), onTheirWay: [revision('r2', 'BUILDING')] },
      {},
      [{ ...building, commit }, newer],
    ],
    [
      'a revision on its way before one that failed',
      { ...newest(revision('r3', 'BUILD_FAILED', theirs), theirs), onTheirWay: [revision('r2', 'BUILDING')] },
      {},
      [{ ...building, commit }, newer],
    ],
    ['a revision without a commit', newest(revision('r2', 'QUEUED', null)), {}, [unreported, unreported]],
    [
      'another revision on its way',
      newest(revision('r2', 'BUILDING', theirs)),
      {},
      [liveAlready, { ...building, code: 'newest-takes-over' }],
    ],
    ['a revision that failed', newest(failed, theirs), {}, [restated({ code: 'ended', ...lost, commit })]],
    ['a live commit whose newest revision failed', newest(failed), {}, [liveAlready, doesNotServe]],
    ['the same, with secrets', newest(failed), { secrets }, [mayLack]],
    ['the same, with a command', newest(failed), { installCommand: 'npm ci' }, [mayLack]],
    ['the same of no reported commit', newest(revision('r2', 'DEPLOY_FAILED', null)), { secrets }, [mayLack]],
    [
      'the same of another commit',
      newest(revision('r2', 'DEPLOY_FAILED', theirs)),
      { secrets },
      [liveAlready, doesNotServe],
    ],
    ['rebuild: always', {}, { rebuild: 'always' }, [restated({ code: 'rebuild-always' })]],
    ['rebuild: never', newest(live, theirs), { rebuild: 'never' }, [{ code: 'rebuild-never' }]],
    [
      'rebuild: never, where the newest one failed',
      newest(failed),
      { rebuild: 'never' },
      [{ code: 'rebuild-never' }, doesNotServe],
    ],
    [
      'rebuild: never, where one is on its way',
      newest(revision('r2', 'BUILDING', theirs)),
      { rebuild: 'never' },
      [building],
    ],
    [
      'rebuild: never, where nothing is live',
      { live: undefined, latest: undefined },
      { rebuild: 'never' },
      [{ field: 'rebuild', code: 'nothing-live', ended: undefined }],
    ],
    [
      'rebuild: never, where nothing but a failure is',
      { live: undefined, latest: failed },
      { rebuild: 'never' },
      [{ field: 'rebuild', code: 'nothing-live', ended: lost }],
    ],
  ])('of %s', (_, actual, requested, expected) =>
    expect(said(plan({ ...github, ...requested }, { ...seen, ...actual }))).toEqual(expected),
  );

  const failedImage = { latest: imageRevision('r2', 'DEPLOY_FAILED') };
  const imageLive: PlanReason = { code: 'image-live', image: 'registry.test/agent:1' };
  test.each<[what: string, requested: Partial<DesiredExternalDocker>, actual: Partial<ObservedState>, Said]>([
    ['an image that is live', {}, {}, [{ code: 'image-same' }]],
    ['no revision', {}, { live: undefined, latest: undefined }, [restated({ code: 'no-revision' })]],
    [
      'a revision of an image on its way',
      {},
      { latest: imageRevision('r2', 'DEPLOYING') },
      [{ ...building, status: 'DEPLOYING' }],
    ],
    ['a live image whose newest revision failed', {}, failedImage, [imageLive, doesNotServe]],
    ['the same, with resources', { resourceSpec: { cpu: 1 } }, failedImage, [restated({ code: 'ended', ...lost })]],
    ['the same, with references', { secretReferences: [] }, failedImage, [restated({ code: 'ended', ...lost })]],
  ])('of %s', (_, requested, actual, expected) =>
    expect(said(plan({ ...docker, ...requested }, { ...seenImage, ...actual }))).toEqual(expected),
  );

  test('of an image that is live, where none is requested', () => {
    const { imageUri: _, ...requested } = docker;
    expect(said(plan(requested, { ...seenImage, ...failedImage }))[0]).toEqual(imageLive);
  });

  test('of an image of the service’s own registry', () => {
    const pushed = { source: 'internal_docker', name: 'agent', secretsStrategy: 'merge' } as const;
    const deployment = { ...image, source: 'internal_docker' };
    const first = (actual: Partial<ObservedState>) => said(plan(pushed, { ...seenImage, deployment, ...actual }))[0];
    expect(first({})).toEqual({ code: 'image-same' });
    expect(first(failedImage)).toEqual(imageLive);
  });
});

describe('beside a change that makes a revision', () => {
  const secrets = [{ name: 'TOKEN', value: 'two' }];
  const beside = (actual: Partial<ObservedState>, requested: Partial<DesiredGithub> = {}) =>
    plan({ ...github, secrets, ...requested }, { ...seen, ...actual });

  test('nothing is adopted, and what else is on its way is not noted', () => {
    const planned = beside(newest(revision('r2', 'BUILDING')));
    expect(planned).toMatchObject({ kind: 'patch', notes: [] });
    expect(planned).not.toHaveProperty('adopt');
    expect(beside(newest(revision('r2', 'BUILD_FAILED', theirs)))).toMatchObject({ notes: [] });
  });

  test('the ref is restated where the commit is not known, which is noted', () => {
    expect(beside({ commit: unknown })).toMatchObject({
      notes: [{ code: 'built-to-be-sure', reason: { code: 'commit-unknown', because: { code: 'no-workflow' } } }],
    });
  });

  test('rebuild: never forbids nothing', () => {
    expect(beside({ live: undefined, latest: undefined }, { rebuild: 'never' })).toMatchObject({
      kind: 'patch',
      notes: [],
    });
  });
});

test('a plan that changes nothing adopts nothing', () => {
  expect(plan(github, seen)).not.toHaveProperty('adopt');
});

test.each([
  ['DEPLOYED', 'r1', 'live'],
  ['DEPLOYED', 'r2', 'on-its-way'],
  ['BUILDING', 'r1', 'on-its-way'],
  ['PONDERING', 'r1', 'on-its-way'],
  ['SKIPPED', 'r1', 'ended'],
])('r1 with the status %s, where %s is active, is %s', (status, active, phase) =>
  expect(phaseOf(revision('r1', status), active)).toBe(phase),
);
