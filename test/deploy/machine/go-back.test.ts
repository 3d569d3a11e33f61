import { describe, expect, test } from 'vitest';
import { says } from '../smoke/agent-model.ts';
import { ends, goesLive, serviceError } from './control-model.ts';
import { built, first, github, hello, image, imaged, second, DeployFixture } from './deploy-fixture.ts';

const wrong = says('good bye');
describe('mode: rollback', () => {
  const twoLive = async (...more: Parameters<DeployFixture['control']['has']>[1][]) => {
    const fixture = new DeployFixture();
    fixture.control.has(built, goesLive(first));
    await fixture.passes(60_000);
    for (const script of [goesLive(second), ...more]) {
      fixture.control.push(script);
      await fixture.passes(60_000);
    }
    return fixture;
  };

  test('rolls back to the newest revision that was live before, and passes', async () => {
    const fixture = await twoLive(ends('BUILD_FAILED'));
    const outcome = await fixture.deploy({ mode: 'rollback', smokeTests: [hello] });
    expect(outcome).toMatchObject({
      kind: 'rolled-back',
      passes: true,
      revisionId: 'r4',
      activeRevisionId: 'r4',
      changed: true,
      rollback: { kind: 'done', toRevisionId: 'r1', verdict: { kind: 'passed' } },
    });
  });

  test.each([
    ['fails its smoke tests', wrong, 'broken'],
    ['cannot be reached', serviceError('unreachable', 'stream run'), 'unproven'],
  ])('fails if the revision %s', async (_, answer, kind) => {
    const fixture = await twoLive();
    fixture.agent.answers = [answer];
    expect(await fixture.deploy({ mode: 'rollback', smokeTests: [hello] })).toMatchObject({ kind, passes: false });
  });

  test.each([
    ['ends in a failure', ends('DEPLOY_FAILED'), 'failed'],
    ['is skipped', ends('SKIPPED'), 'superseded'],
    ['is interrupted', ends('INTERRUPTED'), 'interrupted'],
    ['never ends', ends('DEPLOYING'), 'timed-out'],
  ])('fails if the revision %s', async (_, script, kind) => {
    const fixture = await twoLive();
    fixture.control.scripts.push(script);
    expect(await fixture.deploy({ mode: 'rollback' })).toMatchObject({ kind, passes: false });
  });

  test('fails without a deployment', async () => {
    expect(await new DeployFixture().deploy({ mode: 'rollback' })).toMatchObject({ kind: 'refused' });
  });

  test.each(['rollback', 'smoke'] as const)('%s: an id of another deployment than the one named', async (mode) => {
    const fixture = await twoLive();
    const desired = { ...github, deploymentId: 'd1', name: 'another' };
    const outcome = await fixture.deploy({ mode, desired, smokeTests: [hello] });
    expect(outcome).toMatchObject({ kind: 'refused', passes: false, changed: false });
    expect(outcome.reason).toContain('named agent');
    expect(fixture.control.count('redeploy')).toBe(0);
    expect(fixture.agent.requested).toEqual([]);
  });

  test('fails if nothing was live before', async () => {
    const fixture = new DeployFixture();
    fixture.control.has(built, goesLive(first));
    await fixture.passes(60_000);
    const outcome = await fixture.deploy({ mode: 'rollback' });
    expect(outcome).toMatchObject({ kind: 'refused', rollback: { kind: 'impossible' } });
    expect(outcome.reason).toContain('no revision was live before r1');
  });

  test('fails if nothing is live', async () => {
    const fixture = new DeployFixture();
    fixture.control.has(built, ends('BUILD_FAILED'));
    expect((await fixture.deploy({ mode: 'rollback' })).reason).toContain('nothing is live');
  });

  test('fails if the service does not list revisions', async () => {
    const fixture = await twoLive();
    fixture.control.lacks.add('revisions');
    expect((await fixture.deploy({ mode: 'rollback' })).reason).toContain('does not list revisions');
  });

  test('reports ids on cancellation', async () => {
    const fixture = await twoLive();
    fixture.clock.after(10_000, () => fixture.cancelled.abort(new Error('cancelled')));
    const outcome = await fixture.deploy({ mode: 'rollback' });
    expect(outcome).toMatchObject({ kind: 'interrupted', revisionId: 'r3', deploymentId: 'd1' });
    expect(outcome.reason).toContain('revision r3 goes on');
  });

  // The type requires a source, even if the request only identifies the deployment.
  const whomOnly = { name: 'agent', source: 'github', secretsStrategy: 'merge', rebuild: 'never' } as const;

  const twoImages = async () => {
    const fixture = new DeployFixture();
    fixture.control.has(imaged, goesLive());
    await fixture.passes(60_000);
    await fixture.deploy({ desired: { ...image, imageUri: 'registry.test/agent:2' } });
    fixture.control.sent.length = 0;
    return fixture;
  };
  const back = { kind: 'rolled-back', passes: true, rollback: { toRevisionId: 'r1', verdict: { kind: 'passed' } } };

  test('an image: deploys it again', async () => {
    const fixture = await twoImages();
    expect(await fixture.deploy({ mode: 'rollback', desired: whomOnly, smokeTests: [hello] })).toMatchObject(back);
    expect([fixture.control.count('redeploy'), fixture.control.sent]).toEqual([1, []]);
  });

  test('an image: sets its address, if the service does not redeploy', async () => {
    const fixture = await twoImages();
    fixture.control.lacks.add('redeploy');
    expect(await fixture.deploy({ mode: 'rollback', desired: whomOnly, smokeTests: [hello] })).toMatchObject(back);
    expect(fixture.control.sent).toEqual([{ source_revision_config: { image_uri: 'registry.test/agent:1' } }]);
  });

  test('an image: only planned', async () => {
    const fixture = new DeployFixture();
    fixture.control.has(imaged, goesLive());
    await fixture.passes(60_000);
    const outcome = await fixture.deploy({ mode: 'smoke', desired: whomOnly, smokeTests: [hello] });
    expect(outcome).toMatchObject({ kind: 'unchanged', passes: true, changed: false });
    expect(fixture.control.sent).toEqual([]);
  });

  test('ignores the desired fields of a deploy', async () => {
    const fixture = await twoLive();
    const desired = { ...github, deploymentType: 'prod' as const };
    expect(await fixture.deploy({ mode: 'rollback', desired })).toMatchObject({ kind: 'rolled-back' });
    expect(fixture.control.count('patch')).toBe(0);
  });
});
