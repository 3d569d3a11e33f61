import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fromGit, fromImage, refusalOf, openServiceFixture } from '../service-fixture.ts';
import type { ServiceFixture } from '../service-fixture.ts';
import { eachClaim } from '../../../conformance/each-claim.ts';

const inGit = (source_revision_config: object) => fromGit({ source_revision_config });
const inImage = (source_revision_config: object) => fromImage({ source_revision_config });
const inSource = (source_revision_config: object) => ({
  ...fromGit({ source: 'internal_source' }),
  source_config: {},
  source_revision_config,
});

describe('over HTTP', () => {
  let fixture: ServiceFixture;
  beforeAll(async () => {
    fixture = await openServiceFixture();
    fixture.rollouts.fate = 'held';
  });
  afterAll(() => fixture.close());

  const reported = async (request: unknown) => (await fixture.control.createDeployment(request)).source_revision_config;
  const refused = (request: unknown) => refusalOf(fixture.control.createDeployment(request));

  test(
    'every field may be null or absent unless the source needs it',
    { meta: { claims: ['control.source-revision-config.nullable'] } },
    async () => {
      const empty = { image_uri: null, source_tarball_path: null };
      const requested = {
        repo_ref: 'main',
        graph_config_path: 'graph.json',
        repo_commit_sha: null,
        source_tarball_digest: null,
      };
      expect(await reported(inGit(empty))).toEqual({ ...requested, ...empty });
      expect(await reported(inGit({}))).toEqual({ ...requested, ...empty });
      expect(await reported(inImage({ repo_ref: null, graph_config_path: null }))).toMatchObject({ repo_ref: null });
    },
  );

  test.each([
    ['repo_ref', 'main', 'external_docker', fromImage],
    ['graph_config_path', 'graph.json', 'external_docker', fromImage],
    ['source_tarball_path', 'a/b.tgz', 'external_docker', fromImage],
    ['image_uri', 'a:1', 'github', fromGit],
    ['source_tarball_path', 'a/b.tgz', 'github', fromGit],
  ] as const)(
    '%s %j is refused with %s, on create and on PATCH',
    { meta: { claims: ['control.source-revision-config.by-source'] } },
    async (field, value, _source, request) => {
      const expected = { status: 400, detail: expect.stringContaining(`source_revision_config.${field}`) };
      expect(await refused(request({ source_revision_config: { [field]: value } }))).toMatchObject(expected);
      const { id } = await fixture.control.createDeployment(request());
      const patch = { source_revision_config: { [field]: value } };
      expect(await refusalOf(fixture.control.patchDeployment(id, patch))).toMatchObject(expected);
    },
  );

  test(
    'a ref is a string, and github needs one',
    { meta: { claims: ['control.source-revision-config.repo-ref'] } },
    async () => {
      expect(await refused(inGit({ repo_ref: 7 }))).toMatchObject({ status: 422 });
      expect(await refused(inGit({ repo_ref: null }))).toMatchObject({ status: 400 });
    },
  );

  eachClaim([
    ['control.source-revision-config.repo-ref-branch', 'main', 'main'],
    ['control.source-revision-config.repo-ref-branch', 'feature/a', 'feature/a'],
    ['control.source-revision-config.repo-ref-branch', 'origin/main', 'origin/main'],
    ['control.source-revision-config.repo-ref-branch', 'refs/heads/main', 'main'],
    ['control.source-revision-config.repo-ref-branch', 'refs/heads/tags/v1', 'tags/v1'],
    ['control.source-revision-config.repo-ref-tag', 'refs/tags/v1.0.0', 'refs/tags/v1.0.0'],
  ])('%s is returned as %s', {}, async (repo_ref, kept) => {
    expect(await reported(inGit({ repo_ref }))).toMatchObject({ repo_ref: kept });
  });

  eachClaim([
    ['control.source-revision-config.repo-ref-tag', 'refs/tags/', 'git'],
    ['control.source-revision-config.repo-ref-branch', 'refs/remotes/origin/main', 'main'],
    ['control.source-revision-config.repo-ref-branch', 'a..b', 'git'],
    ['control.source-revision-config.repo-ref-branch', '--upload-pack=id', 'git'],
  ])('%s is refused with an error about %s', {}, async (repo_ref, word) => {
    expect(await refused(inGit({ repo_ref }))).toMatchObject({ status: 400, detail: expect.stringContaining(word) });
    const { id } = await fixture.control.createDeployment(fromGit());
    expect(
      await refusalOf(fixture.control.patchDeployment(id, { source_revision_config: { repo_ref } })),
    ).toMatchObject({
      status: 400,
    });
  });

  test(
    'the path of the graph configuration file is a string',
    { meta: { claims: ['control.source-revision-config.graph-config-path'] } },
    async () => {
      expect(await reported(inGit({ graph_config_path: 'agents/a/graph.json' }))).toMatchObject({
        graph_config_path: 'agents/a/graph.json',
      });
      expect(await refused(inGit({ graph_config_path: {} }))).toMatchObject({ status: 422 });
      expect(await refused(inGit({ graph_config_path: '../graph.json' }))).toMatchObject({ status: 400 });
    },
  );

  eachClaim([
    ['control.source-revision-config.graph-config-path-github', 'github', () => inGit({ graph_config_path: null })],
    ['control.source-revision-config.graph-config-path-internal-source', 'internal_source', () => inSource({})],
    ['control.errors.graph-config-path-missing', 'github', () => inGit({ graph_config_path: undefined })],
    ['control.errors.graph-config-path-missing', 'internal_source', () => inSource({ graph_config_path: null })],
  ])('a creation with %s needs graph_config_path', {}, async (source, request) => {
    expect(await refused(request())).toMatchObject({
      status: 400,
      detail: expect.stringMatching(new RegExp(`graph_config_path is required .*${source}`)),
    });
  });

  test.each([
    ['external_docker', () => inImage({ graph_config_path: 'graph.json' })],
    [
      'internal_docker',
      () => ({
        ...fromImage({ source: 'internal_docker' }),
        source_revision_config: { graph_config_path: 'graph.json' },
      }),
    ],
  ])(
    'with %s graph_config_path must be null',
    {
      meta: {
        claims: [
          'control.source-revision-config.graph-config-path-elsewhere',
          'control.errors.graph-config-path-surplus',
        ],
      },
    },
    async (_, request) => {
      expect(await refused(request())).toMatchObject({
        status: 400,
        detail: expect.stringContaining('source_revision_config.graph_config_path is for github and internal_source'),
      });
    },
  );

  test(
    'external_docker names an image',
    { meta: { claims: ['control.source-revision-config.image-uri'] } },
    async () => {
      expect(await reported(inImage({ image_uri: 'a:2' }))).toMatchObject({ image_uri: 'a:2' });
      expect(await refused(inImage({ image_uri: null }))).toMatchObject({ status: 400 });
      expect(await refused(inImage({ image_uri: 2 }))).toMatchObject({ status: 422 });
      expect(await refused(inImage({ image_uri: '-v /:/host' }))).toMatchObject({ status: 400 });
    },
  );

  test(
    'a path that was not issued is refused',
    { meta: { claims: ['control.source-revision-config.source-tarball-path-arbitrary'] } },
    async () => {
      const source_tarball_path = '../../etc/passwd';
      expect(await refused(inSource({ graph_config_path: 'graph.json', source_tarball_path }))).toMatchObject({
        status: 400,
        detail: expect.stringContaining('source_tarball_path'),
      });
      const { id } = await fixture.control.createDeployment(inSource({ graph_config_path: 'graph.json' }));
      const patch = { source_revision_config: { source_tarball_path: 'uploads/a.tgz' } };
      expect(await refusalOf(fixture.control.patchDeployment(id, patch))).toMatchObject({ status: 400 });
    },
  );

  test(
    'the revision and its deployment return the commit that was built',
    { meta: { claims: ['control.source-revision-config.repo-commit-sha'] } },
    async () => {
      fixture.rollouts.fate = 'live';
      const { id, latest_revision_id } = await fixture.control.createDeployment(fromGit());
      await fixture.rollouts.settled();
      fixture.rollouts.fate = 'held';
      const reported = { source_revision_config: { repo_ref: 'main', repo_commit_sha: fixture.rollouts.head } };
      expect(await fixture.control.getRevision(id, latest_revision_id ?? '')).toMatchObject(reported);
      expect(await fixture.control.getDeployment(id)).toMatchObject(reported);
    },
  );
});
