import { expect, test } from 'vitest';
import type { FreezeWindow } from '../../../src/deploy/file/environment-gate.ts';
import { goesLive } from './control-model.ts';
import { DeployFixture, running, second, workflowOn, type RunOfTest } from './deploy-fixture.ts';

const hour = 3_600_000;

/** A fixture whose environment is frozen for an hour from now on. */
async function frozen(fixture: DeployFixture): Promise<{ fixture: DeployFixture; gate: Required<RunOfTest>['gate'] }> {
  const now = fixture.clock.now();
  const freeze: FreezeWindow[] = [{ kind: 'once', from: now, until: now + hour, reason: 'Launch' }];
  return { fixture, gate: { environment: 'production', hold: false, freeze } };
}

test('a frozen environment ends a deploy before anything is sent', async () => {
  const { fixture, gate } = await frozen(await running());
  const outcome = await fixture.deploy({ gate, workflow: workflowOn(second) });
  expect(outcome).toMatchObject({ kind: 'frozen', passes: false, changed: false });
  expect(outcome.reason).toMatch(/^Nothing was sent: production is frozen until \S+ \S+ UTC: Launch\.$/);
  expect(outcome.advice).toContain('ignore-freeze');
  expect(fixture.control.service.revisions).toHaveLength(1);
});

test('a new deployment is not made while its environment is frozen', async () => {
  const { fixture, gate } = await frozen(new DeployFixture());
  expect(await fixture.deploy({ gate })).toMatchObject({ kind: 'frozen' });
  expect(fixture.control.service.deployment).toBeUndefined();
});

test('what is there already is no deploy, and passes', async () => {
  const { fixture, gate } = await frozen(await running());
  expect(await fixture.deploy({ gate })).toMatchObject({ kind: 'unchanged', passes: true });
});

test('ignore-freeze deploys all the same, and says so', async () => {
  const { fixture, gate } = await frozen(await running());
  fixture.control.scripts.push(goesLive(second));
  const outcome = await fixture.deploy({ gate, ignoresFreeze: true, workflow: workflowOn(second) });
  expect(outcome).toMatchObject({ kind: 'deployed', passes: true });
  expect(outcome.notes).toContainEqual(expect.stringMatching(/is frozen until .*ignore-freeze says so/));
});

test('a plan says that it is frozen', async () => {
  const { fixture, gate } = await frozen(await running());
  const outcome = await fixture.deploy({ gate, mode: 'plan', workflow: workflowOn(second) });
  expect(outcome).toMatchObject({ kind: 'planned', passes: true });
  expect(outcome.notes).toContainEqual(expect.stringMatching(/is frozen until .* UTC: Launch; until then nothing/));
});

test('after the end it is deployed', async () => {
  const { fixture, gate } = await frozen(await running());
  fixture.clock.after(0, () => undefined);
  await fixture.clock.sleep(hour);
  fixture.control.scripts.push(goesLive(second));
  expect(await fixture.deploy({ gate, workflow: workflowOn(second) })).toMatchObject({ kind: 'deployed' });
});

test('a rollback passes', async () => {
  const { fixture, gate } = await frozen(await running());
  fixture.control.scripts.push(goesLive(second));
  await fixture.deploy({ workflow: workflowOn(second) });
  expect(await fixture.deploy({ gate, mode: 'rollback' })).toMatchObject({ kind: 'rolled-back' });
});
