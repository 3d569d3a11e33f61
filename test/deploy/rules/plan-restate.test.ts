import { expect, test } from 'vitest';
import type { Desired } from '../../../src/deploy/file/desired.ts';
import type { RebuildDecision } from '../../../src/deploy/rules/plan-rebuild.ts';
import { restatement } from '../../../src/deploy/rules/plan-restate.ts';
import type { FieldChange, ObservedState } from '../../../src/deploy/rules/plan-types.ts';
import { base, built, docker, github, image } from './plan-cases.ts';

const ours = `sha256:${'a'.repeat(64)}`;
const tarball = { digest: ours, size: 9, files: 1, leftOut: [] };
const folder: Desired = { source: 'internal_source', name: 'agent', secretsStrategy: 'merge', rebuild: 'auto' };
const uploaded = (digest: string) => ({
  ...base,
  source: 'internal_source',
  source_revision_config: { source_tarball_path: 'uploads/1', source_tarball_digest: digest },
});

const why = { code: 'rebuild-always' } as const;
const make: RebuildDecision = { kind: 'make', why, notes: [] };
const stay: RebuildDecision = { kind: 'stay', why, notes: [] };
const onItsWay = { revisionId: 'r2', status: 'BUILDING' };
const adopt: RebuildDecision = { kind: 'adopt', why: { code: 'on-its-way', ...onItsWay }, notes: [] };
const adoptUnreported: RebuildDecision = { ...adopt, why: { code: 'commit-unreported', ...onItsWay } };
const stuck: RebuildDecision = { kind: 'stuck', why: { field: 'a', code: 'source-unreported' } };

const changeOf = (field: string, makesRevision = true): FieldChange => ({
  field,
  from: undefined,
  to: 'set',
  makesRevision,
  why: { code: 'secret-differs' },
});
const secret = changeOf('secrets.A');
const inPlace = changeOf('source_config.build_on_push', false);
const ref = changeOf('source_revision_config.repo_ref');
const main = { repo_ref: 'main' };
const { repoRef: _ref, ...anyRef } = github;
const { imageUri: _image, ...anyImage } = docker;
const fullRef = { ...built, source_revision_config: { repo_ref: 'refs/heads/main' } };
const imageUri = { image_uri: 'registry.test/agent:1' };

test.each<
  [what: string, Desired, ObservedState['deployment'], RebuildDecision, FieldChange[], part: object | undefined]
>([
  ['a ref, to build it', github, built, make, [], main],
  ['a ref beside another change that makes a revision', github, built, make, [secret], main],
  ['a ref beside a change in place', github, built, make, [inPlace], main],
  ['no ref that is changed', github, built, make, [ref], undefined],
  ['no ref where nothing is built', github, built, stay, [], undefined],
  ['no ref where another change builds', github, built, stay, [secret], undefined],
  ['no ref of a revision that is followed', github, built, adopt, [secret], undefined],
  ['a ref where a revision may be of another commit', github, built, adoptUnreported, [secret], main],
  ['no ref where such a revision is enough', github, built, adoptUnreported, [], undefined],
  ['no ref for a change in place', github, built, adoptUnreported, [inPlace], undefined],
  ['no ref where nothing helps', github, built, stuck, [], undefined],
  ['the ref of the service, plainly spelled', anyRef, fullRef, make, [], main],
  ['an image', docker, image, make, [], imageUri],
  ['an image beside a change in place', docker, image, make, [inPlace], imageUri],
  ['no image beside a change that makes a revision', docker, image, make, [secret], undefined],
  ['the image of the service', anyImage, image, make, [], imageUri],
  ['the last upload', folder, uploaded(ours), make, [], { source_tarball_path: 'uploads/1' }],
  ['no upload beside a change that makes a revision', folder, uploaded(ours), make, [secret], undefined],
])('restates %s', (_, desired, deployment, rebuilt, differing, part) => {
  if (!deployment) throw new Error('there is no deployment');
  const restated = restatement(desired, deployment, rebuilt, differing, {});
  expect(restated?.kind === 'restated' ? restated.part : restated).toEqual(part);
});

test('uploads no folder for a deployment that is built from a repository', () =>
  expect(restatement(github, built, make, [], { tarball })?.kind).toBe('restated'));

test('reports what is restated, from what, and why', () =>
  expect(restatement({ ...github, repoRef: 'next' }, built, make, [], {})).toEqual({
    kind: 'restated',
    change: {
      field: 'source_revision_config.repo_ref',
      from: 'main',
      to: 'next',
      makesRevision: true,
      why: { code: 'restated', reason: why },
    },
    part: { repo_ref: 'next' },
  }));

const theirs = `sha256:${'b'.repeat(64)}`;
test.each<[what: string, held: string, RebuildDecision, FieldChange[], from: string | undefined]>([
  ['the same folder, to build it', ours, make, [], 'sha256:aaaaaaaaaaaa'],
  ['the same folder, beside a change in place', ours, make, [inPlace], 'sha256:aaaaaaaaaaaa'],
  ['no folder that is the same, beside a change that makes a revision', ours, make, [secret], undefined],
  ['another folder, beside a change that makes a revision', theirs, make, [secret], 'sha256:bbbbbbbbbbbb'],
  ['no folder where nothing is built', theirs, stay, [], undefined],
])('uploads %s', (_, held, rebuilt, differing, from) => {
  const restated = restatement(folder, uploaded(held), rebuilt, differing, { tarball });
  const change = {
    field: 'source_revision_config.source_tarball_path',
    from,
    to: 'sha256:aaaaaaaaaaaa (1 file, 9 bytes packed)',
    makesRevision: true,
    why: { code: 'uploaded', reason: why },
  };
  expect(restated).toEqual(from && { kind: 'uploaded', change, digest: ours });
});

test.each<[Desired, field: string, held: unknown]>([
  [anyRef, 'repo_ref', undefined],
  [anyRef, 'repo_ref', null],
  [anyRef, 'repo_ref', ''],
  [anyImage, 'image_uri', undefined],
  [folder, 'source_tarball_path', null],
])('fails where the source is neither given nor reported (%#)', (desired, field, held) =>
  expect(restatement(desired, { ...base, source_revision_config: { [field]: held } }, make, [], {})).toEqual({
    kind: 'impossible',
    obstacle: { field: `source_revision_config.${field}`, code: 'source-unreported' },
  }),
);
