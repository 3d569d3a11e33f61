import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deployment, deploymentStatuses } from '../../../../src/contract/control/deployment.ts';
import { ServiceError } from '../../../../src/contract/service-error.ts';
import { fromGit, fromImage, refusalOf, openServiceFixture } from '../service-fixture.ts';
import type { ServiceFixture } from '../service-fixture.ts';
import { eachClaim } from '../../../conformance/each-claim.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

describe('over HTTP', () => {
  let fixture: ServiceFixture;
  beforeAll(async () => {
    fixture = await openServiceFixture();
  });
  afterAll(() => fixture.close());

  test(
    'a creation makes a deployment with one revision',
    {
      meta: {
        claims: [
          'control.create.first-revision',
          'control.flow.create-answers-ids',
          'control.states.create-exists',
          'control.states.create-sets-latest',
          'control.service.has-revisions',
          'control.create.answers-deployment',
          'control.flow.get-by-id',
        ],
      },
    },
    async () => {
      const made = await fixture.control.createDeployment(fromGit());
      expect(deployment.parse(made)).toEqual(made);
      const { resources } = await fixture.control.listRevisions(made.id, {});
      expect(resources.map(({ id }) => id)).toEqual([made.latest_revision_id]);
      const again = await fixture.control.getDeployment(made.id);
      expect({ id: again.id, name: again.name, latest: again.latest_revision_id }).toEqual({
        id: made.id,
        name: made.name,
        latest: made.latest_revision_id,
      });
    },
  );

  test(
    'a creation makes a tracing project of the same name',
    { meta: { claims: ['control.create.tracing-project'] } },
    async () => {
      const made = await fixture.control.createDeployment(fromGit());
      expect(await fixture.store.findTracingProject(fixture.tenantId, made.name)).toMatchObject({
        name: made.name,
        deployment_id: made.id,
      });
    },
  );

  test('a name whose tracing project still exists is a conflict', async () => {
    const request = fromGit();
    await fixture.store.addTracingProject(fixture.tenantId, request.name);
    expect(await refusalOf(fixture.control.createDeployment(request))).toMatchObject({
      status: 409,
      detail: expect.stringContaining('tracing project'),
    });
  });

  test('one of several concurrent creations of one name wins', async () => {
    const request = fromGit();
    const ends = await Promise.all(
      Array.from({ length: 6 }, () =>
        fixture.control.createDeployment(request).then(
          () => 'made',
          (error: unknown) => (error instanceof ServiceError ? error.status : 'failed'),
        ),
      ),
    );
    expect(ends.filter((end) => end === 'made')).toHaveLength(1);
    expect(ends.filter((end) => end === 409)).toHaveLength(5);
    expect(await fixture.stranger.createDeployment(request)).toMatchObject({ name: request.name });
  });

  eachClaim([
    ['control.deployment.name', 'name', /^agent-\d+$/],
    ['control.deployment.source', 'source', /^github$/],
    ['control.deployment.source-config', 'source_config', /^\[object Object\]$/],
    ['control.deployment.source-revision-config', 'source_revision_config', /^\[object Object\]$/],
    ['control.deployment.id', 'id', uuid],
    ['control.deployment.tenant-id', 'tenant_id', uuid],
    ['control.deployment.created-at', 'created_at', moment],
    ['control.deployment.updated-at', 'updated_at', moment],
    ['control.deployment.latest-revision-id', 'latest_revision_id', uuid],
  ])('a deployment has its %s', {}, async (field, shape) => {
    const reported = (await fixture.control.createDeployment(fromGit()))[field];
    expect(typeof reported === 'object' ? Object.prototype.toString.call(reported) : reported).toMatch(shape);
  });

  test(
    'a deployment has a listed status',
    { meta: { claims: ['control.deployment.status', 'control.states.deployment-status-words'] } },
    async () => {
      fixture.rollouts.fate = 'held';
      const made = await fixture.control.createDeployment(fromGit());
      expect(deploymentStatuses).toContain(made.status);
      expect(made.status).toBe('AWAITING_DATABASE');
      fixture.rollouts.fate = 'live';
      fixture.rollouts.wake(made.id);
      await fixture.rollouts.settled();
      expect(await fixture.control.getDeployment(made.id)).toMatchObject({ status: 'READY' });
    },
  );

  test(
    'accepts and returns an empty list of secrets',
    { meta: { claims: ['control.deployment.secrets', 'control.create.secrets-required'] } },
    async () => {
      expect(await fixture.control.createDeployment(fromGit({ secrets: [] }))).toMatchObject({ secrets: [] });
      expect(await refusalOf(fixture.control.createDeployment(fromGit({ secrets: undefined })))).toMatchObject({
        status: 422,
        at: ['body.secrets'],
      });
    },
  );

  test(
    'secret references are optional, and returned as a list or null',
    { meta: { claims: ['control.deployment.secret-references', 'control.create.secret-references-optional'] } },
    async () => {
      expect(await fixture.control.createDeployment(fromImage())).toMatchObject({ secret_references: null });
      const secret_references = [{ name: 'TOKEN', secret_name: 'agent', secret_key: 'token' }];
      expect(await fixture.control.createDeployment(fromImage({ secret_references }))).toMatchObject({
        secret_references,
      });
    },
  );

  test(
    'secret references are for external_docker',
    { meta: { claims: ['control.deployment.secret-references-source'] } },
    async () => {
      const secret_references = [{ name: 'TOKEN', secret_name: 'agent', secret_key: 'token' }];
      expect(await refusalOf(fixture.control.createDeployment(fromGit({ secret_references })))).toMatchObject({
        status: 400,
        detail: expect.stringContaining('secret_references'),
      });
    },
  );

  test(
    'the active revision is null, then the first live one; a failure keeps it',
    {
      meta: {
        claims: [
          'control.deployment.active-revision-id',
          'control.deployment.active-revision-is-deployed',
          'control.flow.poll-until-deployed',
        ],
      },
    },
    async () => {
      fixture.rollouts.fate = 'held';
      const made = await fixture.control.createDeployment(fromGit());
      const first = made.latest_revision_id ?? '';
      expect(made.active_revision_id).toBeNull();
      fixture.rollouts.fate = 'live';
      fixture.rollouts.wake(made.id);
      await expect.poll(async () => (await fixture.control.getRevision(made.id, first)).status).toBe('DEPLOYED');
      expect(await fixture.control.getDeployment(made.id)).toMatchObject({ active_revision_id: first });
      fixture.rollouts.fate = 'deploy fails';
      const changed = await fixture.control.patchDeployment(made.id, { secrets: [] });
      await fixture.rollouts.settled();
      fixture.rollouts.fate = 'live';
      const after = await fixture.control.getDeployment(made.id);
      expect(after).toMatchObject({ active_revision_id: first, latest_revision_id: changed.latest_revision_id });
      expect(changed.latest_revision_id).not.toBe(first);
    },
  );

  test(
    'the image version is that of the live revision, or null without one',
    { meta: { claims: ['control.deployment.image-version'] } },
    async () => {
      expect(await fixture.control.createDeployment(fromGit())).toMatchObject({ image_version: null });
      const { id: listener } = await fixture.control.createListener({
        compute_type: 'k8s',
        compute_id: 'versions',
        compute_config: {},
      });
      const { id } = await fixture.control.createDeployment(fromImage({ source_config: { listener_id: listener } }));
      expect((await fixture.control.getDeployment(id)).image_version).toBeNull();
      const work = await fixture.control.claimWork(listener, { holder: 'one' });
      const report = { status: 'DEPLOYED', image_version: '1.2.3' };
      await fixture.control.reportWork(listener, work?.claim_id ?? '', report);
      expect((await fixture.control.getDeployment(id)).image_version).toBe('1.2.3');
      const { resources } = await fixture.control.listDeployments({ limit: 100 });
      expect(resources.find((each) => each.id === id)?.image_version).toBe('1.2.3');
    },
  );

  eachClaim([
    ['control.create.name-required', 'name'],
    ['control.create.source-required', 'source'],
    ['control.create.source-config-required', 'source_config'],
    ['control.create.source-revision-config-required', 'source_revision_config'],
  ])('a creation without %s is refused', {}, async (field) => {
    const { [field]: _left, ...rest }: Record<string, unknown> = fromGit();
    expect(await refusalOf(fixture.control.createDeployment(rest))).toMatchObject({
      status: 422,
      at: [`body.${field}`],
    });
  });

  test(
    'reports every value of a wrong type at once',
    { meta: { claims: ['control.create.field-types'] } },
    async () => {
      const { status, at } = await refusalOf(
        fixture.control.createDeployment({
          name: 7,
          source: 'github',
          source_config: { build_on_push: 'yes', repo_url: 1 },
          source_revision_config: { repo_ref: ['main'] },
          secrets: { A: 'b' },
          secret_references: 'none',
        }),
      );
      expect({ status, at: at.sort() }).toEqual({
        status: 422,
        at: [
          'body.name',
          'body.secret_references',
          'body.secrets',
          'body.source_config.build_on_push',
          'body.source_config.repo_url',
          'body.source_revision_config.repo_ref',
        ],
      });
    },
  );

  test.each([['text'], [null], [[]], [7]])(
    'a body that is %j is refused',
    { meta: { claims: ['control.create.invalid-422'] } },
    async (body) => {
      expect(await refusalOf(fixture.control.createDeployment(body))).toMatchObject({ status: 422 });
    },
  );

  test('a source is one of four words', { meta: { claims: ['control.deployment.source-words'] } }, async () => {
    for (const source of ['internal_source', 'internal_docker']) {
      const needed = source === 'internal_source' ? { graph_config_path: 'graph.json' } : {};
      const request = { ...fromGit(), source, source_config: {}, source_revision_config: needed };
      expect(await fixture.control.createDeployment(request)).toMatchObject({ source });
    }
    expect(await refusalOf(fixture.control.createDeployment(fromGit({ source: 'gitlab' })))).toMatchObject({
      status: 422,
      at: ['body.source'],
    });
  });

  test(
    'our service offers github and external_docker',
    { meta: { claims: ['control.create.github-availability', 'control.create.external-docker-availability'] } },
    async () => {
      expect(await fixture.control.createDeployment(fromGit())).toMatchObject({ source: 'github' });
      expect(await fixture.control.createDeployment(fromImage())).toMatchObject({ source: 'external_docker' });
    },
  );

  eachClaim<[string, string | null]>([
    ['control.deployment.id-read-only', 'id', '00000000-0000-4000-8000-000000000000'],
    ['control.deployment.tenant-id-read-only', 'tenant_id', '00000000-0000-4000-8000-000000000000'],
    ['control.deployment.created-at-read-only', 'created_at', '2001-01-01T00:00:00Z'],
    ['control.deployment.updated-at-read-only', 'updated_at', '2001-01-01T00:00:00Z'],
    ['control.deployment.status-read-only', 'status', 'AWAITING_DELETE'],
    ['control.deployment.latest-revision-id-read-only', 'latest_revision_id', null],
    ['control.deployment.active-revision-id-read-only', 'active_revision_id', '00000000-0000-4000-8000-000000000000'],
  ])(
    '%s in a request has no effect',
    { meta: { claims: ['control.create.no-read-only-fields'] } },
    async (field, value) => {
      const reported: Record<string, unknown> = await fixture.control.createDeployment(fromGit({ [field]: value }));
      expect(reported[field]).not.toEqual(value);
      const { id } = await fixture.control.createDeployment(fromGit());
      const changed: Record<string, unknown> = await fixture.control.patchDeployment(id, { [field]: value });
      expect(changed[field]).not.toEqual(value);
    },
  );

  test(
    'no request sets the commit',
    {
      meta: {
        claims: ['control.create.no-repo-commit-sha', 'control.source-revision-config.repo-commit-sha-read-only'],
      },
    },
    async () => {
      fixture.rollouts.fate = 'held';
      const repo_commit_sha = 'f'.repeat(40);
      const made = await fixture.control.createDeployment(fromGit({ source_revision_config: { repo_commit_sha } }));
      expect(made.source_revision_config.repo_commit_sha).toBeNull();
      const changed = await fixture.control.patchDeployment(made.id, { source_revision_config: { repo_commit_sha } });
      expect(changed).toMatchObject({
        latest_revision_id: made.latest_revision_id,
        source_revision_config: { repo_commit_sha: null },
      });
      fixture.rollouts.fate = 'live';
    },
  );

  test('reports every broken rule at once', { meta: { claims: ['control.errors.bad-request'] } }, async () => {
    const { status, detail } = await refusalOf(
      fixture.control.createDeployment(
        fromGit({
          name: 'My Agent',
          source_config: { repo_url: 'git://example.com/a', custom_url: 'https://example.com', build_command: 'a | b' },
          source_revision_config: { graph_config_path: null, repo_ref: 'refs/pull/1/merge' },
          secrets: [{ name: 'PORT', value: 'secret-value' }],
        }),
      ),
    );
    expect(status).toBe(400);
    for (const named of ['name ', 'repo_url', 'custom_url', 'build_command', 'graph_config_path', 'repo_ref', 'PORT'])
      expect(detail).toContain(named);
    expect(detail).not.toContain('secret-value');
  });

  test('ignores unknown fields, and accepts both spellings', async () => {
    const request = fromGit({ shareable: true, source_revision_config: { graph_config_path: undefined } });
    Object.assign(request.source_revision_config, {
      langgraph_config_path: 'agent/langgraph.json',
      tracked_packages: [],
    });
    expect(await fixture.control.createDeployment(request)).toMatchObject({
      source_revision_config: { graph_config_path: 'agent/langgraph.json' },
    });
  });

  test.each([
    ['a NUL character', 'a\0b'],
    ['half of a surrogate pair', 'a\ud800b'],
  ])('%s in a value is refused, since it cannot be stored', async (_, value) => {
    expect(
      await refusalOf(fixture.control.createDeployment(fromGit({ secrets: [{ name: 'A', value }] }))),
    ).toMatchObject({
      status: 422,
      at: ['body.secrets.0.value'],
    });
  });
});
