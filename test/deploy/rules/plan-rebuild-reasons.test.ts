import { describe, expect, test } from 'vitest';
import type { DesiredExternalDocker, DesiredGithub } from '../../../src/deploy/file/desired.ts';
import { phaseOf } from '../../../src/deploy/rules/plan-rebuild.ts';
import { plan } from '../../../src/deploy/rules/plan.ts';
import type { Plan, ObservedState } from '../../../src/deploy/rules/plan-types.ts';
import {
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
  const sure = 'the ref is built again to be sure';
  const unreported = 'the live revision does not report which commit it was built from';
  const failed = revision('r2', 'DEPLOY_FAILED');
  const secrets = [{ name: 'TOKEN', value: 'one' }];
  /** The reason, and the notes behind it. */
  const inWords = (planned: Plan): string[] => {
    if (planned.kind === 'impossible') return planned.obstacles.map(({ problem, advice }) => `${problem}. ${advice}`);
    const why = planned.kind === 'none' ? planned.why : (planned.changes.at(-1)?.why ?? '');
    return [why.replace('restated so that a revision is made', 'restated'), ...planned.notes];
  };

  test.each<[what: string, actual: Partial<ObservedState>, requested: Partial<DesiredGithub>, words: string[]]>([
    ['a commit that is live', {}, {}, ['commit aaaaaaa is live already']],
    ['a live commit of no known newest revision', { latest: undefined }, {}, ['commit aaaaaaa is live already']],
    ['another commit that is live', newest(live, theirs), {}, ['restated: commit aaaaaaa is not live, bbbbbbb is']],
    ['nothing that is live', { latest: undefined, live: undefined }, {}, ['restated: commit aaaaaaa is not live']],
    [
      'a live commit that is not reported',
      { live: revision('r1', 'DEPLOYED', null) },
      {},
      [`restated: ${unreported}`, `${unreported}: ${sure}`],
    ],
    [
      'a commit that is not known',
      { commit: unknown },
      {},
      [
        'restated: the requested commit is not known (unknown commit)',
        `the requested commit is not known (unknown commit): ${sure}`,
      ],
    ],
    [
      'a revision on its way',
      newest(revision('r2', 'BUILDING'), theirs),
      {},
      ['revision r2 of commit aaaaaaa is on its way already (BUILDING)'],
    ],
    [
      'a revision on its way before the newest',
      { ...newest(revision('r3', 'QUEUED', theirs), theirs), onTheirWay: [revision('r2', 'BUILDING')] },
      {},
      [
        'revision r2 of commit aaaaaaa is on its way already (BUILDING)',
        'a newer revision (r3) waits behind the one of aaaaaaa',
      ],
    ],
    [
      'a revision on its way before one that failed',
      { ...newest(revision('r3', 'BUILD_FAILED', theirs), theirs), onTheirWay: [revision('r2', 'BUILDING')] },
      {},
      [
        'revision r2 of commit aaaaaaa is on its way already (BUILDING)',
        'a newer revision (r3) waits behind the one of aaaaaaa',
      ],
    ],
    [
      'a revision without a commit',
      newest(revision('r2', 'QUEUED', null)),
      {},
      [
        'revision r2 is on its way (QUEUED) and does not report its commit yet',
        'revision r2 is on its way (QUEUED) and does not report its commit yet',
      ],
    ],
    [
      'another revision on its way',
      newest(revision('r2', 'BUILDING', theirs)),
      {},
      ['commit aaaaaaa is live already', 'revision r2 of another commit is on its way (BUILDING) and will take over'],
    ],
    [
      'a revision that failed',
      newest(failed, theirs),
      {},
      ['restated: revision r2 ended DEPLOY_FAILED for commit aaaaaaa'],
    ],
    [
      'a live commit whose newest revision failed',
      newest(failed),
      {},
      ['commit aaaaaaa is live already', 'the newest revision r2 ended DEPLOY_FAILED and does not serve'],
    ],
    [
      'the same, with secrets',
      newest(failed),
      { secrets },
      ['restated: revision r2 ended DEPLOY_FAILED, and the live one may lack what it carried'],
    ],
    [
      'the same, with a command',
      newest(failed),
      { installCommand: 'npm ci' },
      ['restated: revision r2 ended DEPLOY_FAILED, and the live one may lack what it carried'],
    ],
    [
      'the same of no reported commit',
      newest(revision('r2', 'DEPLOY_FAILED', null)),
      { secrets },
      ['restated: revision r2 ended DEPLOY_FAILED, and the live one may lack what it carried'],
    ],
    [
      'the same of another commit',
      newest(revision('r2', 'DEPLOY_FAILED', theirs)),
      { secrets },
      ['commit aaaaaaa is live already', 'the newest revision r2 ended DEPLOY_FAILED and does not serve'],
    ],
    ['rebuild: always', {}, { rebuild: 'always' }, ['restated: rebuild is always']],
    ['rebuild: never', newest(live, theirs), { rebuild: 'never' }, ['no field differs, and rebuild is never']],
    [
      'rebuild: never, where the newest one failed',
      newest(failed),
      { rebuild: 'never' },
      ['no field differs, and rebuild is never', 'the newest revision r2 ended DEPLOY_FAILED and does not serve'],
    ],
    [
      'rebuild: never, where one is on its way',
      newest(revision('r2', 'BUILDING', theirs)),
      { rebuild: 'never' },
      ['nothing differs from revision r2, which is on its way already (BUILDING)'],
    ],
    [
      'rebuild: never, where nothing is live',
      { live: undefined, latest: undefined },
      { rebuild: 'never' },
      ['nothing is live, and rebuild: never forbids to build again. Set rebuild to auto.'],
    ],
    [
      'rebuild: never, where nothing but a failure is',
      { live: undefined, latest: failed },
      { rebuild: 'never' },
      [
        'nothing is live (revision r2 ended DEPLOY_FAILED), and rebuild: never forbids to build again. Set rebuild to auto.',
      ],
    ],
  ])('of %s', (_, actual, requested, words) =>
    expect(inWords(plan({ ...github, ...requested }, { ...seen, ...actual }))).toEqual(words),
  );

  const failedImage = { latest: imageRevision('r2', 'DEPLOY_FAILED') };
  test.each<[what: string, requested: Partial<DesiredExternalDocker>, actual: Partial<ObservedState>, words: string[]]>(
    [
      ['an image that is live', {}, {}, ['nothing differs from what is live']],
      ['no revision', {}, { live: undefined, latest: undefined }, ['restated: there is no revision yet']],
      [
        'a revision of an image on its way',
        {},
        { latest: imageRevision('r2', 'DEPLOYING') },
        ['nothing differs from revision r2, which is on its way already (DEPLOYING)'],
      ],
      [
        'a live image whose newest revision failed',
        {},
        failedImage,
        [
          'image registry.test/agent:1 is live already',
          'the newest revision r2 ended DEPLOY_FAILED and does not serve',
        ],
      ],
      [
        'the same, with resources',
        { resourceSpec: { cpu: 1 } },
        failedImage,
        ['restated: revision r2 ended DEPLOY_FAILED'],
      ],
      [
        'the same, with references',
        { secretReferences: [] },
        failedImage,
        ['restated: revision r2 ended DEPLOY_FAILED'],
      ],
    ],
  )('of %s', (_, requested, actual, words) =>
    expect(inWords(plan({ ...docker, ...requested }, { ...seenImage, ...actual }))).toEqual(words),
  );

  test('of an image that is live, where none is requested', () => {
    const { imageUri: _, ...requested } = docker;
    expect(inWords(plan(requested, { ...seenImage, ...failedImage }))[0]).toBe(
      'image registry.test/agent:1 is live already',
    );
  });

  test('of an image of the service’s own registry', () => {
    const pushed = { source: 'internal_docker', name: 'agent', secretsStrategy: 'merge' } as const;
    const deployment = { ...image, source: 'internal_docker' };
    const words = (actual: Partial<ObservedState>) => inWords(plan(pushed, { ...seenImage, deployment, ...actual }))[0];
    expect(words({})).toBe('nothing differs from what is live');
    expect(words(failedImage)).toBe('image registry.test/agent:1 is live already');
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
      notes: ['the requested commit is not known (unknown commit): the ref is built again to be sure'],
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
