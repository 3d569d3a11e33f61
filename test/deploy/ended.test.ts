import { describe, expect, test } from 'vitest';
import { says } from './agent-model.ts';
import { goesLive } from './control-model.ts';
import { hello, running, second, workflowOn } from './told.ts';

describe('the end from outside', () => {
  test('during a rollout: ids are told, the revision goes on', async () => {
    const world = await running();
    world.control.scripts.push(goesLive(second));
    world.clock.after(12_000, () => world.cancelled.abort(new Error('cancelled')));
    const before = world.clock.now();
    const outcome = await world.deploy({ workflow: workflowOn(second) });
    expect(world.clock.now() - before).toBe(12_000);
    expect(outcome).toMatchObject({ kind: 'interrupted', passes: false, deploymentId: 'd1', revisionId: 'r2' });
    expect(outcome.reason).toContain('r2 goes on (last seen BUILDING)');
  });

  test('before anything was begun', async () => {
    const world = await running();
    world.cancelled.abort(new Error('cancelled'));
    const outcome = await world.deploy({ workflow: workflowOn(second) });
    expect(outcome).toMatchObject({ kind: 'interrupted', changed: false });
    expect(outcome.reason).toContain('before anything was changed');
  });

  test('during a smoke test: what it made is removed', async () => {
    const world = await running();
    world.agent.answers = [says('hello', 20_000)];
    world.clock.after(10_000, () => world.cancelled.abort(new Error('cancelled')));
    const outcome = await world.deploy({ smokeTests: [{ ...hello, thread: true, context: {} }] });
    expect(outcome.kind).toBe('interrupted');
    expect(world.agent.there.size).toBe(0);
  });

  test('during a write: its answer is waited for a moment', async () => {
    const world = await running();
    world.control.scripts.push(goesLive(second));
    world.control.onWrite = () => world.cancelled.abort(new Error('cancelled'));
    const outcome = await world.deploy({ workflow: workflowOn(second) });
    expect(outcome).toMatchObject({ kind: 'interrupted', revisionId: 'r2', changed: true });
  });

  test('during a write that does not end: it is told that it may take effect', async () => {
    const world = await running();
    const patch = world.control.patchDeployment.bind(world.control);
    world.control.patchDeployment = async (id, request, options) => {
      world.cancelled.abort(new Error('cancelled'));
      await world.clock.sleep(50_000, options?.signal ?? undefined);
      return patch(id, request);
    };
    const before = world.clock.now();
    const outcome = await world.deploy({ workflow: workflowOn(second) });
    expect(world.clock.now() - before).toBe(1_000);
    expect(outcome.reason).toContain('may take effect');
  });
});
