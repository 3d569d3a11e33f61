import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { ServiceError } from '../../../../src/contract/service-error.ts';
import { fromGit, fromImage, unknownId, refusalOf, openServiceFixture } from '../service-fixture.ts';
import type { ServiceFixture } from '../service-fixture.ts';

describe('over HTTP', () => {
  let fixture: ServiceFixture;
  beforeAll(async () => {
    fixture = await openServiceFixture();
    fixture.rollouts.fate = 'held';
  });
  afterAll(() => fixture.close());

  describe('deployments', () => {
    let ids: string[];
    beforeAll(async () => {
      ids = [];
      for (const request of [
        fromGit({ name: 'alpha', source_config: { deployment_type: 'dev' } }),
        fromGit({ name: 'alpha-two', source_config: { deployment_type: 'prod' } }),
        fromImage({ name: 'beta' }),
      ])
        ids.push((await fixture.control.createDeployment(request)).id);
      await fixture.stranger.createDeployment(fromGit({ name: 'alpha' }));
    });
    const names = async (query: object) =>
      (await fixture.control.listDeployments(query)).resources.map(({ name }) => name);

    test(
      'lists the deployments of the tenant in pages, newest first',
      { meta: { claims: ['control.list.deployments'] } },
      async () => {
        expect(await names({})).toEqual(['beta', 'alpha-two', 'alpha']);
        expect(await names({ limit: 2 })).toEqual(['beta', 'alpha-two']);
        expect(await fixture.control.listDeployments({ limit: 2, offset: 2 })).toMatchObject({
          resources: [{ name: 'alpha' }],
          offset: 3,
        });
      },
    );

    test('filters by an exact name, or by a part of it', { meta: { claims: ['control.list.by-name'] } }, async () => {
      expect(await names({ name: 'alpha' })).toEqual(['alpha']);
      expect(await names({ name_contains: 'lpha' })).toEqual(['alpha-two', 'alpha']);
      expect(await names({ name_contains: '%' })).toEqual([]);
      expect(await names({ name: 'gamma' })).toEqual([]);
    });

    test('by status, ids, type and image version', async () => {
      expect(await names({ status: 'AWAITING_DATABASE' })).toHaveLength(3);
      expect(await names({ status: 'READY,UNUSED' })).toEqual([]);
      expect(await names({ deployment_ids: [ids[0], unknownId()] })).toEqual(['alpha']);
      expect(await names({ deployment_type: 'prod' })).toEqual(['alpha-two']);
      expect(await names({ image_version: '1' })).toEqual([]);
    });

    test('ignores an empty filter', async () => {
      const all = await names({});
      for (const filter of ['status', 'name', 'name_contains', 'image_version', 'deployment_type', 'tag_value_ids'])
        expect(await names({ [filter]: '' })).toEqual(all);
    });

    test('by tags, which none has', async () => {
      expect(await names({ tag_value_ids: unknownId() })).toEqual([]);
    });

    test.each([
      { limit: 0 },
      { limit: 101 },
      { limit: 'many' },
      { offset: -1 },
      { status: 'GONE' },
      { deployment_type: 'small' },
      { remote_reconciled: 'perhaps' },
    ])('%j is refused', async (query) => {
      expect(await refusalOf(fixture.control.listDeployments(query))).toMatchObject({
        status: 422,
        at: [`query.${Object.keys(query)[0]}`],
      });
    });

    test('an invalid id is refused', async () => {
      expect(await refusalOf(fixture.control.listDeployments({ deployment_ids: ['alpha'] }))).toMatchObject({
        status: 422,
      });
    });
  });

  test(
    'lists integrations with their names and repositories',
    { meta: { claims: ['control.integrations.list'] } },
    async () => {
      const repository = {
        id: 42,
        name: 'agent',
        owner: 'acme',
        url: 'https://github.com/acme/agent',
      };
      const bound = await fixture.store.bindInstallation(fixture.tenantId, 7, 'acme');
      await fixture.store.putRepositories(bound.id, [{ ...repository, defaultBranch: 'main' }]);
      const [integration, ...others] = await fixture.control.listIntegrations();
      expect([integration, ...others]).toEqual([{ id: expect.any(String), installation_id: 7, name: 'acme' }]);
      const id = integration?.id ?? '';
      expect(await fixture.control.listRepositories(id)).toEqual([
        { ...repository, default_branch: 'main', host_integration_id: id },
      ]);
      expect(await fixture.stranger.listIntegrations()).toEqual([]);
      expect(await refusalOf(fixture.stranger.listRepositories(id))).toMatchObject({ status: 404 });
    },
  );

  test(
    'lists listeners with their compute type',
    { meta: { claims: ['control.listeners.list', 'control.listener.compute-type'] } },
    async () => {
      const listener = { compute_type: 'k8s', compute_id: 'cluster', k8s_namespaces: ['agents'] };
      const added = await fixture.store.addListener(fixture.tenantId, listener);
      const reported = {
        id: added?.id,
        version: null,
        compute_type: 'k8s',
        compute_id: 'cluster',
        compute_config: { k8s_namespaces: ['agents'] },
        created_at: expect.any(String),
        last_report_at: null,
        updated_at: expect.any(String),
      };
      expect(await fixture.control.listListeners({})).toEqual({ resources: [reported], offset: 1 });
      expect(await fixture.control.getListener(reported.id ?? '')).toEqual(reported);
      expect(await fixture.stranger.listListeners({ limit: 1 })).toMatchObject({ resources: [] });
      expect(await refusalOf(fixture.stranger.getListener(reported.id ?? ''))).toMatchObject({ status: 404 });
      expect(await fixture.store.addListener(fixture.tenantId, listener)).toBeUndefined();
    },
  );

  test('filters deployments and revisions by their listener, or by none', async () => {
    const listener = await fixture.store.addListener(fixture.tenantId, {
      compute_type: 'k8s',
      compute_id: 'other-cluster',
    });
    const request = fromImage({ name: 'remote', source_config: { listener_id: listener?.id } });
    const { id } = await fixture.control.createDeployment(request);
    const names = async (query: object) =>
      (await fixture.control.listDeployments({ limit: 100, ...query })).resources.map(({ name }) => name);
    expect(await names({ remote_reconciled: true })).toEqual(['remote']);
    expect(await names({ remote_reconciled: false })).not.toContain('remote');
    const counts = async (query: object) => (await fixture.control.listRevisions(id, query)).resources.length;
    expect(await counts({ remote_reconciled: true })).toBe(1);
    expect(await counts({ remote_reconciled: false })).toBe(0);
  });

  test('another tenant’s are not found', async () => {
    const { id, latest_revision_id } = await fixture.control.createDeployment(fromGit());
    const revision = latest_revision_id ?? '';
    for (const call of [
      () => fixture.stranger.getDeployment(id),
      () => fixture.stranger.patchDeployment(id, { secrets: [] }),
      () => fixture.stranger.createRevision(id, {}),
      () => fixture.stranger.listRevisions(id, {}),
      () => fixture.stranger.getRevision(id, revision),
      () => fixture.stranger.redeployRevision(id, revision),
      () => fixture.stranger.interruptRevision(id, revision),
      () => fixture.stranger.deployLogs(id, revision, {}),
    ])
      expect(await refusalOf(call())).toMatchObject({ status: 404, detail: `Deployment ID ${id} not found.` });
    expect((await fixture.control.listRevisions(id, {})).resources).toHaveLength(1);
  });

  test(
    'every entry of a 422 has a location, a message and a type',
    { meta: { claims: ['control.errors.loc', 'control.errors.msg', 'control.errors.type'] } },
    async () => {
      const entry = z.strictObject({
        loc: z.array(z.union([z.string(), z.int().min(0)])).min(1),
        msg: z.string().min(1),
        type: z.string().regex(/^\w+$/),
      });
      const refusals: [call: () => Promise<unknown>, at: string[]][] = [
        [
          () => fixture.control.createDeployment(fromGit({ secrets: [{ name: 'A' }, 7], source: 'x', name: null })),
          ['body.name', 'body.secrets.0.value', 'body.secrets.1', 'body.source'],
        ],
        [
          () => fixture.control.createDeployment({}),
          ['body.name', 'body.secrets', 'body.source', 'body.source_config', 'body.source_revision_config'],
        ],
        [() => fixture.control.createDeployment([]), ['body']],
        [() => fixture.control.listDeployments({ limit: 0, offset: -1 }), ['query.limit', 'query.offset']],
        [() => fixture.control.getDeployment('alpha'), ['path.deployment_id']],
        [
          () => fixture.control.createListener({ compute_type: 'vm', compute_config: 1 }),
          ['body.compute_config', 'body.compute_id', 'body.compute_type'],
        ],
      ];
      for (const [call, at] of refusals) {
        const error: unknown = await call().catch((thrown: unknown) => thrown);
        if (!(error instanceof ServiceError)) throw new Error('it was not refused', { cause: error });
        expect(error.status).toBe(422);
        const entries = z.array(entry).parse(error.problems);
        expect(entries.map(({ loc }) => loc.join('.')).toSorted()).toEqual(at);
      }
    },
  );
});
