import { describe, expect, test } from 'vitest';
import { goesLive, notOffered, serviceError } from './control-model.ts';
import { github, image, imaged, running, second, workflowOn, World } from './told.ts';

const lost = (operation: string) => serviceError('unreachable', operation, { effect: 'unknown', detail: 'reset' });
const toSecond = { workflow: workflowOn(second) };

describe('a poll that fails', () => {
  test.each([
    ['a broken service', serviceError('busy', 'get revision', { status: 503 })],
    ['no answer', serviceError('unreachable', 'get revision')],
    ['an answer that cannot be read', serviceError('unreadable', 'get revision', { status: 200 })],
  ])('is no end: %s', async (_, error) => {
    const world = await running();
    world.control.scripts.push(goesLive(second));
    world.control.onWrite = () => world.control.fails('revision', error, { times: 20 });
    const outcome = await world.deploy(toSecond);
    expect(outcome).toMatchObject({ kind: 'deployed', revisionId: 'r2' });
    expect(world.told('poll-failed')).toHaveLength(20);
  });

  test('a service that asks to come back later is not asked before', async () => {
    const world = await running();
    world.control.scripts.push(goesLive(second));
    const busy = serviceError('busy', 'get revision', { status: 429, retryAfterMs: 90_000 });
    world.control.onWrite = () => world.control.fails('revision', busy);
    const before = world.clock.now();
    await world.deploy(toSecond);
    expect(world.clock.now() - before).toBe(90_000);
  });

  test('a service that asks for more time than there is, is waited for until the end of the time', async () => {
    const world = await running();
    const busy = serviceError('busy', 'get revision', { status: 429, retryAfterMs: 86_400_000 });
    world.control.onWrite = () => world.control.fails('revision', busy, { times: 99 });
    const before = world.clock.now();
    expect(await world.deploy(toSecond)).toMatchObject({ kind: 'timed-out' });
    expect(world.clock.now() - before).toBe(600_000);
  });

  test('a revision that is not seen at once is looked for again', async () => {
    const world = await running();
    world.control.scripts.push(goesLive(second));
    world.control.onWrite = () => world.control.fails('revision', notOffered('get revision'), { times: 4 });
    expect(await world.deploy(toSecond)).toMatchObject({ kind: 'deployed' });
  });

  test.each([
    ['a key that is taken away', serviceError('unauthorized', 'get revision', { status: 401 }), 'api-key'],
    ['a revision that is gone', notOffered('get revision'), 'base-url'],
  ])('is believed when it says no again and again: %s', async (_, error, advice) => {
    const world = await running();
    world.control.onWrite = () => world.control.fails('revision', error, { times: 99 });
    const outcome = await world.deploy(toSecond);
    expect(outcome).toMatchObject({ kind: 'failed', revisionId: 'r2', changed: true });
    expect(outcome.reason).toContain('r2 goes on');
    expect(outcome.advice).toContain(advice);
  });
});

describe('before anything is begun', () => {
  test.each([
    ['an unknown key', serviceError('unauthorized', 'list deployments', { status: 401 }), 'refused', 'api-key'],
    [
      'a key of an organisation',
      serviceError('unauthorized', 'list deployments', { status: 403 }),
      'refused',
      'tenant-id',
    ],
    ['nobody there', serviceError('unreachable', 'list deployments'), 'failed', 'base-url'],
    ['a broken service', serviceError('busy', 'list deployments', { status: 500 }), 'failed', 'later'],
    ['a web page', serviceError('unreadable', 'list deployments', { status: 200 }), 'failed', 'base-url'],
  ])('%s', async (_, error, kind, advice) => {
    const world = await running();
    world.control.fails('list', error);
    const outcome = await world.deploy();
    expect(outcome).toMatchObject({ kind, changed: false, passes: false });
    expect(outcome.advice).toContain(advice);
  });

  test('a service that says no to the change', async () => {
    const world = await running();
    world.control.fails(
      'patch',
      serviceError('rejected', 'patch deployment', { status: 400, detail: 'PORT is taken.' }),
    );
    const outcome = await world.deploy(toSecond);
    expect(outcome).toMatchObject({ kind: 'refused', changed: false });
    expect(outcome.reason).toMatch(/PORT is taken\.$/);
  });
});

