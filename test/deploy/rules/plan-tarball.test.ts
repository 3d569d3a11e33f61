import { describe, expect, test } from 'vitest';
import type { DesiredInternalDocker, DesiredInternalSource } from '../../../src/deploy/file/desired.ts';
import { carriesSource } from '../../../src/deploy/rules/find-made.ts';
import { plan } from '../../../src/deploy/rules/plan.ts';
import {
  compareTarball,
  latestDigest,
  latestPath,
  notesOnTarball,
  uploadChange,
  waitsForUpload,
} from '../../../src/deploy/rules/plan-tarball.ts';
import type { Plan, ObservedState } from '../../../src/deploy/rules/plan-types.ts';
import { base, changed, notes, obstacles, unknown } from './plan-cases.ts';

const ours = `sha256:${'a'.repeat(64)}`;
const theirs = `sha256:${'b'.repeat(64)}`;
const tarball = { digest: ours, size: 12_345, files: 7, leftOut: [] };

const folder: DesiredInternalSource = {
  source: 'internal_source',
  name: 'agent',
  sourceDir: 'agent',
  graphConfigPath: 'langgraph.json',
  secretsStrategy: 'merge',
  rebuild: 'auto',
};

interface Reported {
  path?: string | null;
  digest?: string | null;
}
/** What a service reports of an upload; nothing if it hides digests. */
const upload = ({ path = 'uploads/d1/1.tar.gz', digest = ours }: Reported = {}) => ({
  graph_config_path: 'langgraph.json',
  source_tarball_path: path,
  source_tarball_digest: digest,
});
const revision = (id: string, status: string, reported: Reported = {}) => ({
  id,
  status,
  source_revision_config: upload(reported),
});
const deployment = { ...base, source: 'internal_source', source_revision_config: upload() };
const live = revision('r1', 'DEPLOYED');
const seen: ObservedState = { deployment, live, latest: live, commit: unknown, tarball };

/** Another revision is the newest one; r1 still serves. */
const newest = (status: string, reported: Reported = {}): Partial<ObservedState> => ({
  latest: revision('r2', status, reported),
  deployment: { ...deployment, latest_revision_id: 'r2', source_revision_config: upload(reported) },
});
/** The first revision of a creation, which waits for a folder. */
const waiting: Partial<ObservedState> = {
  latest: revision('r1', 'QUEUED', { path: null, digest: null }),
  live: undefined,
  deployment: {
    ...deployment,
    active_revision_id: null,
    source_revision_config: upload({ path: null, digest: null }),
  },
};
/** A service that reports the path, and no digest. */
const hiding = (status: string): Partial<ObservedState> => {
  const { source_tarball_digest: _, ...config } = upload();
  const latest = { id: 'r1', status, source_revision_config: config };
  return { latest, live: latest, deployment: { ...deployment, source_revision_config: config } };
};

/** Changes of the request, which may omit the folder. */
type Requested = Omit<Partial<DesiredInternalSource>, 'sourceDir'> & { sourceDir?: string | undefined };

const inShort = (planned: Plan): string => {
  if (planned.kind === 'impossible') return 'impossible';
  const what = planned.kind === 'none' ? 'none' : planned.upload ? 'upload' : planned.kind;
  return 'adopt' in planned && planned.adopt ? `${what}, adopt ${planned.adopt}` : what;
};

