import { describe, expect, test } from 'vitest';
import { goesLive, notOffered, serviceError } from './control-model.ts';
import { github, image, imaged, running, second, workflowOn, DeployFixture } from './deploy-fixture.ts';

const lost = (operation: string) => serviceError('unreachable', operation, { effect: 'unknown', detail: 'reset' });
const toSecond = { workflow: workflowOn(second) };

describe('a poll that fails', () => {
  test.each([
    ['a broken service', serviceError('busy', 'get revision', { status: 503 })],
    ['no answer', serviceError('unreachable', 'get revision')],
    ['an answer that cannot be read', serviceError('unreadable', 'get revision', { status: 200 })],
  ])('is no failure: %s', async (_, error) => {
    const fixture = await running();
    fixture.control.scripts.push(goesLive(second));
    fixture.control.onWrite = () => fixture.control.fails('revision', error, { times: 20 });
    const outcome = await fixture.deploy(toSecond);
    expect(outcome).toMatchObject({ kind: 'deployed', revisionId: 'r2' });
    expect(fixture.reported('poll-failed')).toHaveLength(20);
  });

  test('honours Retry-After', async () => {
    const fixture = await running();
    fixture.control.scripts.push(goesLive(second));
    const busy = serviceError('busy', 'get revision', { status: 429, retryAfterMs: 90_000 });
    fixture.control.onWrite = () => fixture.control.fails('revision', busy);
    const before = fixture.clock.now();
    await fixture.deploy(toSecond);
    expect(fixture.clock.now() - before).toBe(90_000);
  });

  test('waits until the deadline if Retry-After is longer', async () => {
    const fixture = await running();
    const busy = serviceError('busy', 'get revision', { status: 429, retryAfterMs: 86_400_000 });
    fixture.control.onWrite = () => fixture.control.fails('revision', busy, { times: 99 });
    const before = fixture.clock.now();
    expect(await fixture.deploy(toSecond)).toMatchObject({ kind: 'timed-out' });
    expect(fixture.clock.now() - before).toBe(600_000);
  });

  test('polls again for a revision that is not visible yet', async () => {
    const fixture = await running();
    fixture.control.scripts.push(goesLive(second));
    fixture.control.onWrite = () => fixture.control.fails('revision', notOffered('get revision'), { times: 4 });
    expect(await fixture.deploy(toSecond)).toMatchObject({ kind: 'deployed' });
  });

  test.each([
    ['a key that is taken away', serviceError('unauthorized', 'get revision', { status: 401 }), 'api-key'],
    ['a revision that is gone', notOffered('get revision'), 'base-url'],
  ])('fails if the error persists: %s', async (_, error, advice) => {
    const fixture = await running();
    fixture.control.onWrite = () => fixture.control.fails('revision', error, { times: 99 });
    const outcome = await fixture.deploy(toSecond);
    expect(outcome).toMatchObject({ kind: 'failed', revisionId: 'r2', changed: true });
    expect(outcome.reason).toContain('r2 goes on');
    expect(outcome.advice).toContain(advice);
  });
});

describe('before the first write', () => {
  test.each([
    ['an unknown key', serviceError('unauthorized', 'list deployments', { status: 401 }), 'refused', 'api-key'],
    [
      'a key of an organisation',
      serviceError('unauthorized', 'list deployments', { status: 403 }),
      'refused',
      'tenant-id',
    ],
    ['an unreachable service', serviceError('unreachable', 'list deployments'), 'failed', 'base-url'],
    ['a broken service', serviceError('busy', 'list deployments', { status: 500 }), 'failed', 'later'],
    ['a web page', serviceError('unreadable', 'list deployments', { status: 200 }), 'failed', 'base-url'],
  ])('%s', async (_, error, kind, advice) => {
    const fixture = await running();
    fixture.control.fails('list', error);
    const outcome = await fixture.deploy();
    expect(outcome).toMatchObject({ kind, changed: false, passes: false });
    expect(outcome.advice).toContain(advice);
  });

  test('reports a rejected change', async () => {
    const fixture = await running();
    fixture.control.fails(
      'patch',
      serviceError('rejected', 'patch deployment', { status: 400, detail: 'PORT is taken.' }),
    );
    const outcome = await fixture.deploy(toSecond);
    expect(outcome).toMatchObject({ kind: 'refused', changed: false });
    expect(outcome.reason).toMatch(/PORT is taken\.$/);
  });
});

