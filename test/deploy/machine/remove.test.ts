import { describe, expect, test } from 'vitest';
import { serviceError } from './control-model.ts';
import { github, running, DeployFixture, type RunOfTest } from './deploy-fixture.ts';

const deleting = (fixture: DeployFixture, more: RunOfTest = {}) =>
  fixture.deploy({ mode: 'delete', further: fixture.control, ...more });
const lost = serviceError('unreachable', 'delete deployment', { effect: 'unknown', detail: 'reset' });
const { name: _, ...nameless } = github;
const withId = (deploymentId: string) => ({ desired: { ...nameless, deploymentId } });

describe('a deletion', () => {
  test('matches the exact name, waits until it is gone, and passes', async () => {
    const fixture = await running();
    const before = fixture.clock.now();
    const outcome = await deleting(fixture);
    expect(outcome).toMatchObject({
      kind: 'deleted',
      passes: true,
      changed: true,
      deploymentId: 'd1',
      reason: 'Deployment agent (d1) is gone, and its tracing project with it.',
    });
    expect(outcome).not.toHaveProperty('activeRevisionId');
    expect(outcome).not.toHaveProperty('deploymentUrl');
    expect(fixture.clock.now() - before).toBeGreaterThanOrEqual(fixture.control.deletionMs);
    expect(fixture.reported('leaving').map(({ status }) => status)).toEqual(['AWAITING_DELETE']);
    expect(fixture.control.count('delete')).toBe(1);
  });

  test('includes the tracing project, unless it is to stay', async () => {
    const [one, other] = [await running(), await running()];
    await deleting(one);
    const outcome = await deleting(other, { keepTracingProject: true });
    expect([...one.control.deleted, ...other.control.deleted]).toEqual([
      { id: 'd1', deleteTracingProject: true },
      { id: 'd1', deleteTracingProject: false },
    ]);
    expect(outcome.reason).toContain('its tracing project stays');
  });

  test('ignores a deployment whose name only contains the given one', async () => {
    const fixture = new DeployFixture();
    fixture.control.others.push({ ...(await deploymentOfOthers()), id: 'd7', name: 'agent-of-others' });
    expect(await deleting(fixture)).toMatchObject({ kind: 'deleted', changed: false });
    expect(fixture.control.deleted).toEqual([]);
  });

  test.each([
    ['by its name', {}, 'Deployment agent is not there: there was nothing to delete.'],
    ['by its id', withId('d9'), 'Deployment d9 is not there: there was nothing to delete.'],
  ])('of a missing deployment passes, and says so: %s', async (_sentence, requested, reason) => {
    const fixture = new DeployFixture();
    expect(await deleting(fixture, requested)).toMatchObject({ kind: 'deleted', passes: true, changed: false, reason });
    expect(fixture.control.count('delete')).toBe(0);
  });

  test('by an id rejects a deployment with another name', async () => {
    const fixture = await running();
    const other = { ...github, deploymentId: 'd1', name: 'another' };
    expect(await deleting(fixture, { desired: other })).toMatchObject({ kind: 'refused', changed: false });
    expect(fixture.control.deleted).toEqual([]);
    expect(await deleting(fixture, withId('d1'))).toMatchObject({ kind: 'deleted' });
  });

  test('of a name that several have is refused', async () => {
    const fixture = await running();
    fixture.control.others.push({ ...(await deploymentOfOthers()), id: 'd7' });
    const outcome = await deleting(fixture);
    expect(outcome).toMatchObject({ kind: 'refused', passes: false });
    expect(outcome.advice).toContain('deployment-id');
    expect(fixture.control.deleted).toEqual([]);
  });

  test('is not made by a dry run, which reports the deployment', async () => {
    const fixture = await running();
    expect(await deleting(fixture, { dryRun: true })).toMatchObject({
      kind: 'planned',
      passes: true,
      changed: false,
      reason: 'Deployment agent (d1) would be deleted, and its tracing project with it.',
    });
    expect(fixture.control.deleted).toEqual([]);
    expect(await deleting(new DeployFixture(), { dryRun: true })).toMatchObject({ kind: 'planned' });
  });

  test('without waiting ends as started', async () => {
    const fixture = await running();
    expect(await deleting(fixture, { wait: false })).toMatchObject({ kind: 'started', passes: true, changed: true });
  });

  test('of another client is waited for and not repeated', async () => {
    const fixture = await running();
    fixture.control.leaves();
    expect(await deleting(fixture)).toMatchObject({ kind: 'deleted', passes: true });
    expect(fixture.control.count('delete')).toBe(0);
  });

  test('reports a timeout', async () => {
    const fixture = await running();
    fixture.control.deletionMs = 3_600_000;
    const outcome = await deleting(fixture);
    expect(outcome).toMatchObject({ kind: 'timed-out', passes: false, changed: true });
    expect(outcome.reason).toContain('AWAITING_DELETE');
    expect(fixture.reported('leaving').length).toBeGreaterThan(10);
  });

  test('continues after cancellation, and says so', async () => {
    const fixture = await running();
    fixture.control.onWrite = () => fixture.cancelled.abort(new Error('cancelled'));
    expect(await deleting(fixture)).toMatchObject({
      kind: 'interrupted',
      reason: 'This step was ended; the deletion goes on.',
    });
  });
});

