import { describe, expect, test } from 'vitest';
import { summary } from '../../../src/deploy/words/summary.ts';
import { rolledBackTo } from '../../../src/deploy/words/result-json.ts';
import { says } from '../smoke/agent-model.ts';
import { ends, goesLive, serviceError } from './control-model.ts';
import { built, first, hello, image, imaged, second, workflowOn, DeployFixture } from './deploy-fixture.ts';

const wrong = says('good bye');
const right = says('hello');
const risky = { workflow: workflowOn(second), smokeTests: [hello], onFailure: 'rollback' as const };

/** r1 is live; the next one fails its smoke tests, and later ones as `then` says. */
const brokenNext = async (then = right) => {
  const fixture = new DeployFixture();
  fixture.control.has(built, goesLive(first));
  fixture.agent.answers = [wrong, wrong, then];
  return fixture.passes(60_000);
};

describe('after a wrong answer', () => {
  test('restores, follows and tests the former revision', async () => {
    const fixture = await brokenNext();
    const outcome = await fixture.deploy(risky);
    expect(outcome).toMatchObject({
      kind: 'rolled-back',
      passes: false,
      revisionId: 'r2',
      activeRevisionId: 'r3',
      rollback: {
        kind: 'done',
        toRevisionId: 'r1',
        rollout: { kind: 'live', revisionId: 'r3' },
        verdict: { kind: 'passed' },
      },
    });
    expect(outcome.reason).toContain('Revision r1 serves again and answers as it should.');
    expect(outcome.rollout).toMatchObject({ kind: 'live', revisionId: 'r2' });
    expect(fixture.reported('started').map(({ how }) => how)).toEqual(['patched', 'redeployed']);
  });

  test('restores a live revision that the service no longer returned before the change', async () => {
    const fixture = await brokenNext();
    fixture.control.push(ends('BUILD_FAILED', second));
    await fixture.passes(60_000);
    fixture.control.forgotten = 'r1';
    expect(await fixture.deploy(risky)).toMatchObject({ kind: 'rolled-back', rollback: { toRevisionId: 'r1' } });
  });

  test('does not roll back unless requested', async () => {
    const fixture = await brokenNext();
    const outcome = await fixture.deploy({ ...risky, onFailure: 'keep' });
    expect(outcome).toMatchObject({ kind: 'broken', activeRevisionId: 'r2' });
    expect(outcome).not.toHaveProperty('rollback');
  });

  test("does not roll back if the agent's own auth rejects the caller", async () => {
    const fixture = await brokenNext();
    fixture.agent.answers = [serviceError('unauthorized', 'stream run', { status: 401, detail: 'Show a token.' })];
    const outcome = await fixture.deploy(risky);
    expect(outcome.kind).toBe('unproven');
    expect(outcome.reason).toContain('the caller is refused: stream run: answered 401');
    expect(outcome.advice).toMatch(/^The agent's own rules of access .*`auth`.* token/);
  });

  test('does not roll back on an unproven answer', async () => {
    const fixture = await brokenNext();
    fixture.agent.answers = [serviceError('unreachable', 'stream run')];
    const outcome = await fixture.deploy(risky);
    expect(outcome.kind).toBe('unproven');
    expect(fixture.control.count('redeploy')).toBe(0);
  });

  test('is broken if the former revision fails them too, and reports both', async () => {
    const outcome = await (await brokenNext(wrong)).deploy(risky);
    expect(outcome).toMatchObject({ kind: 'broken', rollback: { kind: 'failed', toRevisionId: 'r1' } });
    expect(outcome.reason).toMatch(
      /^Revision r2 failed its smoke tests.*Rolled back, which did not help: revision r1 serves/,
    );
    expect(summary(outcome)).toContain('fails the smoke tests too. Check what else changed');
    expect(rolledBackTo(outcome)).toBe('r1');
  });

  test('is broken if the former revision does not come back, and says so', async () => {
    const fixture = await brokenNext();
    fixture.control.scripts.push(goesLive(second), ends('DEPLOY_FAILED'));
    const outcome = await fixture.deploy(risky);
    expect(outcome).toMatchObject({ kind: 'broken', rollback: { kind: 'failed', rollout: { kind: 'failed' } } });
  });

  test('leaves a newer revision that is on its way alone', async () => {
    const fixture = await brokenNext();
    const outcome = await fixture.deploy({
      ...risky,
      emit: ({ kind }) => {
        if (kind === 'smoke-began') fixture.control.push(goesLive('c'.repeat(40)));
      },
    });
    expect(outcome).toMatchObject({ kind: 'broken', rollback: { kind: 'impossible' } });
    expect(outcome.reason).toContain('revision r3 is on its way and takes over');
    expect(fixture.control.count('redeploy')).toBe(0);
  });

  test('goes back over no revision that another client makes meanwhile', async () => {
    const fixture = await brokenNext();
    fixture.control.heedsIfLatest = true;
    const outcome = await fixture.deploy({
      ...risky,
      emit: ({ kind }) => {
        if (kind === 'rolling-back') fixture.control.push(goesLive(first));
      },
    });
    expect(outcome).toMatchObject({ kind: 'broken', rollback: { kind: 'failed', toRevisionId: 'r1' } });
    expect(fixture.control.service.revisions.map(({ id }) => id)).toEqual(['r3', 'r2', 'r1']);
  });

  test('has the same timeout again', async () => {
    const fixture = await brokenNext();
    fixture.control.scripts.push(
      [
        { after: 0, status: 'BUILDING', commit: second },
        { after: 590_000, status: 'DEPLOYED', commit: second },
      ],
      [
        { after: 0, status: 'BUILDING' },
        { after: 500_000, status: 'DEPLOYED' },
      ],
    );
    expect(await fixture.deploy(risky)).toMatchObject({ kind: 'rolled-back' });
  });

  test('has no target for a first deployment', async () => {
    const fixture = new DeployFixture();
    fixture.agent.answers = [wrong];
    const outcome = await fixture.deploy({ ...risky, workflow: workflowOn(first) });
    expect(outcome).toMatchObject({ kind: 'broken', rollback: { kind: 'impossible' } });
  });

  test('takes nothing back if the run changed nothing', async () => {
    const fixture = await brokenNext();
    const outcome = await fixture.deploy({ ...risky, workflow: workflowOn(first) });
    expect(outcome).toMatchObject({ kind: 'broken', rollback: { kind: 'impossible' } });
    expect(outcome.advice).toContain('mode: rollback');
    expect(fixture.control.count('redeploy')).toBe(0);
  });

  test('leaves a newer revision that serves alone', async () => {
    const fixture = await brokenNext();
    fixture.clock.after(31_000, () => fixture.control.push([{ after: 0, status: 'DEPLOYED' }]));
    const outcome = await fixture.deploy(risky);
    expect(outcome).toMatchObject({ kind: 'superseded', activeRevisionId: 'r3', verdict: { kind: 'unproven' } });
    expect(outcome.reason).toContain('revision r3 replaced it before its smoke tests ended');
    expect(fixture.control.count('redeploy')).toBe(0);
  });

  test.each([
    ['the service says no', serviceError('rejected', 'redeploy revision', { status: 400 }), false, 'broken'],
    [
      'the answer is lost, and it took effect',
      serviceError('unreachable', 'redeploy revision', { effect: 'unknown' }),
      true,
      'rolled-back',
    ],
    [
      'the answer is lost, and it had no effect',
      serviceError('unreachable', 'redeploy revision', { effect: 'unknown' }),
      false,
      'broken',
    ],
  ])('%s', async (_, error, applied, kind) => {
    const fixture = await brokenNext();
    fixture.control.fails('redeploy', error, { applied });
    expect(await fixture.deploy(risky)).toMatchObject({ kind });
    expect(fixture.control.count('redeploy')).toBe(1);
  });

  test("takes no other client's revision for a rollback whose answer is lost", async () => {
    const fixture = await brokenNext();
    fixture.control.fails('redeploy', serviceError('unreachable', 'redeploy revision', { effect: 'unknown' }));
    const outcome = await fixture.deploy({
      ...risky,
      emit: ({ kind }) => {
        if (kind === 'settling') fixture.control.push(goesLive('c'.repeat(40)));
      },
    });
    expect(outcome).toMatchObject({ kind: 'broken', rollback: { kind: 'failed', toRevisionId: 'r1' } });
    expect(outcome.reason).toContain('unknown whether it took effect');
  });

  test('follows a service that restores the old revision itself', async () => {
    const fixture = await brokenNext();
    fixture.control.redeployRevision = async (id) => {
      const { deployment } = fixture.control.service;
      if (deployment) fixture.control.service.deployment = { ...deployment, active_revision_id: 'r1' };
      return fixture.control.getDeployment(id);
    };
    expect(await fixture.deploy(risky)).toMatchObject({ kind: 'rolled-back', activeRevisionId: 'r1' });
  });
});

describe('if the service does not redeploy an old revision', () => {
  const running = async () => {
    const fixture = new DeployFixture();
    fixture.control.lacks.add('redeploy');
    fixture.control.has(imaged, goesLive());
    fixture.agent.answers = [wrong, wrong, right];
    return fixture.passes(60_000);
  };

  test('restores the former image and the secrets that this run changed', async () => {
    const fixture = await running();
    const desired = { ...image, imageUri: 'registry.test/agent:2', secrets: [{ name: 'TOKEN', value: 'changed' }] };
    const outcome = await fixture.deploy({ ...risky, desired });
    expect(outcome).toMatchObject({ kind: 'rolled-back', activeRevisionId: 'r3' });
    expect(fixture.control.sent.at(-1)).toEqual({
      source_revision_config: { image_uri: 'registry.test/agent:1' },
      secrets: [{ name: 'TOKEN', value: 'canary-of-the-service' }],
    });
  });

  test('restores the former image alone, if only that changed', async () => {
    const fixture = await running();
    await fixture.deploy({ ...risky, desired: { ...image, imageUri: 'registry.test/agent:2' } });
    expect(fixture.control.sent.at(-1)).toEqual({ source_revision_config: { image_uri: 'registry.test/agent:1' } });
  });

  test('resolves a PATCH with a lost response by polling', async () => {
    const fixture = await running();
    fixture.control.onWrite = () => {
      fixture.control.onWrite = () => undefined;
      fixture.control.fails('patch', serviceError('unreachable', 'patch deployment', { effect: 'unknown' }), {
        applied: true,
      });
    };
    const outcome = await fixture.deploy({ ...risky, desired: { ...image, imageUri: 'registry.test/agent:2' } });
    expect(outcome).toMatchObject({ kind: 'rolled-back' });
    expect(fixture.control.count('patch')).toBe(2);
  });

  test('says why a commit cannot be restored, and how a person can', async () => {
    const fixture = await brokenNext();
    fixture.control.lacks.add('redeploy');
    const outcome = await fixture.deploy(risky);
    expect(outcome).toMatchObject({ kind: 'broken', rollback: { kind: 'impossible' } });
    expect(outcome.reason).toContain('no field selects one commit');
    expect(outcome.advice).toContain('Revert the commit');
  });
});