describe('a write with a lost response', () => {
  test('finds and follows its revision, and sends nothing twice', async () => {
    const fixture = await running();
    fixture.control.scripts.push(goesLive(second));
    fixture.control.fails('patch', lost('patch deployment'), { applied: true });
    const outcome = await fixture.deploy(toSecond);
    expect(outcome).toMatchObject({ kind: 'deployed', revisionId: 'r2', changed: true });
    expect(fixture.control.count('patch')).toBe(1);
    expect(fixture.reported('settling')).toHaveLength(1);
  });

  test('finds its revision while the service returns errors for a moment', async () => {
    const fixture = await running();
    fixture.control.scripts.push(goesLive(second));
    fixture.control.fails('patch', lost('patch deployment'), { applied: true });
    fixture.control.onWrite = () =>
      fixture.control.fails('get', serviceError('busy', 'get deployment', { status: 503 }), { times: 3 });
    expect(await fixture.deploy(toSecond)).toMatchObject({ kind: 'deployed', revisionId: 'r2' });
  });

  test.each([
    ['the request was applied', true],
    ['the request was not applied', false],
  ])('is sent again under its key to a service that honours keys: %s', async (_, applied) => {
    const fixture = await running();
    fixture.control.honoursKeys = true;
    fixture.control.scripts.push(goesLive(second));
    fixture.control.fails('patch', lost('patch deployment'), { applied });
    fixture.control.onWrite = () =>
      fixture.control.fails('patch', serviceError('busy', 'patch deployment', { status: 503 }));
    expect(await fixture.deploy(toSecond)).toMatchObject({ kind: 'deployed', revisionId: 'r2', changed: true });
    expect(fixture.control.count('patch')).toBe(applied ? 3 : 2);
    expect(fixture.control.service.revisions).toHaveLength(2);
  });

  test('takes no revision of another commit for its own', async () => {
    const fixture = await running();
    fixture.control.fails('patch', lost('patch deployment'));
    fixture.clock.after(10_000, () => fixture.control.push(goesLive('c'.repeat(40))));
    expect(await fixture.deploy(toSecond)).toMatchObject({ kind: 'failed', changed: false });
    expect(fixture.reported('started')).toEqual([]);
  });

  test('waits for a revision that reports its commit late', async () => {
    const fixture = await running();
    fixture.control.scripts.push([
      { after: 0, status: 'QUEUED' },
      { after: 120_000, status: 'BUILDING', commit: second },
      { after: 150_000, status: 'DEPLOYED', commit: second },
    ]);
    fixture.control.fails('patch', lost('patch deployment'), { applied: true });
    const began = fixture.clock.now();
    const startedAt: number[] = [];
    const outcome = await fixture.deploy({
      ...toSecond,
      emit: ({ kind }) => void (kind === 'started' && startedAt.push(fixture.clock.now() - began)),
    });
    expect(outcome).toMatchObject({ kind: 'deployed', revisionId: 'r2' });
    expect(startedAt).toEqual([120_000]);
  });

  test('finds its revision behind a newer one of another client', async () => {
    const fixture = new DeployFixture();
    fixture.control.has(imaged, goesLive());
    await fixture.passes(60_000);
    fixture.control.scripts.push(goesLive());
    fixture.control.fails('patch', lost('patch deployment'), { applied: true });
    fixture.control.onWrite = () => {
      fixture.control.onWrite = () => undefined;
      fixture.control.service.patch({ source_revision_config: { image_uri: 'registry.test/agent:3' } });
    };
    await fixture.deploy({ desired: { ...image, imageUri: 'registry.test/agent:2' } });
    expect(fixture.reported('started')).toMatchObject([{ revisionId: 'r2' }]);
  });

  test('reports an unknown outcome and does not send it again', async () => {
    const fixture = await running();
    fixture.control.fails('patch', lost('patch deployment'));
    const before = fixture.clock.now();
    const outcome = await fixture.deploy(toSecond);
    expect(outcome).toMatchObject({ kind: 'failed', passes: false, changed: false });
    expect(outcome.reason).toContain('is unknown whether');
    expect(outcome.advice).toContain('the newest revisions');
    expect(fixture.control.count('patch')).toBe(1);
    expect(fixture.clock.now() - before).toBe(60_000);
  });

  test("resolves a change in place by the deployment's state", async () => {
    const fixture = await running();
    fixture.control.fails('patch', lost('patch deployment'), { applied: true });
    const outcome = await fixture.deploy({ desired: { ...github, buildOnPush: true } });
    expect(outcome).toMatchObject({ kind: 'deployed', changed: true });
    expect(outcome).not.toHaveProperty('revisionId');
  });

  test('resolves a creation by its name', async () => {
    const fixture = new DeployFixture();
    fixture.control.fails('create', lost('create deployment'), { applied: true });
    expect(await fixture.deploy()).toMatchObject({ kind: 'deployed', deploymentId: 'd1', revisionId: 'r1' });
    expect(fixture.control.count('create')).toBe(1);
  });

  test('does not repeat a creation with an unknown outcome', async () => {
    const fixture = new DeployFixture();
    fixture.control.fails('create', lost('create deployment'));
    const outcome = await fixture.deploy();
    expect(outcome).toMatchObject({ kind: 'failed', changed: false });
    expect(fixture.control.count('create')).toBe(1);
  });
});

test('reports no success if an accepted change makes no revision', async () => {
  const fixture = await running();
  fixture.control.patchDeployment = (id) => fixture.control.getDeployment(id);
  const outcome = await fixture.deploy(toSecond);
  expect(outcome).toMatchObject({ kind: 'failed', passes: false });
  expect(outcome.reason).toContain('created no revision');
});

test('polls for a first revision that the creation response lacks', async () => {
  const fixture = new DeployFixture();
  const create = fixture.control.createDeployment.bind(fixture.control);
  fixture.control.createDeployment = async (request) => ({ ...(await create(request)), latest_revision_id: null });
  expect(await fixture.deploy()).toMatchObject({ kind: 'deployed', revisionId: 'r1' });
});
