import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fromImage, unknownId, refusalOf, openServiceFixture } from '../service-fixture.ts';
import type { ServiceFixture } from '../service-fixture.ts';

let ids = 0;
const request = (changes: Record<string, unknown> = {}) => ({
  compute_type: 'k8s',
  compute_id: `cluster-${(ids += 1)}`,
  compute_config: { k8s_namespaces: ['agents', 'more-agents'] },
  ...changes,
});

describe('over HTTP', () => {
  let fixture: ServiceFixture;
  beforeAll(async () => {
    fixture = await openServiceFixture();
    fixture.rollouts.fate = 'held';
  });
  afterAll(() => fixture.close());

  const make = (changes: Record<string, unknown> = {}) => fixture.control.createListener(request(changes));
  const deploy = (listener_id: string, k8s_namespace?: string) =>
    fixture.control.createDeployment(fromImage({ source_config: { listener_id, listener_config: { k8s_namespace } } }));

  test(
    'a new listener is read as it was created',
    { meta: { claims: ['control.listener.id', 'control.listener.compute-type'] } },
    async () => {
      const made = await make({ version: '1.2' });
      expect(made).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        version: '1.2',
        compute_type: 'k8s',
        compute_id: expect.stringMatching(/^cluster-/),
        compute_config: { k8s_namespaces: ['agents', 'more-agents'] },
        last_report_at: null,
        created_at: expect.any(String),
        updated_at: expect.any(String),
      });
      expect(await fixture.control.getListener(made.id)).toEqual(made);
    },
  );

  test('without namespaces and a version it takes any namespace', async () => {
    expect(await make({ compute_config: {} })).toMatchObject({ version: null, compute_config: { k8s_namespaces: [] } });
    expect(await make({ compute_config: { k8s_namespaces: null } })).toMatchObject({
      compute_config: { k8s_namespaces: [] },
    });
  });

  test('a compute_id is unique within a tenant, and free for another tenant', async () => {
    const { compute_id } = await make();
    expect(await refusalOf(make({ compute_id }))).toMatchObject({
      status: 409,
      detail: expect.stringContaining(compute_id ?? ''),
    });
    expect(await fixture.stranger.createListener(request({ compute_id }))).toMatchObject({ compute_id });
  });

  test('of ten equal concurrent creations one makes a listener', async () => {
    const same = request();
    const ends = await Promise.allSettled(Array.from({ length: 10 }, () => fixture.control.createListener(same)));
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('a repeated creation or deletion with the same key is done once', async () => {
    const same = request();
    const made = await fixture.control.createListener(same, { idempotencyKey: `make-${same.compute_id}` });
    expect(await fixture.control.createListener(same, { idempotencyKey: `make-${same.compute_id}` })).toEqual(made);
    const idempotencyKey = `delete-${same.compute_id}`;
    await fixture.control.deleteListener(made.id, { idempotencyKey });
    await fixture.control.deleteListener(made.id, { idempotencyKey });
  });

  test('records who created, changed and deleted it', async () => {
    const { id } = await make();
    await fixture.control.patchListener(id, { version: '3' });
    await fixture.control.deleteListener(id);
    const { resources } = await fixture.control.listAudit({ limit: 3 });
    expect(resources.map(({ operation }) => operation)).toEqual([
      'delete listener',
      'patch listener',
      'create listener',
    ]);
    expect(resources.map(({ subject }) => subject)).toEqual(
      resources.map(() => expect.objectContaining({ listener_id: id })),
    );
  });

  test.each([
    ['no compute_type', { compute_type: undefined }, 'body.compute_type'],
    ['another compute_type', { compute_type: 'vm' }, 'body.compute_type'],
    ['no compute_id', { compute_id: undefined }, 'body.compute_id'],
    ['an empty compute_id', { compute_id: '' }, 'body.compute_id'],
    ['a compute_id with blanks', { compute_id: 'my cluster' }, 'body.compute_id'],
    ['a compute_id of 256 characters', { compute_id: 'a'.repeat(256) }, 'body.compute_id'],
    ['no compute_config', { compute_config: undefined }, 'body.compute_config'],
    ['an empty version', { version: '' }, 'body.version'],
    ['invalid namespaces', { compute_config: { k8s_namespaces: 'agents' } }, 'body.compute_config.k8s_namespaces'],
    [
      'a namespace that is not a label',
      { compute_config: { k8s_namespaces: ['A_b'] } },
      'body.compute_config.k8s_namespaces.0',
    ],
    [
      'too many namespaces',
      { compute_config: { k8s_namespaces: Array.from({ length: 101 }, (_, at) => `n${at}`) } },
      'body.compute_config.k8s_namespaces',
    ],
  ])('%s is a 422', async (_, changes, at) => {
    expect(await refusalOf(make(changes))).toMatchObject({ status: 422, at: [at] });
  });

  test('a namespace that is listed twice is a 400, in a change too', async () => {
    const twice = { compute_config: { k8s_namespaces: ['a', 'b', 'a'] } };
    expect(await refusalOf(make(twice))).toMatchObject({ status: 400, detail: expect.stringContaining('a twice') });
    const { id } = await make();
    expect(await refusalOf(fixture.control.patchListener(id, twice))).toMatchObject({ status: 400 });
  });

  test('a change keeps the fields that it leaves out', async () => {
    const { id } = await make({ version: '1' });
    expect(await fixture.control.patchListener(id, { version: '2' })).toMatchObject({
      version: '2',
      compute_config: { k8s_namespaces: ['agents', 'more-agents'] },
    });
    expect(
      await fixture.control.patchListener(id, { version: null, compute_config: { k8s_namespaces: [] } }),
    ).toMatchObject({
      version: '2',
      compute_config: { k8s_namespaces: [] },
    });
    expect(await fixture.control.patchListener(id, {})).toMatchObject({ version: '2' });
  });

  test.each(['compute_type', 'compute_id'])('%s may be restated but not changed', async (field) => {
    const made = await make();
    const now: unknown = Reflect.get(made, field);
    expect(await fixture.control.patchListener(made.id, { [field]: now })).toMatchObject({ [field]: now });
    expect(await refusalOf(fixture.control.patchListener(made.id, { [field]: 'another' }))).toMatchObject({
      status: 400,
    });
  });

  test('a namespace with deployments cannot be removed', async () => {
    const { id } = await make();
    const { name } = await deploy(id, 'agents');
    const without = (namespace: string) => ({ compute_config: { k8s_namespaces: [namespace] } });
    expect(await refusalOf(fixture.control.patchListener(id, without('more-agents')))).toMatchObject({
      status: 409,
      detail: expect.stringContaining(name),
    });
    expect(await fixture.control.patchListener(id, without('agents'))).toMatchObject(without('agents'));
  });

  test(
    'lists the listeners of the tenant in pages, newest first',
    { meta: { claims: ['control.listeners.list'] } },
    async () => {
      await make();
      const { id } = await make();
      const all = (await fixture.control.listListeners({ limit: 100 })).resources.map((each) => each.id);
      expect(all[0]).toBe(id);
      const page = await fixture.control.listListeners({ limit: 2, offset: all.length - 1 });
      expect(page).toMatchObject({ resources: [{ id: all.at(-1) }], offset: all.length });
      expect((await fixture.stranger.listListeners({ limit: 100 })).resources.map((each) => each.id)).not.toContain(id);
    },
  );

  test.each([{ limit: 0 }, { limit: 101 }, { offset: -1 }])('a page of %j is a 422', async (query) => {
    expect(await refusalOf(fixture.control.listListeners(query))).toMatchObject({ status: 422 });
  });

  test('is deleted', async () => {
    const { id } = await make();
    await fixture.control.deleteListener(id);
    expect(await refusalOf(fixture.control.getListener(id))).toMatchObject({ status: 404 });
    expect(await refusalOf(fixture.control.deleteListener(id))).toMatchObject({ status: 404 });
  });

  test('is not deleted while deployments use it, and says which', async () => {
    const { id } = await make();
    const names = [(await deploy(id)).name, (await deploy(id)).name];
    const { status, detail } = await refusalOf(fixture.control.deleteListener(id));
    expect(status).toBe(409);
    for (const name of names) expect(detail).toContain(name);
    expect(await fixture.control.getListener(id)).toMatchObject({ id });
  });

  test('concurrent creations and a deletion leave no deployment without a listener', async () => {
    const { id } = await make();
    const creations = Array.from({ length: 5 }, () => deploy(id));
    await Promise.allSettled([...creations, fixture.control.deleteListener(id)]);
    const ends = await Promise.allSettled(creations);
    const isThere = await fixture.control.getListener(id).then(
      () => true,
      () => false,
    );
    const made = ends.filter(({ status }) => status === 'fulfilled');
    expect(isThere).toBe(made.length > 0);
    const refusals = ends.flatMap((end): unknown[] => (end.status === 'rejected' ? [end.reason] : []));
    expect(refusals).toEqual(refusals.map(() => expect.objectContaining({ status: 400 })));
  });

  test.each(['getListener', 'deleteListener', 'patchListener', 'claimWork'] as const)(
    '%s: neither another tenant’s nor an unknown one is found',
    async (operation) => {
      const { id } = await make();
      const call = (control: ServiceFixture['control'], wanted: string): Promise<unknown> =>
        operation === 'patchListener' || operation === 'claimWork'
          ? control[operation](wanted, { holder: 'me' })
          : control[operation](wanted);
      expect(await refusalOf(call(fixture.stranger, id))).toMatchObject({ status: 404 });
      expect(await refusalOf(call(fixture.control, unknownId()))).toMatchObject({ status: 404 });
      expect(await refusalOf(call(fixture.control, 'none'))).toMatchObject({ status: 422, at: ['path.listener_id'] });
    },
  );
});
