import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fromGit, fromImage, unknownId, refusalOf, openServiceFixture } from '../service-fixture.ts';
import type { ServiceFixture } from '../service-fixture.ts';

describe('over HTTP', () => {
  let fixture: ServiceFixture;
  beforeAll(async () => {
    fixture = await openServiceFixture();
  });
  afterAll(() => fixture.close());

  const create = async (request: object = fromGit()) => {
    const { id, name, latest_revision_id } = await fixture.control.createDeployment(request);
    await fixture.rollouts.settled();
    return { id, name, revision: latest_revision_id ?? '' };
  };
  /** Runs something while no revision makes progress. */
  const whileHeld = async (work: () => Promise<void>) => {
    fixture.rollouts.fate = 'held';
    await work();
    fixture.rollouts.fate = 'live';
  };

  test(
    'a deletion shows at once, and then the deployment is gone',
    { meta: { claims: ['control.delete.deployment'] } },
    async () => {
      const { id } = await create();
      await whileHeld(async () => {
        expect(await fixture.control.deleteDeployment(id)).toBeUndefined();
        expect(await fixture.control.getDeployment(id)).toMatchObject({
          status: 'AWAITING_DELETE',
          status_message: 'It is being deleted.',
        });
        expect((await fixture.control.listDeployments({ status: 'AWAITING_DELETE' })).resources).toMatchObject([
          { id },
        ]);
      });
      fixture.rollouts.wake(id);
      await fixture.rollouts.settled();
      expect(await refusalOf(fixture.control.getDeployment(id))).toEqual({
        status: 404,
        detail: `Deployment ID ${id} not found.`,
        at: [],
      });
    },
  );

  test('interrupts pending revisions, which can still be read', async () => {
    await whileHeld(async () => {
      const { id, revision } = await create();
      await fixture.control.deleteDeployment(id);
      expect(await fixture.control.getRevision(id, revision)).toMatchObject({
        status: 'INTERRUPTED',
        status_message: 'Its deployment is being deleted.',
      });
      expect((await fixture.control.listRevisions(id, {})).resources).toHaveLength(1);
      expect(await fixture.control.buildLogs(id, revision, {})).toMatchObject({ logs: [] });
    });
  });

  test('repeating it while it goes on is no error', async () => {
    const { id } = await create();
    await whileHeld(async () => {
      await fixture.control.deleteDeployment(id);
      await fixture.control.deleteDeployment(id);
      expect(await fixture.control.deleteDeployments({ deployment_ids: [id] })).toEqual({ deleted: [id], failed: [] });
    });
  });

  test('refuses changes meanwhile', async () => {
    const { id, revision } = await create();
    await whileHeld(async () => {
      await fixture.control.deleteDeployment(id);
      for (const change of [
        () => fixture.control.patchDeployment(id, { secrets: [] }),
        () => fixture.control.patchDeployment(id, {}),
        () => fixture.control.createRevision(id, {}),
        () => fixture.control.redeployRevision(id, revision),
        () => fixture.control.interruptRevision(id, revision),
      ])
        expect(await refusalOf(change())).toMatchObject({
          status: 409,
          detail: expect.stringContaining('being deleted'),
        });
    });
  });

  test('frees its name together with its tracing project, not earlier', async () => {
    const { id, name } = await create();
    await whileHeld(async () => {
      await fixture.control.deleteDeployment(id, { delete_tracing_project: true });
      expect(await refusalOf(fixture.control.createDeployment(fromGit({ name })))).toMatchObject({
        status: 409,
        detail: expect.stringContaining(`is being deleted (${id}). Wait until`),
      });
    });
    fixture.rollouts.wake(id);
    await fixture.rollouts.settled();
    expect((await create(fromGit({ name }))).name).toBe(name);
  });

  test('keeps the tracing project and its name unless requested otherwise', async () => {
    const { id, name } = await create();
    await fixture.control.deleteDeployment(id);
    await fixture.rollouts.settled();
    const project = await fixture.store.findTracingProject(fixture.tenantId, name);
    expect(project).toMatchObject({ name, deployment_id: null });
    expect(await refusalOf(fixture.control.createDeployment(fromGit({ name })))).toMatchObject({
      status: 409,
      detail: expect.stringContaining(`DELETE /v1/projects/${project?.id}`),
    });
  });

  test('a later request can include the tracing project, and stays in effect', async () => {
    const { id, name } = await create();
    await whileHeld(async () => {
      await fixture.control.deleteDeployment(id);
      await fixture.control.deleteDeployment(id, { delete_tracing_project: true });
      await fixture.control.deleteDeployment(id);
    });
    fixture.rollouts.wake(id);
    await fixture.rollouts.settled();
    expect(await fixture.store.findTracingProject(fixture.tenantId, name)).toBeUndefined();
  });

  test('deletes several at once, and reports unknown ones', async () => {
    const [one, two] = [await create(), await create()];
    const unknown = unknownId();
    const foreign = (await fixture.stranger.createDeployment(fromGit())).id;
    const done = await fixture.control.deleteDeployments({
      deployment_ids: [one.id, unknown, two.id, foreign, one.id],
    });
    expect(done).toEqual({
      deleted: [one.id, two.id],
      failed: [unknown, foreign].map((id) => ({
        deployment_id: id,
        status: 404,
        detail: `Deployment ID ${id} not found.`,
      })),
    });
    await fixture.rollouts.settled();
    expect(await refusalOf(fixture.control.getDeployment(two.id))).toMatchObject({ status: 404 });
    expect(await fixture.stranger.getDeployment(foreign)).toMatchObject({ id: foreign });
  });

  test.each([
    ['no id is given', {}, 422, ['query.deployment_ids']],
    ['the list is empty', { deployment_ids: [] }, 422, ['query.deployment_ids']],
    ['one is not an id', { deployment_ids: ['alpha'] }, 422, ['query.deployment_ids.0']],
    [
      'there are more than 100',
      { deployment_ids: Array.from({ length: 101 }, unknownId) },
      422,
      ['query.deployment_ids'],
    ],
    ['all are unknown', { deployment_ids: [unknownId(), unknownId()] }, 404, []],
    [
      'the flag is invalid',
      { deployment_ids: [unknownId()], delete_tracing_project: 'perhaps' },
      422,
      ['query.delete_tracing_project'],
    ],
  ])('deletes none of several if %s', async (_, query, status, at) => {
    expect(await refusalOf(fixture.control.deleteDeployments(query))).toMatchObject({ status, at });
  });

  test.each([
    ['an invalid id', 'alpha', {}, 422],
    ['an unknown id', unknownId(), {}, 404],
    ['an invalid flag', unknownId(), { delete_tracing_project: 'perhaps' }, 422],
  ])('%s is refused', async (_, id, query, status) => {
    expect(await refusalOf(fixture.control.deleteDeployment(id, query))).toMatchObject({ status });
  });

  test('another tenant’s is not found', async () => {
    const { id } = await create();
    expect(await refusalOf(fixture.stranger.deleteDeployment(id))).toMatchObject({ status: 404 });
    expect(await fixture.control.getDeployment(id)).toMatchObject({ status: 'READY' });
  });

  test('another tenant does not wait for its lock, for one deletion or several', async () => {
    const { id } = await create();
    const own = (await fixture.stranger.createDeployment(fromGit())).id;
    await fixture.rollouts.settled();
    const holder = new Client({ connectionString: fixture.databaseUrl });
    await holder.connect();
    try {
      await holder.query('begin');
      await holder.query('select from control.deployments where id = $1 for update', [id]);
      expect(await refusalOf(fixture.stranger.deleteDeployment(id))).toMatchObject({ status: 404 });
      expect(await fixture.stranger.deleteDeployments({ deployment_ids: [id, own] })).toMatchObject({ deleted: [own] });
    } finally {
      await holder.end();
    }
  });

  const withListener = async () => {
    const listener = await fixture.store.addListener(fixture.tenantId, {
      compute_type: 'k8s',
      compute_id: unknownId(),
    });
    const source_config = { listener_id: listener?.id };
    return { listenerId: listener?.id ?? '', ...(await create(fromImage({ source_config }))) };
  };

  test('one with a listener waits for that listener, and says so', async () => {
    const { listenerId, id } = await withListener();
    await fixture.control.claimWork(listenerId, { holder: 'one' });
    await fixture.control.deleteDeployment(id);
    await fixture.rollouts.settled();
    expect(await fixture.control.getDeployment(id)).toMatchObject({
      status: 'AWAITING_DELETE',
      status_message: expect.stringContaining(`the listener ${listenerId}`),
    });
    await whileHeld(async () => {
      await fixture.store.noteStopped(id);
      expect(await fixture.control.getDeployment(id)).toMatchObject({
        status: 'AWAITING_DELETE',
        status_message: 'It is being deleted.',
        active_revision_id: null,
      });
    });
    fixture.rollouts.wake(id);
    await fixture.rollouts.settled();
    expect(await refusalOf(fixture.control.getDeployment(id))).toMatchObject({ status: 404 });
  });

  test('one whose listener never took any of its work waits for no one', async () => {
    const { id } = await withListener();
    await fixture.control.deleteDeployment(id);
    await fixture.rollouts.settled();
    expect(await refusalOf(fixture.control.getDeployment(id))).toMatchObject({ status: 404 });
  });

  test('records who requested a deletion', async () => {
    const { id } = await create();
    await fixture.control.deleteDeployment(id);
    const { resources } = await fixture.control.listAudit({ deployment_id: id, limit: 1 });
    expect(resources).toMatchObject([{ operation: 'delete deployment', subject: { deployment_id: id } }]);
  });

  test('records a repeated request only if it deletes more', async () => {
    const { id } = await create();
    await whileHeld(async () => {
      await fixture.control.deleteDeployment(id);
      await fixture.control.deleteDeployment(id);
      await fixture.control.deleteDeployments({ deployment_ids: [id] });
      await fixture.control.deleteDeployment(id, { delete_tracing_project: true });
      await fixture.control.deleteDeployment(id, { delete_tracing_project: true });
    });
    const { resources } = await fixture.control.listAudit({ deployment_id: id });
    const deletions = resources.filter(({ operation }) => operation.startsWith('delete'));
    expect(deletions.map(({ operation, fields }) => [operation, fields])).toEqual([
      ['delete deployment', ['tracing_project']],
      ['delete deployment', []],
    ]);
  });

  test('repeating a deletion with its key is one deletion, also after it ended', async () => {
    const { id } = await create();
    const options = { idempotencyKey: `delete-${id}` };
    await fixture.control.deleteDeployment(id, {}, options);
    await fixture.rollouts.settled();
    expect(await fixture.control.deleteDeployment(id, {}, options)).toBeUndefined();
    expect(await refusalOf(fixture.control.deleteDeployment(id))).toMatchObject({ status: 404 });
  });
});