describe('a folder', () => {
  test.each<[string, Partial<ObservedState>, Requested, string]>([
    ['that is live: nothing', {}, {}, 'none'],
    ['that differs from the live one: uploaded', newest('DEPLOYED', { digest: theirs }), {}, 'upload'],
    ['that is on its way: followed', newest('BUILDING'), {}, 'none, adopt r2'],
    [
      'while another one is on its way: uploaded, or that one would serve',
      newest('BUILDING', { digest: theirs }),
      {},
      'upload',
    ],
    ['whose revision failed, while it is live already: nothing', newest('BUILD_FAILED'), {}, 'none'],
    [
      'whose revision failed, and carried a command: uploaded again',
      newest('BUILD_FAILED'),
      { buildCommand: 'make' },
      'upload',
    ],
    ['that a deployment waits for: uploaded', waiting, {}, 'upload'],
    ['of a service that reports no digest: uploaded again', hiding('DEPLOYED'), {}, 'upload'],
    ['of such a service, on its way: uploaded again', hiding('BUILDING'), {}, 'upload'],
    ['rebuild: always: uploaded', {}, { rebuild: 'always' }, 'upload'],
    [
      'rebuild: never: left alone, whatever it holds',
      newest('DEPLOYED', { digest: theirs }),
      { rebuild: 'never' },
      'none, adopt r2',
    ],
    ['rebuild: never, while a deployment waits for it: impossible', waiting, { rebuild: 'never' }, 'impossible'],
    ['that is not given: left alone', { tarball: undefined }, { sourceDir: undefined }, 'none'],
    [
      'that is not given, while a deployment waits for one: impossible',
      { ...waiting, tarball: undefined },
      { sourceDir: undefined },
      'impossible',
    ],
    [
      'that is not given, whose revision failed: its upload once more',
      { ...newest('BUILD_FAILED', { digest: theirs }), tarball: undefined },
      { sourceDir: undefined },
      'patch',
    ],
    ['that could not be looked at: left alone', { tarball: undefined }, {}, 'none'],
    ['that is live, with another command: changed in place', {}, { installCommand: 'make' }, 'patch'],
    [
      'that is live, with another secret: a revision of the same upload',
      {},
      { secrets: [{ name: 'A', value: 'b' }] },
      'patch',
    ],
    [
      'that differs, with another secret: both at once',
      newest('DEPLOYED', { digest: theirs }),
      { secrets: [{ name: 'A', value: 'b' }] },
      'upload',
    ],
    [
      'always, with another secret: one revision is enough',
      {},
      { rebuild: 'always', secrets: [{ name: 'A', value: 'b' }] },
      'patch',
    ],
    [
      'of a deployment of another source: impossible',
      { deployment: { ...deployment, source: 'github' } },
      {},
      'impossible',
    ],
  ])('%s', (_, looked, requested, expected) => {
    const { sourceDir, ...rest } = { ...folder, ...requested };
    const desired = sourceDir === undefined ? rest : { ...rest, sourceDir };
    expect(inShort(plan(desired, { ...seen, ...looked }))).toBe(expected);
  });

  test('that a deployment waits for: the obstacle says whether one may be given', () => {
    const never = (secrets?: DesiredInternalSource['secrets']) =>
      plan({ ...folder, rebuild: 'never', ...(secrets ? { secrets } : {}) }, { ...seen, ...waiting });
    const waits = (isForbidden: boolean) => [
      { field: 'source_revision_config.source_tarball_path', code: 'awaits-folder', revisionId: 'r1', isForbidden },
    ];
    expect(obstacles(never())).toEqual(waits(true));
    expect(obstacles(never([{ name: 'A', value: 'b' }]))).toEqual(waits(true));
    const { sourceDir: _, ...nothing } = folder;
    expect(obstacles(plan(nothing, { ...seen, ...waiting, tarball: undefined }))).toEqual(waits(false));
  });

  test('that is live: the plan says so, and nothing of what was left out', () => {
    const why = { code: 'folder-same' };
    expect(plan(folder, { ...seen, tarball: { ...tarball, leftOut: ['.env'] } })).toMatchObject({ why, notes: [] });
    expect(plan(folder, { ...seen, latest: undefined })).toMatchObject({ why, notes: [] });
    expect(plan(folder, { ...seen, ...newest('BUILD_FAILED') })).toMatchObject({
      why,
      notes: [{ code: 'newest-ended', revisionId: 'r2', status: 'BUILD_FAILED' }],
    });
    expect(plan(folder, { ...seen, ...newest('BUILD_FAILED'), live: undefined })).toMatchObject({ kind: 'patch' });
  });

  test('reports the size of the upload, and both digests', () => {
    const planned = plan(folder, { ...seen, ...newest('DEPLOYED', { digest: theirs }) });
    expect(planned).toMatchObject({
      kind: 'patch',
      makesRevision: true,
      request: {},
      upload: { digest: ours },
      changes: [
        {
          field: 'source_revision_config.source_tarball_path',
          from: 'sha256:bbbbbbbbbbbb',
          to: 'sha256:aaaaaaaaaaaa (7 files, 12,345 bytes packed)',
          makesRevision: true,
          why: { code: 'uploaded', reason: { code: 'folder-differs' } },
        },
      ],
    });
    expect(planned).not.toHaveProperty('request.source_revision_config');
  });

  test('is uploaded again with a note if a service reports no digest', () => {
    expect(notes(plan(folder, { ...seen, ...hiding('DEPLOYED') }))).toEqual([
      { code: 'built-to-be-sure', reason: { code: 'digest-unreported' } },
    ]);
  });

  test('lists what the default rules left out', () => {
    const leftOut = ['.env', 'a/.env', 'b.pem', 'c.key', 'node_modules/', 'p/node_modules/', '.git/'];
    const planned = plan(folder, { ...seen, ...waiting, tarball: { ...tarball, leftOut } });
    expect(notes(planned)).toEqual([
      { code: 'variables-left-out', paths: ['.env', 'a/.env'] },
      { code: 'left-out', paths: leftOut },
    ]);
  });

  test('is noted if it was not read and cannot be compared', () => {
    for (const looked of [{ ...seen, tarball: undefined }, { commit: unknown }])
      expect(notes(plan(folder, looked))).toEqual([{ code: 'folder-unseen' }]);
  });
});

