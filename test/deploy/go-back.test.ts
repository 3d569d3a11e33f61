import { describe, expect, test } from 'vitest';
import { says } from './agent-model.ts';
import { ends, goesLive, serviceError } from './control-model.ts';
import { built, first, github, hello, image, imaged, second, World } from './told.ts';

const wrong = says('good bye');
describe('mode: rollback', () => {
  const twoLive = async (...more: Parameters<World['control']['has']>[1][]) => {
    const world = new World();
    world.control.has(built, goesLive(first));
    await world.passes(60_000);
    for (const script of [goesLive(second), ...more]) {
      world.control.push(script);
      await world.passes(60_000);
    }
    return world;
  };

  test('goes back to the newest revision that was live before, and passes', async () => {
    const world = await twoLive(ends('BUILD_FAILED'));
    const outcome = await world.deploy({ mode: 'rollback', smokeTests: [hello] });
    expect(outcome).toMatchObject({
      kind: 'rolled-back',
      passes: true,
      revisionId: 'r4',
      activeRevisionId: 'r4',
      changed: true,
      rollback: { kind: 'done', toRevisionId: 'r1', verdict: { kind: 'passed' } },
    });
  });

  test('what failed in between is passed over', async () => {
    const world = await twoLive(ends('DEPLOY_FAILED'), goesLive('c'.repeat(40)));
    expect(await world.deploy({ mode: 'rollback' })).toMatchObject({ rollback: { toRevisionId: 'r2' } });
  });

  test.each([
    ['answers wrongly', wrong, 'broken'],
    ['cannot be reached', serviceError('unreachable', 'stream run'), 'unproven'],
  ])('one that %s does not pass', async (_, answer, kind) => {
    const world = await twoLive();
    world.agent.answers = [answer];
    expect(await world.deploy({ mode: 'rollback', smokeTests: [hello] })).toMatchObject({ kind, passes: false });
  });

  test.each([
    ['ends in a failure', ends('DEPLOY_FAILED'), 'failed'],
    ['is skipped', ends('SKIPPED'), 'superseded'],
    ['is interrupted', ends('INTERRUPTED'), 'interrupted'],
    ['never ends', ends('DEPLOYING'), 'timed-out'],
  ])('one that %s does not pass', async (_, script, kind) => {
    const world = await twoLive();
    world.control.scripts.push(script);
    expect(await world.deploy({ mode: 'rollback' })).toMatchObject({ kind, passes: false });
  });

  test('there is no deployment', async () => {
    expect(await new World().deploy({ mode: 'rollback' })).toMatchObject({ kind: 'refused' });
  });

  test.each(['rollback', 'smoke'] as const)('%s: an id of another deployment than the one named', async (mode) => {
    const world = await twoLive();
    const desired = { ...github, deploymentId: 'd1', name: 'another' };
    const outcome = await world.deploy({ mode, desired, smokeTests: [hello] });
    expect(outcome).toMatchObject({ kind: 'refused', passes: false, changed: false });
    expect(outcome.reason).toContain('named agent');
    expect(world.control.count('redeploy')).toBe(0);
    expect(world.agent.asked).toEqual([]);
  });

  test('nothing was live before', async () => {
    const world = new World();
    world.control.has(built, goesLive(first));
    await world.passes(60_000);
    const outcome = await world.deploy({ mode: 'rollback' });
    expect(outcome).toMatchObject({ kind: 'refused', rollback: { kind: 'impossible' } });
    expect(outcome.reason).toContain('no revision was live before r1');
  });

  test('nothing is live', async () => {
    const world = new World();
    world.control.has(built, ends('BUILD_FAILED'));
    expect((await world.deploy({ mode: 'rollback' })).reason).toContain('nothing is live');
  });

  test('a service that does not list revisions', async () => {
    const world = await twoLive();
    world.control.lacks.add('revisions');
    expect((await world.deploy({ mode: 'rollback' })).reason).toContain('does not list revisions');
  });

  test('ended from outside in the middle: ids are told', async () => {
    const world = await twoLive();
    world.clock.after(10_000, () => world.cancelled.abort(new Error('cancelled')));
    const outcome = await world.deploy({ mode: 'rollback' });
    expect(outcome).toMatchObject({ kind: 'interrupted', revisionId: 'r3', deploymentId: 'd1' });
    expect(outcome.reason).toContain('revision r3 goes on');
  });

  // What a door that only knows whom it speaks of hands in has to be of some source.
  const whomOnly = { name: 'agent', source: 'github', secretsStrategy: 'merge', rebuild: 'never' } as const;

  const twoImages = async () => {
    const world = new World();
    world.control.has(imaged, goesLive());
    await world.passes(60_000);
    await world.deploy({ desired: { ...image, imageUri: 'registry.test/agent:2' } });
    world.control.sent.length = 0;
    return world;
  };
  const back = { kind: 'rolled-back', passes: true, rollback: { toRevisionId: 'r1', verdict: { kind: 'passed' } } };

  test('of an image: by deploying it again', async () => {
    const world = await twoImages();
    expect(await world.deploy({ mode: 'rollback', desired: whomOnly, smokeTests: [hello] })).toMatchObject(back);
    expect([world.control.count('redeploy'), world.control.sent]).toEqual([1, []]);
  });

  test('of an image: by its address, where nothing is deployed again', async () => {
    const world = await twoImages();
    world.control.lacks.add('redeploy');
    expect(await world.deploy({ mode: 'rollback', desired: whomOnly, smokeTests: [hello] })).toMatchObject(back);
    expect(world.control.sent).toEqual([{ source_revision_config: { image_uri: 'registry.test/agent:1' } }]);
  });

  test('of an image: asked only', async () => {
    const world = new World();
    world.control.has(imaged, goesLive());
    await world.passes(60_000);
    const outcome = await world.deploy({ mode: 'smoke', desired: whomOnly, smokeTests: [hello] });
    expect(outcome).toMatchObject({ kind: 'unchanged', passes: true, changed: false });
    expect(world.control.sent).toEqual([]);
  });

  test('the wishes of a deploy play no part in it', async () => {
    const world = await twoLive();
    const desired = { ...github, deploymentType: 'prod' as const };
    expect(await world.deploy({ mode: 'rollback', desired })).toMatchObject({ kind: 'rolled-back' });
    expect(world.control.count('patch')).toBe(0);
  });
});
