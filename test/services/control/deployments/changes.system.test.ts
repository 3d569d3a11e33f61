import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { everyRow } from '../every-row.ts';
import { fromGit, fromImage, unknownId, refusalOf, openServiceFixture } from '../service-fixture.ts';
import type { ServiceFixture } from '../service-fixture.ts';
import { eachClaim } from '../../../conformance/each-claim.ts';

describe('over HTTP', () => {
  let fixture: ServiceFixture;
  beforeAll(async () => {
    fixture = await openServiceFixture();
  });
  afterAll(() => fixture.close());

  const made = async (request: unknown) => {
    const deployment = await fixture.control.createDeployment(request);
    await fixture.rollouts.settled();
    return deployment;
  };

  eachClaim<[string, () => object, object]>([
    ['control.patch.repo-ref-makes-revision', 'repo_ref', fromGit, { source_revision_config: { repo_ref: 'next' } }],
    [
      'control.patch.graph-config-path-makes-revision',
      'graph_config_path',
      fromGit,
      { source_revision_config: { graph_config_path: 'b/graph.json' } },
    ],
    [
      'control.patch.image-uri-makes-revision',
      'image_uri',
      fromImage,
      { source_revision_config: { image_uri: 'a:2' } },
    ],
    [
      'control.patch.secrets-makes-revision control.secret.patch-makes-revision',
      'secrets',
      fromGit,
      { secrets: [{ name: 'A', value: 'b' }] },
    ],
    [
      'control.secret.patch-makes-revision',
      'secrets that are an empty list',
      () => fromGit({ secrets: [{ name: 'A', value: 'b' }] }),
      { secrets: [] },
    ],
    [
      'control.patch.resource-spec-makes-revision control.resource-spec.patch-makes-revision',
      'resource_spec',
      fromImage,
      { source_config: { resource_spec: { cpu: 1 } } },
    ],
  ])(
    'a PATCH with %s makes one revision, and restating it makes one more',
    {
      meta: {
        claims: [
          'control.versioning.revision-per-change',
          'control.source-revision-config.change-makes-revision',
          'control.patch.answers-deployment',
        ],
      },
    },
    async (_field, request, patch) => {
      const before = await made(request());
      const once = await fixture.control.patchDeployment(before.id, patch);
      const twice = await fixture.control.patchDeployment(before.id, patch);
      const reported = new Set([before.latest_revision_id, once.latest_revision_id, twice.latest_revision_id]);
      expect(reported.size).toBe(3);
      expect(twice).toMatchObject(patch);
      const { resources } = await fixture.control.listRevisions(before.id, {});
      expect(resources.map(({ id }) => id)).toEqual([
        twice.latest_revision_id,
        once.latest_revision_id,
        before.latest_revision_id,
      ]);
    },
  );

  test('a PATCH of several such fields makes one revision', async () => {
    const before = await made(fromGit());
    await fixture.control.patchDeployment(before.id, {
      source_revision_config: { repo_ref: 'next', graph_config_path: 'b.json' },
      secrets: [{ name: 'A', value: 'b' }],
    });
    expect((await fixture.control.listRevisions(before.id, {})).resources).toHaveLength(2);
  });

  eachClaim<[string, () => object, object]>([
    ['control.patch.build-on-push-in-place', 'build_on_push', fromGit, { source_config: { build_on_push: true } }],
    [
      'control.patch.install-command-in-place',
      'install_command',
      fromGit,
      { source_config: { install_command: 'npm ci' } },
    ],
    [
      'control.patch.build-command-in-place',
      'build_command',
      fromGit,
      { source_config: { build_command: 'npm run build' } },
    ],
    [
      'control.patch.custom-url-in-place',
      'custom_url',
      fromImage,
      { source_config: { custom_url: 'https://a.example.com' } },
    ],
    [
      'control.patch.secret-references-in-place',
      'secret_references',
      fromImage,
      { secret_references: [{ name: 'A', secret_name: 'b', secret_key: 'c' }] },
    ],
    [
      'control.patch.secret-references-in-place',
      'an empty list of secret_references',
      () => fromImage({ secret_references: [{ name: 'A', secret_name: 'b', secret_key: 'c' }] }),
      { secret_references: [] },
    ],
  ])(
    'a PATCH of %s changes it in place',
    {
      meta: {
        claims: [
          'control.patch.only-listed-fields-make-revision',
          'control.source-config.no-revision',
          'control.flow.patch-updates',
        ],
      },
    },
    async (_field, request, patch) => {
      const before = await made(request());
      const after = await fixture.control.patchDeployment(before.id, patch);
      expect(after).toMatchObject({ ...patch, latest_revision_id: before.latest_revision_id });
      expect(await fixture.control.getDeployment(before.id)).toMatchObject(patch);
    },
  );

  test('a PATCH keeps the fields that it leaves out', { meta: { claims: ['control.patch.partial'] } }, async () => {
    const before = await made(
      fromGit({ source_config: { install_command: 'npm ci' }, secrets: [{ name: 'A', value: 'b' }] }),
    );
    const after = await fixture.control.patchDeployment(before.id, {
      source_config: { build_command: 'npm run build' },
    });
    expect(after).toMatchObject({
      source_config: { ...before.source_config, build_command: 'npm run build' },
      source_revision_config: { repo_ref: 'main', graph_config_path: 'graph.json' },
      secrets: before.secrets,
    });
  });

  test('null keeps a field and makes no revision', { meta: { claims: ['control.patch.null-leaves'] } }, async () => {
    const before = await made(
      fromGit({ source_config: { install_command: 'npm ci' }, secrets: [{ name: 'A', value: 'b' }] }),
    );
    const after = await fixture.control.patchDeployment(before.id, {
      source_config: { install_command: null, repo_url: null, resource_spec: null, listener_config: null },
      source_revision_config: { repo_ref: null, graph_config_path: null, image_uri: null },
      secrets: null,
      secret_references: null,
    });
    expect(after).toMatchObject({
      source_config: before.source_config,
      secrets: before.secrets,
      latest_revision_id: before.latest_revision_id,
    });
    const { updated_at } = await fixture.control.getDeployment(before.id);
    expect(await fixture.control.patchDeployment(before.id, {})).toMatchObject({
      latest_revision_id: before.latest_revision_id,
      updated_at,
    });
  });

  test(
    'name and source may be restated but not changed',
    { meta: { claims: ['control.deployment.name-fixed', 'control.deployment.source-fixed'] } },
    async () => {
      const before = await made(fromGit());
      const restated = { name: before.name, source: before.source };
      expect(await fixture.control.patchDeployment(before.id, restated)).toMatchObject(restated);
      for (const change of [{ name: 'another' }, { source: 'external_docker' }])
        expect(await refusalOf(fixture.control.patchDeployment(before.id, change))).toMatchObject({ status: 400 });
      expect(await fixture.control.getDeployment(before.id)).toMatchObject(restated);
    },
  );

  eachClaim<[string, string?, string?]>([
    [
      'control.source-config.repo-url-fixed',
      'repo_url',
      'https://example.com/acme/agent',
      'https://example.com/acme/b',
    ],
    ['control.source-config.deployment-type-fixed', 'deployment_type', 'dev', 'prod'],
    ['control.source-config.integration-id-fixed', 'integration_id'],
  ])('%s of a deployment from git cannot be changed', {}, async (field, is, becomes) => {
    const integration = () => fixture.store.bindInstallation(fixture.tenantId, 1, 'acme');
    const value = is ?? (await integration()).id;
    const before = await made(fromGit({ source_config: { [field]: value } }));
    expect(await fixture.control.patchDeployment(before.id, { source_config: { [field]: value } })).toMatchObject({
      source_config: { [field]: value },
    });
    const refused = await refusalOf(
      fixture.control.patchDeployment(before.id, { source_config: { [field]: becomes ?? unknownId() } }),
    );
    expect(refused).toMatchObject({ status: 400, detail: expect.stringContaining(`source_config.${field}`) });
  });

  test(
    'the listener and its namespace cannot be changed',
    { meta: { claims: ['control.source-config.listener-id-fixed', 'control.listener-config.k8s-namespace-fixed'] } },
    async () => {
      const listener = await fixture.store.addListener(fixture.tenantId, { compute_type: 'k8s', compute_id: 'fixed' });
      const source_config = { listener_id: listener?.id, listener_config: { k8s_namespace: 'agents' } };
      const before = await made(fromImage({ source_config }));
      for (const id of [listener?.id, listener?.id.toUpperCase()]) {
        const restated = { source_config: { ...source_config, listener_id: id } };
        expect(await fixture.control.patchDeployment(before.id, restated)).toMatchObject({ source_config });
      }
      for (const change of [{ listener_id: unknownId() }, { listener_config: { k8s_namespace: 'others' } }])
        expect(await refusalOf(fixture.control.patchDeployment(before.id, { source_config: change }))).toMatchObject({
          status: 400,
          detail: expect.stringContaining(`source_config.${Object.keys(change)[0]}`),
        });
      const without = await made(fromImage());
      expect(await refusalOf(fixture.control.patchDeployment(without.id, { source_config }))).toMatchObject({
        status: 400,
      });
    },
  );

  test(
    'a PATCH of an unknown deployment is refused and creates nothing',
    { meta: { claims: ['control.patch.missing-deployment'] } },
    async () => {
      await made(fromGit());
      // Every request records when its key was last used.
      const rows = () => everyRow(fixture.databaseUrl, ['last_used_at']);
      const before = await rows();
      for (const patch of [{ secrets: [] }, { source_revision_config: { repo_ref: 'main' } }, {}])
        expect(await refusalOf(fixture.control.patchDeployment(unknownId(), patch))).toMatchObject({ status: 404 });
      await fixture.rollouts.settled();
      expect(await rows()).toEqual(before);
    },
  );

  test('a refused PATCH changes nothing', async () => {
    const before = await made(fromGit());
    const patch = { source_config: { install_command: 'npm ci', repo_url: 'https://example.com/b' }, secrets: [] };
    await refusalOf(fixture.control.patchDeployment(before.id, patch));
    expect(await fixture.control.getDeployment(before.id)).toMatchObject({
      source_config: before.source_config,
      latest_revision_id: before.latest_revision_id,
    });
  });

  test('a PATCH based on an outdated latest revision is refused', async () => {
    const before = await made(fromGit());
    const patch = { source_revision_config: { repo_ref: 'main' } };
    const ifLatest = before.latest_revision_id ?? '';
    const after = await fixture.control.patchDeployment(before.id, patch, { ifLatest });
    expect(after.latest_revision_id).not.toBe(ifLatest);
    const refused = await refusalOf(fixture.control.patchDeployment(before.id, patch, { ifLatest }));
    expect(refused).toMatchObject({ status: 412 });
    expect(refused.detail).toContain(after.latest_revision_id);
    expect((await fixture.control.listRevisions(before.id, {})).resources).toHaveLength(2);
  });

  test(
    'shows the latest revision, even while an older one is live',
    { meta: { claims: ['control.deployment.source-revision-config-of-latest'] } },
    async () => {
      const before = await made(fromGit());
      fixture.rollouts.fate = 'build fails';
      fixture.rollouts.head = 'b'.repeat(40);
      await fixture.control.patchDeployment(before.id, { source_revision_config: { repo_ref: 'next' } });
      await fixture.rollouts.settled();
      fixture.rollouts.fate = 'live';
      expect(await fixture.control.getDeployment(before.id)).toMatchObject({
        active_revision_id: before.latest_revision_id,
        source_revision_config: { repo_ref: 'next', repo_commit_sha: 'b'.repeat(40) },
      });
    },
  );

  test(
    'a program can go from creation to a live change unattended',
    { meta: { claims: ['control.service.manages-deployments', 'control.service.programmable'] } },
    async () => {
      const before = await fixture.control.createDeployment(fromGit());
      const isLive = async (revision: string | null) =>
        (await fixture.control.getDeployment(before.id)).active_revision_id === revision;
      await expect.poll(() => isLive(before.latest_revision_id)).toBe(true);
      const after = await fixture.control.patchDeployment(before.id, { source_revision_config: { repo_ref: 'main' } });
      await expect.poll(() => isLive(after.latest_revision_id)).toBe(true);
    },
  );

  test('the source of a revision may be given, if it matches the deployment', async () => {
    const before = await made(fromGit());
    await fixture.control.patchDeployment(before.id, { revision_source: 'github', secrets: [] });
    expect(
      await refusalOf(fixture.control.patchDeployment(before.id, { revision_source: 'internal_source' })),
    ).toMatchObject({
      status: 400,
    });
  });

  test(
    'both pointers name revisions of this deployment',
    { meta: { claims: ['control.versioning.pointers'] } },
    async () => {
      const { id } = await made(fromGit());
      const reported = await fixture.control.getDeployment(id);
      for (const pointer of [reported.latest_revision_id, reported.active_revision_id])
        expect(await fixture.control.getRevision(id, pointer ?? '')).toMatchObject({ id: pointer });
    },
  );
});
