import { expect, test } from 'vitest';
import { createAccessPolicy } from '../../../app/pull-requests/examine.ts';
import { createOwnership } from '../../../app/targets/ownership.ts';
import { ControlModel, goesLive } from '../../deploy/machine/control-model.ts';
import { SimulatedClock } from '../../deploy/machine/simulated-clock.ts';
import { another } from './another-deployment.ts';

const repository = { installationId: 1, repositoryId: 7, owner: 'acme', name: 'agent' };

const ruleOf = async (bindings: { repository: string; deployment: string }[] = []) => {
  const clock = new SimulatedClock();
  const control = new ControlModel(clock);
  control.has(
    {
      name: 'agent',
      source: 'github',
      source_config: { repo_url: 'git@github.com:Acme/Agent.git' },
      source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
      secrets: [],
    },
    goesLive('a'.repeat(40)),
  );
  await clock.sleep(60_000);
  control.others = [
    another(await control.getDeployment('d1'), 'o1', 'theirs'),
    another(await control.getDeployment('d1'), 'o2', 'agent'),
  ];
  return { control, rule: createAccessPolicy(createOwnership('github.com', bindings), control)(repository) };
};

test('a deployment is found by its id, and one that is not there is none', async () => {
  const { rule } = await ruleOf();
  expect(await rule.find({ deploymentId: 'd1' })).toMatchObject({ id: 'd1' });
  expect(await rule.find({ deploymentId: 'd9' })).toBeUndefined();
  expect(await rule.find({ name: 'unknown' })).toBeUndefined();
});

test("another's is refused in words that say nothing of it, by name and by id", async () => {
  const { rule } = await ruleOf();
  for (const requested of [{ name: 'theirs' }, { deploymentId: 'o1' }]) {
    const there = await rule.find(requested);
    const refusal = there && rule.refusal(there);
    expect(refusal).toContain('not a deployment of this repository');
    expect(refusal).not.toContain('other');
  }
});

test('one that the operator bound is not', async () => {
  const { rule } = await ruleOf([{ repository: 'acme/agent', deployment: 'theirs' }]);
  const there = await rule.find({ name: 'theirs' });
  expect(there && rule.refusal(there)).toBeUndefined();
});

test("prefers another repository's deployment of two with one name, as a plan would", async () => {
  const { rule } = await ruleOf();
  expect(await rule.find({ name: 'agent' })).toMatchObject({ id: 'o2' });
});
