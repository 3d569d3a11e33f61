import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { allowedFolder, fromGit, fromImage, unknownId, refusalOf, openServiceFixture } from '../service-fixture.ts';
import type { ServiceFixture } from '../service-fixture.ts';
import { eachClaim } from '../../../conformance/each-claim.ts';

const inGit = (source_config: object) => fromGit({ source_config });
const inImage = (source_config: object) => fromImage({ source_config });

describe('over HTTP', () => {
  let fixture: ServiceFixture;
  beforeAll(async () => {
    fixture = await openServiceFixture();
    fixture.rollouts.fate = 'held';
  });
  afterAll(() => fixture.close());

  const reported = async (request: unknown) => (await fixture.control.createDeployment(request)).source_config;
  const refused = (request: unknown) => refusalOf(fixture.control.createDeployment(request));

  test(
    'every field may be null or absent unless the source needs it',
    { meta: { claims: ['control.source-config.nullable'] } },
    async () => {
      const nulls = {
        integration_id: null,
        deployment_type: null,
        build_on_push: null,
        custom_url: null,
        resource_spec: null,
        listener_id: null,
        listener_config: null,
        install_command: null,
        build_command: null,
      };
      const fromNulls = await reported(inGit(nulls));
      expect(Object.keys(fromNulls).sort()).toEqual(['repo_url', ...Object.keys(nulls)].sort());
      expect({ ...fromNulls, custom_url: '' }).toEqual({ ...(await reported(inGit({}))), custom_url: '' });
      expect(await reported(inImage({ ...nulls, repo_url: null }))).toEqual({ ...nulls, repo_url: null });
    },
  );

  test.each([
    ['integration_id', fromImage, unknownId()],
    ['repo_url', fromImage, 'https://example.com/a'],
    ['deployment_type', fromImage, 'dev'],
    ['build_on_push', fromImage, false],
    ['install_command', fromImage, 'npm ci'],
    ['build_command', fromImage, 'npm run build'],
    ['custom_url', fromGit, 'https://agent.example.com'],
    ['resource_spec', fromGit, { cpu: 1 }],
    ['listener_id', fromGit, unknownId()],
    ['listener_config', fromGit, {}],
  ] as const)(
    '%s is refused with a source without it, on create and on PATCH',
    { meta: { claims: ['control.source-config.by-source'] } },
    async (field, request, value) => {
      const expected = { status: 400, detail: expect.stringContaining(`source_config.${field}`) };
      expect(await refused(request({ source_config: { [field]: value } }))).toMatchObject(expected);
      const { id } = await fixture.control.createDeployment(request());
      const patch = { source_config: { [field]: value } };
      expect(await refusalOf(fixture.control.patchDeployment(id, patch))).toMatchObject(expected);
    },
  );

  test(
    'an integration is one of the listed ones',
    {
      meta: {
        claims: [
          'control.source-config.integration-id',
          'control.source-config.integration-id-origin',
          'control.integration.id',
        ],
      },
    },
    async () => {
      await fixture.store.bindInstallation(fixture.tenantId, 7, 'acme');
      const [listed] = await fixture.control.listIntegrations();
      expect(listed?.id).toMatch(/^[0-9a-f-]{36}$/);
      expect(await reported(inGit({ integration_id: listed?.id }))).toMatchObject({ integration_id: listed?.id });
      expect(await refused(inGit({ integration_id: unknownId() }))).toMatchObject({ status: 400 });
      expect(await refused(inGit({ integration_id: 'acme' }))).toMatchObject({
        status: 422,
        at: ['body.source_config.integration_id'],
      });
      expect(await refusalOf(fixture.stranger.createDeployment(inGit({ integration_id: listed?.id })))).toMatchObject({
        status: 400,
      });
    },
  );

  test(
    'a repository has an https address, or is an allowed folder',
    { meta: { claims: ['control.source-config.repo-url'] } },
    async () => {
      for (const repo_url of ['https://example.com/acme/agent.git', `${allowedFolder}/agent`])
        expect(await reported(inGit({ repo_url }))).toMatchObject({ repo_url });
      for (const repo_url of ['ext::sh -c id', '--upload-pack=id', '/etc', 'https://u:secret-value@example.com/a'])
        expect(await refused(inGit({ repo_url }))).toMatchObject({
          status: 400,
          detail: expect.not.stringContaining('secret-value'),
        });
      expect(await refused(inGit({ repo_url: null }))).toMatchObject({ status: 400 });
    },
  );

  test(
    'a deployment type is one of three words',
    { meta: { claims: ['control.source-config.deployment-type'] } },
    async () => {
      for (const deployment_type of ['dev_free', 'dev', 'prod'])
        expect(await reported(inGit({ deployment_type }))).toMatchObject({ deployment_type });
      expect(await refused(inGit({ deployment_type: 'staging' }))).toMatchObject({ status: 422 });
    },
  );

  test(
    'build_on_push is true, false or null',
    { meta: { claims: ['control.source-config.build-on-push'] } },
    async () => {
      for (const build_on_push of [true, false, null])
        expect(await reported(inGit({ build_on_push }))).toMatchObject({ build_on_push });
      expect(await refused(inGit({ build_on_push: 'true' }))).toMatchObject({ status: 422 });
    },
  );

  eachClaim([
    ['control.source-config.build-on-push-not-with-tag', true, 'refs/tags/v1', 400],
    ['control.source-revision-config.repo-ref-tag-no-push', true, 'refs/tags/v1', 400],
    ['control.errors.build-on-push-with-tag', true, 'refs/tags/v1', 400],
  ])('build_on_push %j with %s is refused on create', {}, async (build_on_push, repo_ref, status) => {
    const request = fromGit({ source_config: { build_on_push }, source_revision_config: { repo_ref } });
    expect(await refused(request)).toMatchObject({ status, detail: expect.stringContaining('build_on_push') });
  });

  test.each([
    [false, 'refs/tags/v1'],
    [null, 'refs/tags/v1'],
    [true, 'main'],
  ])('build_on_push %j with %s is taken', async (build_on_push, repo_ref) => {
    const request = fromGit({ source_config: { build_on_push }, source_revision_config: { repo_ref } });
    expect(await reported(request)).toMatchObject({ build_on_push });
  });

  test(
    'a PATCH cannot bring build_on_push and a tag together, from either end',
    { meta: { claims: ['control.source-config.build-on-push-not-with-tag'] } },
    async () => {
      const pushed = await fixture.control.createDeployment(inGit({ build_on_push: true }));
      const tagged = await fixture.control.createDeployment(
        fromGit({ source_revision_config: { repo_ref: 'refs/tags/v1' } }),
      );
      const toTag = { source_revision_config: { repo_ref: 'refs/tags/v1' } };
      expect(await refusalOf(fixture.control.patchDeployment(pushed.id, toTag))).toMatchObject({ status: 400 });
      const toPush = { source_config: { build_on_push: true } };
      expect(await refusalOf(fixture.control.patchDeployment(tagged.id, toPush))).toMatchObject({ status: 400 });
      expect(
        await fixture.control.patchDeployment(pushed.id, { source_config: { build_on_push: false }, ...toTag }),
      ).toMatchObject(toTag);
    },
  );

  test(
    'custom_url may be set for external_docker',
    { meta: { claims: ['control.source-config.custom-url'] } },
    async () => {
      const custom_url = 'https://agent.example.com';
      expect(await fixture.control.createDeployment(inImage({ custom_url }))).toMatchObject({
        source_config: { custom_url },
        url: custom_url,
      });
      expect(await refused(inImage({ custom_url: 'agent' }))).toMatchObject({ status: 400 });
    },
  );

  test(
    'for github custom_url is filled in, and only restated',
    { meta: { claims: ['control.source-config.custom-url-automatic', 'control.source-config.custom-url-read-only'] } },
    async () => {
      const made = await fixture.control.createDeployment(fromGit());
      const custom_url = `${fixture.baseUrl}/agents/${made.id}`;
      expect(made).toMatchObject({ url: custom_url, source_config: { custom_url } });
      const restated = { source_config: { custom_url: made.source_config.custom_url } };
      expect(await fixture.control.patchDeployment(made.id, restated)).toMatchObject(restated);
      const other = { source_config: { custom_url: 'https://agent.example.com' } };
      expect(await refusalOf(fixture.control.patchDeployment(made.id, other))).toMatchObject({ status: 400 });
    },
  );

  test(
    'a resource_spec is for external_docker',
    { meta: { claims: ['control.source-config.resource-spec', 'control.resource-spec.external-docker-only'] } },
    async () => {
      expect(await reported(inImage({ resource_spec: { cpu: 1 } }))).toMatchObject({ resource_spec: { cpu: 1 } });
      expect(await refused(inImage({ resource_spec: 'large' }))).toMatchObject({ status: 422 });
      expect(await refused(inGit({ resource_spec: { cpu: 1 } }))).toMatchObject({ status: 400 });
    },
  );

  test(
    'a listener is one of those that are listed',
    {
      meta: {
        claims: [
          'control.source-config.listener-id',
          'control.source-config.listener-id-origin',
          'control.listener.id',
        ],
      },
    },
    async () => {
      await fixture.store.addListener(fixture.tenantId, { compute_type: 'k8s', compute_id: 'origin' });
      const [listed] = (await fixture.control.listListeners({})).resources;
      expect(listed?.id).toMatch(/^[0-9a-f-]{36}$/);
      expect(await reported(inImage({ listener_id: listed?.id }))).toMatchObject({ listener_id: listed?.id });
      expect(await refused(inImage({ listener_id: unknownId() }))).toMatchObject({ status: 400 });
      expect(await refused(inImage({ listener_id: 'cluster' }))).toMatchObject({ status: 422 });
    },
  );

  test(
    'a namespace is taken with a listener of k8s, among those it has',
    {
      meta: {
        claims: [
          'control.source-config.listener-config',
          'control.source-config.listener-config-checked',
          'control.listener-config.k8s-namespace',
          'control.listener-config.k8s-namespace-compute-type',
        ],
      },
    },
    async () => {
      const add = async (compute_type: string, compute_id: string, k8s_namespaces: string[]) =>
        (await fixture.store.addListener(fixture.tenantId, { compute_type, compute_id, k8s_namespaces }))?.id;
      const asking = (listener_id: string | undefined, k8s_namespace: unknown) =>
        inImage({ listener_id, listener_config: { k8s_namespace } });
      const open = await add('k8s', 'open', []);
      const closed = await add('k8s', 'closed', ['agents']);
      const other = await add('vm', 'other', []);
      expect(await reported(asking(open, 'anything'))).toMatchObject({
        listener_config: { k8s_namespace: 'anything' },
      });
      expect(await reported(asking(closed, 'agents'))).toMatchObject({ listener_config: { k8s_namespace: 'agents' } });
      expect(await reported(asking(other, null))).toMatchObject({ listener_config: { k8s_namespace: null } });
      for (const request of [asking(closed, 'others'), asking(other, 'agents'), asking(undefined, 'agents')])
        expect(await refused(request)).toMatchObject({ status: 400, detail: expect.stringContaining('k8s_namespace') });
      expect(await refused(asking(open, 7))).toMatchObject({ status: 422 });
    },
  );

  eachClaim([
    ['control.source-config.install-command', 'install_command'],
    ['control.source-config.build-command', 'build_command'],
  ])('%s is a string or null, of plain words', {}, async (field) => {
    for (const command of ['pnpm install && pnpm run prepare', null])
      expect(await reported(inGit({ [field]: command }))).toMatchObject({ [field]: command });
    expect(await refused(inGit({ [field]: 'a; b' }))).toMatchObject({ status: 400 });
    expect(await refused(inGit({ [field]: ['a'] }))).toMatchObject({ status: 422 });
  });
});
