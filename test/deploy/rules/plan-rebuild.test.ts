import { describe, expect, test } from 'vitest';
import type { DesiredExternalDocker, DesiredGithub } from '../../../src/deploy/file/desired.ts';
import { plan } from '../../../src/deploy/rules/plan.ts';
import type { ObservedState } from '../../../src/deploy/rules/plan-types.ts';
import {
  theirs,
  unknown,
  github,
  docker,
  built,
  image,
  revision,
  imageRevision,
  live,
  seen,
  seenImage,
  newest,
  changed,
  request,
  obstacles,
  notes,
} from './plan-cases.ts';

describe('rebuild: auto', () => {
  const restated = { source_revision_config: { repo_ref: 'main' } };
  test.each<
    [string, Partial<ObservedState>, Partial<DesiredGithub>, { adopt?: string; unreported?: true } | 'none' | 'restate']
  >([
    ['this commit is live: nothing', {}, {}, 'none'],
    ['another commit is live: built', newest(live, theirs), {}, 'restate'],
    [
      'the live one does not report its commit: built',
      { live: revision('r1', 'DEPLOYED', null), latest: live },
      {},
      'restate',
    ],
    ['the commit cannot be known: built', { commit: unknown }, {}, 'restate'],
    ['a revision of it is building: adopted', newest(revision('r2', 'BUILDING'), theirs), {}, { adopt: 'r2' }],
    ['a revision of it is queued: adopted', newest(revision('r2', 'QUEUED'), theirs), {}, { adopt: 'r2' }],
    [
      'a revision of it is finished and not switched to yet: adopted',
      newest(revision('r2', 'DEPLOYED'), theirs),
      {},
      { adopt: 'r2' },
    ],
    [
      'a revision of it has an unknown status: adopted',
      newest(revision('r2', 'PONDERING'), theirs),
      {},
      { adopt: 'r2' },
    ],
    [
      'a queued revision does not report its commit yet: looked at again',
      newest(revision('r2', 'QUEUED', null), theirs),
      {},
      { adopt: 'r2', unreported: true },
    ],
    ['also where this commit is live', newest(revision('r2', 'QUEUED', null)), {}, { adopt: 'r2', unreported: true }],
    [
      'a revision of another commit is on its way: built',
      newest(revision('r2', 'BUILDING', theirs), theirs),
      {},
      'restate',
    ],
    ['another commit is on its way, this one is live: nothing', newest(revision('r2', 'BUILDING', theirs)), {}, 'none'],
    [
      'a revision of it is on its way behind the newest: adopted',
      { ...newest(revision('r3', 'QUEUED', theirs), theirs), onTheirWay: [revision('r2', 'BUILDING')] },
      {},
      { adopt: 'r2' },
    ],
    ['one of it failed: built again', newest(revision('r2', 'BUILD_FAILED'), theirs), {}, 'restate'],
    ['one of it was interrupted: built again', newest(revision('r2', 'INTERRUPTED'), theirs), {}, 'restate'],
    ['one of it was skipped: built again', newest(revision('r2', 'SKIPPED'), theirs), {}, 'restate'],
    [
      'it is live, and one of another commit failed: nothing',
      newest(revision('r2', 'BUILD_FAILED', theirs)),
      {},
      'none',
    ],
    [
      'it is live, and one of it with these secrets failed: built again',
      newest(revision('r2', 'DEPLOY_FAILED')),
      { secrets: [{ name: 'TOKEN', value: 'one' }] },
      'restate',
    ],
    ['nothing was ever made: built', { latest: undefined, live: undefined }, {}, 'restate'],
    ['always: built, although it is live', {}, { rebuild: 'always' }, 'restate'],
    ['always: built, although it is on its way', newest(revision('r2', 'BUILDING')), { rebuild: 'always' }, 'restate'],
    ['never: another commit is live and stays', newest(live, theirs), { rebuild: 'never' }, 'none'],
    [
      'never: what is on its way is followed',
      newest(revision('r2', 'BUILDING', theirs)),
      { rebuild: 'never' },
      { adopt: 'r2' },
    ],
  ])('%s', (_, actual, requested, wanted) => {
    const planned = plan({ ...github, ...requested }, { ...seen, ...actual });
    const { adopt, unreportedCommit: unreported } = planned.kind === 'none' ? planned : {};
    const nothing = adopt || unreported ? { adopt, unreported } : 'none';
    expect(planned.kind === 'patch' ? request(planned) : nothing).toEqual(wanted === 'restate' ? restated : wanted);
    expect(changed(planned)).toEqual(wanted === 'restate' ? ['source_revision_config.repo_ref'] : []);
  });

  test('notes an unknown commit', () => {
    expect(notes(plan(github, { ...seen, commit: unknown }))).toMatchObject([
      { reason: { code: 'commit-unknown', because: { code: 'no-workflow' } } },
    ]);
  });

  test('a difference and another commit make one revision', () => {
    const planned = plan(
      { ...github, secrets: [{ name: 'TOKEN', value: 'two' }] },
      { ...seen, live: revision('r1', 'DEPLOYED', theirs), latest: revision('r1', 'DEPLOYED', theirs) },
    );
    expect(request(planned)).toEqual({
      source_revision_config: { repo_ref: 'main' },
      secrets: [{ name: 'TOKEN', value: 'two' }],
    });
  });

  test('a difference alone leaves the ref of a live commit unstated', () => {
    const planned = plan({ ...github, secrets: [{ name: 'TOKEN', value: 'two' }] }, seen);
    expect(request(planned)).toEqual({ secrets: [{ name: 'TOKEN', value: 'two' }] });
  });

  test('a change in place beside a revision on its way: sent, and that one is followed', () => {
    const planned = plan({ ...github, buildOnPush: true }, { ...seen, ...newest(revision('r2', 'BUILDING'), theirs) });
    expect(planned).toMatchObject({ kind: 'patch', makesRevision: false, adopt: 'r2' });
  });

  test("restates the deployment's ref if none was requested", () => {
    const { repoRef: _left, ...requested } = github;
    const planned = plan(requested, { ...seen, commit: unknown });
    expect(request(planned)).toEqual({ source_revision_config: { repo_ref: 'main' } });
  });

  test('fails if a revision is needed and its ref is unknown', () => {
    const { repoRef: _left, ...requested } = github;
    const deployment = { ...built, source_revision_config: {} };
    expect(obstacles(plan(requested, { ...seen, deployment, commit: unknown }))).toEqual([
      { field: 'source_revision_config.repo_ref', code: 'source-unreported' },
    ]);
  });

  test('never, and nothing is live: impossible', () => {
    const failed = revision('r1', 'BUILD_FAILED');
    const planned = plan({ ...github, rebuild: 'never' }, { ...seen, live: undefined, latest: failed });
    expect(obstacles(planned)[0]).toMatchObject({ field: 'rebuild', code: 'nothing-live' });
  });
});