describe('a write whose answer is lost', () => {
  test('and that took effect: its revision is found and followed, nothing is sent twice', async () => {
    const world = await running();
    world.control.scripts.push(goesLive(second));
    world.control.fails('patch', lost('patch deployment'), { applied: true });
    const outcome = await world.deploy(toSecond);
    expect(outcome).toMatchObject({ kind: 'deployed', revisionId: 'r2', changed: true });
    expect(world.control.count('patch')).toBe(1);
    expect(world.told('settling')).toHaveLength(1);
  });

  test('and that took effect, while the service is broken for a moment', async () => {
    const world = await running();
    world.control.scripts.push(goesLive(second));
    world.control.fails('patch', lost('patch deployment'), { applied: true });
    world.control.onWrite = () =>
      world.control.fails('get', serviceError('busy', 'get deployment', { status: 503 }), { times: 3 });
    expect(await world.deploy(toSecond)).toMatchObject({ kind: 'deployed', revisionId: 'r2' });
  });

  test('and that took effect, and somebody else made a newer revision since', async () => {
    const world = new World();
    world.control.has(imaged, goesLive());
    await world.passes(60_000);
    world.control.scripts.push(goesLive());
    world.control.fails('patch', lost('patch deployment'), { applied: true });
    world.control.onWrite = () => {
      world.control.onWrite = () => undefined;
      world.control.service.patch({ source_revision_config: { image_uri: 'registry.test/agent:3' } });
    };
    await world.deploy({ desired: { ...image, imageUri: 'registry.test/agent:2' } });
    expect(world.told('begun')).toMatchObject([{ revisionId: 'r2' }]);
  });

  test('and that had none: it cannot be told, and it is not sent again', async () => {
    const world = await running();
    world.control.fails('patch', lost('patch deployment'));
    const before = world.clock.now();
    const outcome = await world.deploy(toSecond);
    expect(outcome).toMatchObject({ kind: 'failed', passes: false, changed: false });
    expect(outcome.reason).toContain('cannot be told');
    expect(outcome.advice).toContain('not sent twice');
    expect(world.control.count('patch')).toBe(1);
    expect(world.clock.now() - before).toBe(60_000);
  });

  test('a change in place is settled by what the deployment holds', async () => {
    const world = await running();
    world.control.fails('patch', lost('patch deployment'), { applied: true });
    const outcome = await world.deploy({ desired: { ...github, buildOnPush: true } });
    expect(outcome).toMatchObject({ kind: 'deployed', changed: true });
    expect(outcome).not.toHaveProperty('revisionId');
  });

  test('a creation is settled by its name', async () => {
    const world = new World();
    world.control.fails('create', lost('create deployment'), { applied: true });
    expect(await world.deploy()).toMatchObject({ kind: 'deployed', deploymentId: 'd1', revisionId: 'r1' });
    expect(world.control.count('create')).toBe(1);
  });

  test('a creation that cannot be settled is not sent again', async () => {
    const world = new World();
    world.control.fails('create', lost('create deployment'));
    const outcome = await world.deploy();
    expect(outcome).toMatchObject({ kind: 'failed', changed: false });
    expect(world.control.count('create')).toBe(1);
  });
});

test('a service that takes a change and makes no revision of it is not told as a success', async () => {
  const world = await running();
  world.control.patchDeployment = (id) => world.control.getDeployment(id);
  const outcome = await world.deploy(toSecond);
  expect(outcome).toMatchObject({ kind: 'failed', passes: false });
  expect(outcome.reason).toContain('made no revision');
});

test('a creation whose answer lacks the first revision is looked at until it tells', async () => {
  const world = new World();
  const create = world.control.createDeployment.bind(world.control);
  world.control.createDeployment = async (request) => ({ ...(await create(request)), latest_revision_id: null });
  expect(await world.deploy()).toMatchObject({ kind: 'deployed', revisionId: 'r1' });
});