describe('a deletion with a lost response', () => {
  test('is resolved by polling, and not sent again', async () => {
    const fixture = await running();
    fixture.control.fails('delete', lost, { applied: true });
    expect(await deleting(fixture)).toMatchObject({ kind: 'deleted', changed: true });
    expect(fixture.control.count('delete')).toBe(1);
    expect(fixture.reported('settling')).toHaveLength(1);
  });

  test('reports an unknown outcome if the deployment is unchanged', async () => {
    const fixture = await running();
    fixture.control.fails('delete', lost);
    const outcome = await deleting(fixture);
    expect(outcome).toMatchObject({ kind: 'failed', passes: false, changed: false });
    expect(outcome.reason).toContain('whether the deletion took effect');
    expect(fixture.control.count('delete')).toBe(1);
  });

  test('keeps polling while the service returns errors', async () => {
    const fixture = await running();
    const busy = serviceError('busy', 'get deployment', { status: 503 });
    fixture.control.onWrite = () => fixture.control.fails('get', busy, { times: 20 });
    expect(await deleting(fixture)).toMatchObject({ kind: 'deleted' });
    expect(fixture.reported('poll-failed')).toHaveLength(20);
  });

  test('goes on polling where a service that rejects the key is busy in between', async () => {
    const fixture = await running();
    const busy = serviceError('busy', 'get deployment', { status: 503 });
    const no = serviceError('unauthorized', 'get deployment', { status: 401 });
    fixture.control.onWrite = () =>
      fixture.control.fails('get', no, { times: 4 }).fails('get', busy).fails('get', no, { times: 4 });
    expect(await deleting(fixture)).toMatchObject({ kind: 'deleted' });
  });

  test('fails if the service keeps rejecting the key', async () => {
    const fixture = await running();
    const no = serviceError('unauthorized', 'get deployment', { status: 401 });
    fixture.control.onWrite = () => fixture.control.fails('get', no, { times: 20 });
    const outcome = await deleting(fixture);
    expect(outcome).toMatchObject({ kind: 'failed', changed: true });
    expect(outcome.advice).toContain('api-key');
  });
});

describe('a service that does not delete', () => {
  test.each([404, 405, 501])('is reported as refused: %i', async (status) => {
    const fixture = await running();
    fixture.control.fails('delete', serviceError('missing', 'delete deployment', { status }));
    const outcome = await deleting(fixture);
    expect(outcome).toMatchObject({ kind: 'refused', changed: false, passes: false });
    expect(outcome.advice).toContain('deletes no deployments');
  });

  test('refuses if the service rejects the deletion', async () => {
    const fixture = await running();
    fixture.control.fails('delete', serviceError('conflict', 'delete deployment', { status: 409, detail: 'busy' }));
    expect(await deleting(fixture)).toMatchObject({ kind: 'refused', passes: false });
  });

  test('succeeds if another client deleted it meanwhile', async () => {
    const fixture = await running();
    fixture.control.fails('delete', serviceError('missing', 'delete deployment', { status: 404 }));
    const further = {
      requestUpload: fixture.control.requestUpload.bind(fixture.control),
      interruptRevision: fixture.control.interruptRevision.bind(fixture.control),
      putTarball: fixture.control.putTarball.bind(fixture.control),
      deleteDeployment: async () => {
        fixture.control.service.deployment = undefined;
        throw serviceError('missing', 'delete deployment', { status: 404 });
      },
    };
    expect(await deleting(fixture, { further })).toMatchObject({ kind: 'deleted' });
  });
});

describe('if its absence cannot be proven', () => {
  test('a service without lists requires an id', async () => {
    const fixture = new DeployFixture();
    fixture.control.lacks.add('lists');
    const outcome = await deleting(fixture);
    expect(outcome).toMatchObject({ kind: 'refused', passes: false });
    expect(outcome.advice).toContain('deployment-id');
  });

  test('a 404 of an address that is no control service proves nothing', async () => {
    const fixture = new DeployFixture();
    fixture.control.lacks.add('lists').add('listeners').add('integrations');
    const outcome = await deleting(fixture, withId('d9'));
    expect(outcome).toMatchObject({ kind: 'refused', passes: false });
  });

  test('a service that has listeners but lists no deployments counts', async () => {
    const fixture = new DeployFixture();
    fixture.control.lacks.add('lists');
    expect(await deleting(fixture, withId('d9'))).toMatchObject({ kind: 'deleted', changed: false });
  });

  test('a failed request is no absence', async () => {
    const fixture = await running();
    fixture.control.fails('list', serviceError('busy', 'list deployments', { status: 503 }));
    expect(await deleting(fixture)).toMatchObject({ kind: 'failed', changed: false });
    expect(fixture.control.deleted).toEqual([]);
  });
});

async function deploymentOfOthers() {
  const { deployment } = (await running()).control.service;
  if (!deployment) throw new Error('it is there');
  return deployment;
}
