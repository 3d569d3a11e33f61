import { describe, expect, test } from 'vitest';
import { says } from '../smoke/agent-model.ts';
import { goesLive } from './control-model.ts';
import { hello, running, second, workflowOn } from './deploy-fixture.ts';

describe('cancellation', () => {
  test('during a rollout reports ids, and the revision continues', async () => {
    const fixture = await running();
    fixture.control.scripts.push(goesLive(second));
    fixture.clock.after(12_000, () => fixture.cancelled.abort(new Error('cancelled')));
    const before = fixture.clock.now();
    const outcome = await fixture.deploy({ workflow: workflowOn(second) });
    expect(fixture.clock.now() - before).toBe(12_000);
    expect(outcome).toMatchObject({ kind: 'interrupted', passes: false, deploymentId: 'd1', revisionId: 'r2' });
    expect(outcome.reason).toContain('r2 goes on (last seen BUILDING)');
  });

  test('before the first request', async () => {
    const fixture = await running();
    fixture.cancelled.abort(new Error('cancelled'));
    const outcome = await fixture.deploy({ workflow: workflowOn(second) });
    expect(outcome).toMatchObject({ kind: 'interrupted', changed: false });
    expect(outcome.reason).toContain('before anything was changed');
  });

  test('during a smoke test removes what it made', async () => {
    const fixture = await running();
    fixture.agent.answers = [says('hello', 20_000)];
    fixture.clock.after(10_000, () => fixture.cancelled.abort(new Error('cancelled')));
    const outcome = await fixture.deploy({ smokeTests: [{ ...hello, thread: true, context: {} }] });
    expect(outcome.kind).toBe('interrupted');
    expect(fixture.agent.there.size).toBe(0);
  });

  test('during a write waits a moment for its response', async () => {
    const fixture = await running();
    fixture.control.scripts.push(goesLive(second));
    fixture.control.onWrite = () => fixture.cancelled.abort(new Error('cancelled'));
    const outcome = await fixture.deploy({ workflow: workflowOn(second) });
    expect(outcome).toMatchObject({ kind: 'interrupted', revisionId: 'r2', changed: true });
  });

  test('during a write that hangs reports that it may take effect', async () => {
    const fixture = await running();
    const patch = fixture.control.patchDeployment.bind(fixture.control);
    fixture.control.patchDeployment = async (id, request, options) => {
      fixture.cancelled.abort(new Error('cancelled'));
      await fixture.clock.sleep(50_000, options?.signal ?? undefined);
      return patch(id, request);
    };
    const before = fixture.clock.now();
    const outcome = await fixture.deploy({ workflow: workflowOn(second) });
    expect(fixture.clock.now() - before).toBe(1_000);
    expect(outcome.reason).toContain('may take effect');
  });
});
