import { describe, expect, test } from 'vitest';
import { goesLive, serviceError } from './control-model.ts';
import { first, running, second, workflowOn, World } from './told.ts';

describe('two steps on one commit share one revision', () => {
  test('the later one follows what the first one made', async () => {
    const world = await running();
    world.control.push(goesLive(second));
    const outcome = await world.deploy({ workflow: workflowOn(second) });
    expect(outcome).toMatchObject({ kind: 'deployed', revisionId: 'r2', changed: false });
    expect(world.control.count('patch')).toBe(0);
  });

  test('also while the revision does not tell its commit yet: it is watched until it does', async () => {
    const world = await running();
    world.control.push(goesLive(second));
    await world.deploy({ workflow: workflowOn(second) });
    expect(world.told('waiting-for-commit')).toHaveLength(1);
    expect(world.told('status').map(({ status }) => status)).toEqual(['QUEUED', 'BUILDING', 'DEPLOYED']);
  });

  test('where it turns out to be of another commit, the ref is built after all', async () => {
    const world = await running();
    world.control.push(goesLive('c'.repeat(40)));
    world.control.scripts.push(goesLive(second));
    const outcome = await world.deploy({ workflow: workflowOn(second) });
    expect(outcome).toMatchObject({ kind: 'deployed', revisionId: 'r3', changed: true });
    expect(world.control.count('patch')).toBe(1);
  });

  test('a step that does not wait takes it for the one', async () => {
    const world = await running();
    world.control.push(goesLive(second));
    const outcome = await world.deploy({ workflow: workflowOn(second), wait: false });
    expect(outcome).toMatchObject({ kind: 'started', revisionId: 'r2', changed: false });
  });

  test('a revision that never tells its commit is followed to the end of the time', async () => {
    const world = await running();
    world.control.push([{ after: 0, status: 'QUEUED' }]);
    expect(await world.deploy({ workflow: workflowOn(second) })).toMatchObject({ kind: 'timed-out', revisionId: 'r2' });
  });

  test('a service that never tells commits is built to be sure', async () => {
    const world = await running();
    world.control.push([
      { after: 0, status: 'BUILDING' },
      { after: 9_000, status: 'DEPLOYED' },
    ]);
    world.control.scripts.push(goesLive(second));
    const outcome = await world.deploy({ workflow: workflowOn(second) });
    expect(outcome).toMatchObject({ kind: 'deployed', revisionId: 'r3' });
  });

  test('also where both decide at the same moment: a service that heeds what the change was decided on lets one through', async () => {
    const world = await running();
    world.control.heedsIfLatest = true;
    const deciding = world.control.patchDeployment.bind(world.control);
    world.control.patchDeployment = (...change) => {
      world.control.patchDeployment = deciding;
      world.control.push(goesLive(second));
      return deciding(...change);
    };
    const outcome = await world.deploy({ workflow: workflowOn(second) });
    expect(outcome).toMatchObject({ kind: 'deployed', revisionId: 'r2', changed: false });
    expect(world.told('planned').map(({ plan }) => plan.kind)).toEqual(['patch', 'none']);
  });

  test('who is overtaken again and again gives up, and says what is in the way', async () => {
    const world = await running();
    world.control.fails('patch', serviceError('conflict', 'patch deployment', { status: 412 }), { times: 99 });
    const outcome = await world.deploy({ workflow: workflowOn(second) });
    expect(outcome).toMatchObject({ kind: 'refused', changed: false });
    expect(outcome.advice).toContain('what changes the deployment at the same time');
    expect(world.control.count('patch')).toBe(5);
  });

  test('one of two that create the same deployment goes on from what the other has made', async () => {
    const world = new World();
    world.control.fails('create', serviceError('conflict', 'create deployment', { status: 409 }), { applied: true });
    world.control.scripts.push(goesLive(first));
    const outcome = await world.deploy();
    expect(outcome).toMatchObject({ kind: 'deployed', revisionId: 'r1' });
    expect(world.control.count('create')).toBe(1);
  });

  test('a conflict with something that is not a deployment is refused', async () => {
    const world = new World();
    world.control.fails(
      'create',
      serviceError('conflict', 'create deployment', { status: 409, detail: 'project exists' }),
      { times: 9 },
    );
    const outcome = await world.deploy();
    expect(outcome).toMatchObject({ kind: 'refused', passes: false });
    expect(outcome.advice).toContain('tracing project');
  });
});
