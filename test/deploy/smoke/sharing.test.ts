import { describe, expect, test } from 'vitest';
import { goesLive, serviceError } from '../machine/control-model.ts';
import { first, running, second, workflowOn, DeployFixture } from '../machine/deploy-fixture.ts';

describe('two steps on one commit share one revision', () => {
  test('the later step follows the revision of the first one', async () => {
    const fixture = await running();
    fixture.control.push(goesLive(second));
    const outcome = await fixture.deploy({ workflow: workflowOn(second) });
    expect(outcome).toMatchObject({ kind: 'deployed', revisionId: 'r2', changed: false });
    expect(fixture.control.count('patch')).toBe(0);
  });

  test('waits for a revision to report its commit', async () => {
    const fixture = await running();
    fixture.control.push(goesLive(second));
    await fixture.deploy({ workflow: workflowOn(second) });
    expect(fixture.reported('waiting-for-commit')).toHaveLength(1);
    expect(fixture.reported('status').map(({ status }) => status)).toEqual(['QUEUED', 'BUILDING', 'DEPLOYED']);
  });

  test('builds the ref if the revision turns out to be of another commit', async () => {
    const fixture = await running();
    fixture.control.push(goesLive('c'.repeat(40)));
    fixture.control.scripts.push(goesLive(second));
    const outcome = await fixture.deploy({ workflow: workflowOn(second) });
    expect(outcome).toMatchObject({ kind: 'deployed', revisionId: 'r3', changed: true });
    expect(fixture.control.count('patch')).toBe(1);
  });

  test('a step that does not wait assumes that it is the same', async () => {
    const fixture = await running();
    fixture.control.push(goesLive(second));
    const outcome = await fixture.deploy({ workflow: workflowOn(second), wait: false });
    expect(outcome).toMatchObject({ kind: 'started', revisionId: 'r2', changed: false });
  });

  test('follows a revision that never reports its commit until the deadline', async () => {
    const fixture = await running();
    fixture.control.push([{ after: 0, status: 'QUEUED' }]);
    expect(await fixture.deploy({ workflow: workflowOn(second) })).toMatchObject({
      kind: 'timed-out',
      revisionId: 'r2',
    });
  });

  test('builds if the service never reports commits', async () => {
    const fixture = await running();
    fixture.control.push([
      { after: 0, status: 'BUILDING' },
      { after: 9_000, status: 'DEPLOYED' },
    ]);
    fixture.control.scripts.push(goesLive(second));
    const outcome = await fixture.deploy({ workflow: workflowOn(second) });
    expect(outcome).toMatchObject({ kind: 'deployed', revisionId: 'r3' });
  });

  test('one of two concurrent changes wins, if the service honours the precondition', async () => {
    const fixture = await running();
    fixture.control.heedsIfLatest = true;
    const deciding = fixture.control.patchDeployment.bind(fixture.control);
    fixture.control.patchDeployment = (...change) => {
      fixture.control.patchDeployment = deciding;
      fixture.control.push(goesLive(second));
      return deciding(...change);
    };
    const outcome = await fixture.deploy({ workflow: workflowOn(second) });
    expect(outcome).toMatchObject({ kind: 'deployed', revisionId: 'r2', changed: false });
    expect(fixture.reported('planned').map(({ plan }) => plan.kind)).toEqual(['patch', 'none']);
  });

  test('gives up after several conflicts, and reports the reason', async () => {
    const fixture = await running();
    fixture.control.fails('patch', serviceError('conflict', 'patch deployment', { status: 412 }), { times: 99 });
    const outcome = await fixture.deploy({ workflow: workflowOn(second) });
    expect(outcome).toMatchObject({ kind: 'refused', changed: false });
    expect(outcome.advice).toContain('what else changes the deployment');
    expect(fixture.control.count('patch')).toBe(5);
  });

  test("of two concurrent creations, one continues with the other's deployment", async () => {
    const fixture = new DeployFixture();
    fixture.control.fails('create', serviceError('conflict', 'create deployment', { status: 409 }), { applied: true });
    fixture.control.scripts.push(goesLive(first));
    const outcome = await fixture.deploy();
    expect(outcome).toMatchObject({ kind: 'deployed', revisionId: 'r1' });
    expect(fixture.control.count('create')).toBe(1);
  });

  test('fails on a conflict with something that is no deployment', async () => {
    const fixture = new DeployFixture();
    fixture.control.fails(
      'create',
      serviceError('conflict', 'create deployment', { status: 409, detail: 'project exists' }),
      { times: 9 },
    );
    const outcome = await fixture.deploy();
    expect(outcome).toMatchObject({ kind: 'refused', passes: false });
    expect(outcome.advice).toContain('tracing project');
  });
});
