import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fromGit, fromImage, nobody, refusalOf, sides } from '../worlds.ts';
import type { World } from '../worlds.ts';

describe.each(sides)('%s', (_side, open) => {
  let world: World;
  beforeAll(async () => {
    world = await open();
  });
  afterAll(() => world.close());

  const create = async (request: object = fromGit()) => {
    const { id, name, latest_revision_id } = await world.control.createDeployment(request);
    await world.rollouts.settled();
    return { id, name, revision: latest_revision_id ?? '' };
  };
  /** Runs something while nothing is carried out. */
  const whileHeld = async (work: () => Promise<void>) => {
    world.rollouts.fate = 'held';
    await work();
    world.rollouts.fate = 'live';
  };

  test('[control.delete.deployment] a deployment that is deleted is on its way out at once, and then gone', async () => {
    const { id } = await create();
    await whileHeld(async () => {
      expect(await world.control.deleteDeployment(id)).toBeUndefined();
      expect(await world.control.getDeployment(id)).toMatchObject({
        status: 'AWAITING_DELETE',
        status_message: 'It is being deleted.',
      });
      expect((await world.control.listDeployments({ status: 'AWAITING_DELETE' })).resources).toMatchObject([{ id }]);
    });
    world.rollouts.wake(id);
    await world.rollouts.settled();
    expect(await refusalOf(world.control.getDeployment(id))).toEqual({
      status: 404,
      detail: `Deployment ID ${id} not found.`,
      at: [],
    });
  });

  test('what is on its way is interrupted by it, and can still be read', async () => {
    await whileHeld(async () => {
      const { id, revision } = await create();
      await world.control.deleteDeployment(id);
      expect(await world.control.getRevision(id, revision)).toMatchObject({
        status: 'INTERRUPTED',
        status_message: 'Its deployment is being deleted.',
      });
      expect((await world.control.listRevisions(id, {})).resources).toHaveLength(1);
      expect(await world.control.buildLogs(id, revision, {})).toMatchObject({ logs: [] });
    });
  });

  test('asking again while it goes on is no error', async () => {
    const { id } = await create();
    await whileHeld(async () => {
      await world.control.deleteDeployment(id);
      await world.control.deleteDeployment(id);
      expect(await world.control.deleteDeployments({ deployment_ids: [id] })).toEqual({ deleted: [id], failed: [] });
    });
  });

  test('nothing of it can be changed meanwhile', async () => {
    const { id, revision } = await create();
    await whileHeld(async () => {
      await world.control.deleteDeployment(id);
      for (const change of [
        () => world.control.patchDeployment(id, { secrets: [] }),
        () => world.control.patchDeployment(id, {}),
        () => world.control.createRevision(id, {}),
        () => world.control.redeployRevision(id, revision),
        () => world.control.interruptRevision(id, revision),
      ])
        expect(await refusalOf(change())).toMatchObject({
          status: 409,
          detail: expect.stringContaining('being deleted'),
        });
    });
  });

  test('its name is free once it is gone with its tracing project, and not before', async () => {
    const { id, name } = await create();
    await whileHeld(async () => {
      await world.control.deleteDeployment(id, { delete_tracing_project: true });
      expect(await refusalOf(world.control.createDeployment(fromGit({ name })))).toMatchObject({
        status: 409,
        detail: expect.stringContaining(`is being deleted (${id}). Wait until`),
      });
    });
    world.rollouts.wake(id);
    await world.rollouts.settled();
    expect((await create(fromGit({ name }))).name).toBe(name);
  });

  test('the tracing project stays unless it was asked for, and keeps the name', async () => {
    const { id, name } = await create();
    await world.control.deleteDeployment(id);
    await world.rollouts.settled();
    const project = await world.store.findTracingProject(world.tenantId, name);
    expect(project).toMatchObject({ name, deployment_id: null });
    expect(await refusalOf(world.control.createDeployment(fromGit({ name })))).toMatchObject({
      status: 409,
      detail: expect.stringContaining(`DELETE /v1/projects/${project?.id}`),
    });
  });

  test('that the project goes too can be asked for afterwards, and is not forgotten', async () => {
    const { id, name } = await create();
    await whileHeld(async () => {
      await world.control.deleteDeployment(id);
      await world.control.deleteDeployment(id, { delete_tracing_project: true });
      await world.control.deleteDeployment(id);
    });
    world.rollouts.wake(id);
    await world.rollouts.settled();
    expect(await world.store.findTracingProject(world.tenantId, name)).toBeUndefined();
  });

  test('several are deleted at once, and those that are not there are told', async () => {
    const [one, two] = [await create(), await create()];
    const unknown = nobody();
    const foreign = (await world.stranger.createDeployment(fromGit())).id;
    const done = await world.control.deleteDeployments({ deployment_ids: [one.id, unknown, two.id, foreign, one.id] });
    expect(done).toEqual({
      deleted: [one.id, two.id],
      failed: [unknown, foreign].map((id) => ({
        deployment_id: id,
        status: 404,
        detail: `Deployment ID ${id} not found.`,
      })),
    });
    await world.rollouts.settled();
    expect(await refusalOf(world.control.getDeployment(two.id))).toMatchObject({ status: 404 });
    expect(await world.stranger.getDeployment(foreign)).toMatchObject({ id: foreign });
  });

  test.each([
    ['none is named', {}, 422, ['query.deployment_ids']],
    ['the list is empty', { deployment_ids: [] }, 422, ['query.deployment_ids']],
    ['one is no id', { deployment_ids: ['alpha'] }, 422, ['query.deployment_ids.0']],
    ['there are more than 100', { deployment_ids: Array.from({ length: 101 }, nobody) }, 422, ['query.deployment_ids']],
    ['there is none of them', { deployment_ids: [nobody(), nobody()] }, 404, []],
    [
      'the flag is none',
      { deployment_ids: [nobody()], delete_tracing_project: 'perhaps' },
      422,
      ['query.delete_tracing_project'],
    ],
  ])('of several nothing is deleted where %s', async (_, query, status, at) => {
    expect(await refusalOf(world.control.deleteDeployments(query))).toMatchObject({ status, at });
  });

  test.each([
    ['an id that is none', 'alpha', {}, 422],
    ['an id of nobody', nobody(), {}, 404],
    ['a flag that is none', nobody(), { delete_tracing_project: 'perhaps' }, 422],
  ])('%s is refused', async (_, id, query, status) => {
    expect(await refusalOf(world.control.deleteDeployment(id, query))).toMatchObject({ status });
  });

  test('another tenant’s is not there', async () => {
    const { id } = await create();
    expect(await refusalOf(world.stranger.deleteDeployment(id))).toMatchObject({ status: 404 });
    expect(await world.control.getDeployment(id)).toMatchObject({ status: 'READY' });
  });

  test('another tenant does not even wait where it is being changed, by one deletion or by several', async () => {
    const { id } = await create();
    const own = (await world.stranger.createDeployment(fromGit())).id;
    await world.rollouts.settled();
    const holder = new Client({ connectionString: world.databaseUrl });
    await holder.connect();
    try {
      await holder.query('begin');
      await holder.query('select from control.deployments where id = $1 for update', [id]);
      expect(await refusalOf(world.stranger.deleteDeployment(id))).toMatchObject({ status: 404 });
      expect(await world.stranger.deleteDeployments({ deployment_ids: [id, own] })).toMatchObject({ deleted: [own] });
    } finally {
      await holder.end();
    }
  });

  const withListener = async () => {
    const listener = await world.store.addListener(world.tenantId, { compute_type: 'k8s', compute_id: nobody() });
    const source_config = { listener_id: listener?.id };
    return { listenerId: listener?.id ?? '', ...(await create(fromImage({ source_config }))) };
  };

  test('one that a listener runs waits for that listener, and says so', async () => {
    const { listenerId, id } = await withListener();
    await world.control.claimWork(listenerId, { holder: 'one' });
    await world.control.deleteDeployment(id);
    await world.rollouts.settled();
    expect(await world.control.getDeployment(id)).toMatchObject({
      status: 'AWAITING_DELETE',
      status_message: expect.stringContaining(`the listener ${listenerId}`),
    });
    await whileHeld(async () => {
      await world.store.noteStopped(id);
      expect(await world.control.getDeployment(id)).toMatchObject({
        status: 'AWAITING_FINAL_DELETE',
        active_revision_id: null,
      });
    });
    world.rollouts.wake(id);
    await world.rollouts.settled();
    expect(await refusalOf(world.control.getDeployment(id))).toMatchObject({ status: 404 });
  });

  test('one whose listener never took anything of it waits for nobody', async () => {
    const { id } = await withListener();
    await world.control.deleteDeployment(id);
    await world.rollouts.settled();
    expect(await refusalOf(world.control.getDeployment(id))).toMatchObject({ status: 404 });
  });

  test('who asked for a deletion is written down', async () => {
    const { id } = await create();
    await world.control.deleteDeployment(id);
    const { resources } = await world.control.listAudit({ deployment_id: id, limit: 1 });
    expect(resources).toMatchObject([{ operation: 'delete deployment', subject: { deployment_id: id } }]);
  });

  test('and once: asking again is written down only where more is asked for', async () => {
    const { id } = await create();
    await whileHeld(async () => {
      await world.control.deleteDeployment(id);
      await world.control.deleteDeployment(id);
      await world.control.deleteDeployments({ deployment_ids: [id] });
      await world.control.deleteDeployment(id, { delete_tracing_project: true });
      await world.control.deleteDeployment(id, { delete_tracing_project: true });
    });
    const { resources } = await world.control.listAudit({ deployment_id: id });
    const deletions = resources.filter(({ operation }) => operation.startsWith('delete'));
    expect(deletions.map(({ operation, fields }) => [operation, fields])).toEqual([
      ['delete deployment', ['tracing_project']],
      ['delete deployment', []],
    ]);
  });

  test('a deletion that is repeated under its key is one, also when the deployment is gone', async () => {
    const { id } = await create();
    const options = { idempotencyKey: `delete-${id}` };
    await world.control.deleteDeployment(id, {}, options);
    await world.rollouts.settled();
    expect(await world.control.deleteDeployment(id, {}, options)).toBeUndefined();
    expect(await refusalOf(world.control.deleteDeployment(id))).toMatchObject({ status: 404 });
  });
});