describe('a creation from a folder', () => {
  test('creates the deployment, and uploads afterwards', () => {
    const planned = plan(folder, { commit: unknown, tarball });
    expect(planned).toMatchObject({
      kind: 'create',
      upload: { digest: ours },
      request: {
        name: 'agent',
        source: 'internal_source',
        source_config: {},
        source_revision_config: { graph_config_path: 'langgraph.json' },
        secrets: [],
      },
    });
    expect(changed(planned)).toContain('source_revision_config.source_tarball_path');
  });

  test('needs a folder and a graph configuration', () => {
    const { sourceDir: _, graphConfigPath: __, ...nothing } = folder;
    const missing = (field: string) => ({ field, code: 'missing', source: 'internal_source' });
    expect(obstacles(plan(nothing, { commit: unknown }))).toEqual([
      missing('source_revision_config.graph_config_path'),
      missing('source_revision_config.source_tarball_path'),
    ]);
  });
});

describe('an image of the service’s own registry', () => {
  const pushed: DesiredInternalDocker = {
    source: 'internal_docker',
    name: 'agent',
    imageUri: 'registry.test/agent:2',
    secretsStrategy: 'merge',
  };
  const config = { image_uri: 'registry.test/agent:1' };
  const first = { id: 'r1', status: 'DEPLOYED', source_revision_config: config };
  const held: ObservedState = {
    deployment: { ...base, source: 'internal_docker', source_revision_config: config },
    live: first,
    latest: first,
    commit: unknown,
  };

  test('is created by its name, without a listener', () => {
    expect(plan(pushed, { commit: unknown })).toMatchObject({
      kind: 'create',
      request: {
        source: 'internal_docker',
        source_config: {},
        source_revision_config: { image_uri: 'registry.test/agent:2' },
      },
    });
  });

  test('is needed for a creation, for nothing could run without it', () => {
    const { imageUri: _, ...nothing } = pushed;
    expect(obstacles(plan(nothing, { commit: unknown }))).toMatchObject([
      { field: 'source_revision_config.image_uri', code: 'missing' },
    ]);
  });

  test('another one is a revision, the same is nothing, and one that failed is run again', () => {
    expect(plan(pushed, held)).toMatchObject({
      request: { source_revision_config: { image_uri: 'registry.test/agent:2' } },
    });
    const same = { ...pushed, imageUri: 'registry.test/agent:1' };
    expect(plan(same, held)).toMatchObject({ kind: 'none' });
    const failed = { ...first, id: 'r2', status: 'DEPLOY_FAILED' };
    expect(plan(same, { ...held, live: undefined, latest: failed })).toMatchObject({
      request: { source_revision_config: { image_uri: 'registry.test/agent:1' } },
    });
  });
});