describe('an image', () => {
  const failed = (image_uri?: string): Partial<ObservedState> => ({
    latest: imageRevision('r2', 'DEPLOY_FAILED', image_uri),
    deployment: { ...image, latest_revision_id: 'r2' },
  });
  test.each<[string, Partial<DesiredExternalDocker>, Partial<ObservedState>, object | 'none' | { adopt: string }]>([
    ['is live: nothing', {}, {}, 'none'],
    ['is another one: sent', { imageUri: 'registry.test/agent:2' }, {}, { image_uri: 'registry.test/agent:2' }],
    ['is on its way: adopted', {}, { latest: imageRevision('r2', 'DEPLOYING') }, { adopt: 'r2' }],
    [
      'failed, and the former one is live: tried again',
      {},
      { ...failed(), live: imageRevision('r1', 'DEPLOYED', 'registry.test/agent:0') },
      { image_uri: 'registry.test/agent:1' },
    ],
    ['is live, and a later revision of it failed: nothing', {}, failed(), 'none'],
    [
      'is live, and a later revision with these resources failed: tried again',
      { resourceSpec: { cpu: 1 } },
      failed(),
      { image_uri: 'registry.test/agent:1' },
    ],
    ['nothing is live: tried again', {}, { ...failed(), live: undefined }, { image_uri: 'registry.test/agent:1' }],
  ])('%s', (_, requested, actual, wanted) => {
    const planned = plan({ ...docker, ...requested }, { ...seenImage, ...actual });
    const adopted = planned.kind === 'none' && planned.adopt ? { adopt: planned.adopt } : 'none';
    expect(planned.kind === 'patch' ? request(planned)?.source_revision_config : adopted).toEqual(wanted);
  });

  test('its address changes in place', () => {
    const planned = plan({ ...docker, customUrl: 'https://other.test/' }, seenImage);
    expect(planned).toMatchObject({ kind: 'patch', makesRevision: false });
    expect(plan({ ...docker, customUrl: 'https://agent.test/' }, seenImage).kind).toBe('none');
  });
});