test.each([
  ['at its own path', 'uploads/d1/1.tar.gz', ours, undefined, true],
  ['at another path with the same digest', 'uploads/d1/9.tar.gz', ours, ours, true],
  ['at another path with another digest', 'uploads/d1/9.tar.gz', theirs, ours, false],
  ['at another path, without a digest', 'uploads/d1/9.tar.gz', null, ours, false],
])('finds an upload with a lost response %s', (_, path, reported, digest, found) => {
  const request = { source_revision_config: { source_tarball_path: 'uploads/d1/1.tar.gz' } };
  expect(carriesSource(request, revision('r2', 'QUEUED', { path, digest: reported }), digest)).toBe(found);
});

test.each<[digest: string | null | undefined, path: string | null | undefined, expected: string]>([
  [ours, undefined, 'folder-same'],
  [ours, null, 'folder-same'],
  [theirs, undefined, 'folder-differs'],
  [undefined, undefined, 'digest-unreported'],
  [undefined, 'uploads/1', 'digest-unreported'],
  [null, 'uploads/1', 'digest-unreported'],
  [null, undefined, 'nothing-uploaded'],
  [null, null, 'nothing-uploaded'],
  [undefined, null, 'nothing-uploaded'],
])('compares a folder with the reported digest %j and path %j', (digest, path, expected) =>
  expect(compareTarball(tarball, digest, path)).toBe(expected),
);

type Report = string | null | undefined;
test.each<[ofRevision: Report, ofDeployment: Report, latest: Report]>([
  ['a', 'b', 'a'],
  [null, 'b', 'b'],
  ['', 'b', 'b'],
  [undefined, 'b', 'b'],
  [null, undefined, null],
  [undefined, null, null],
  [null, null, null],
  [undefined, undefined, undefined],
])('with %j of the revision and %j of the deployment the last upload is %j', (ofRevision, ofDeployment, latest) => {
  const reporting = (field: string, value: Report) => (value === undefined ? {} : { [field]: value });
  const seenWith = (field: string) =>
    [
      { ...base, source_revision_config: reporting(field, ofDeployment) },
      { id: 'r1', status: 'QUEUED', source_revision_config: reporting(field, ofRevision) },
    ] as const;
  expect(latestDigest(...seenWith('source_tarball_digest'))).toBe(latest);
  expect(latestPath(...seenWith('source_tarball_path'))).toBe(latest);
});

test.each<[what: string, waits: boolean, source: string, latest: ObservedState['latest']]>([
  ['a revision in progress without an upload', true, 'internal_source', waiting.latest],
  ['a status that is not known', true, 'internal_source', revision('r1', 'NEWER', { path: null, digest: null })],
  ['a revision that ended', false, 'internal_source', revision('r1', 'BUILD_FAILED', { path: null, digest: null })],
  ['a reported path', false, 'internal_source', revision('r1', 'QUEUED', { digest: null })],
  ['a reported digest', false, 'internal_source', revision('r1', 'QUEUED', { path: null })],
  ['no revision', false, 'internal_source', undefined],
  ['another source', false, 'github', waiting.latest],
])('with %s a deployment waits for an upload: %s', (_, waits, source, latest) => {
  const waitingFor = { ...deployment, source, source_revision_config: { source_tarball_path: null } };
  expect(waitsForUpload(waitingFor, latest)).toBe(waits);
});

test.each<[files: number, digest: string, held: string | null | undefined, from: string | undefined, to: string]>([
  [1, ours, null, undefined, 'sha256:aaaaaaaaaaaa (1 file, 12,345 bytes packed)'],
  [2, ours, theirs, 'sha256:bbbbbbbbbbbb', 'sha256:aaaaaaaaaaaa (2 files, 12,345 bytes packed)'],
  [2, `md5:${'a'.repeat(32)}`, 'first', 'first', `md5:${'a'.repeat(32)} (2 files, 12,345 bytes packed)`],
])('reports an upload of %d files with the digest %s', (files, digest, held, from, to) =>
  expect(uploadChange({ ...tarball, files, digest }, held, { code: 'uploaded-later' })).toEqual({
    field: 'source_revision_config.source_tarball_path',
    from,
    to,
    makesRevision: true,
    why: { code: 'uploaded-later' },
  }),
);

test('notes nothing of a folder that is not given', () => {
  const { sourceDir: _, ...nothing } = folder;
  expect(notesOnTarball(nothing, undefined)).toEqual([]);
});
