import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Repository } from '../../src/demo/repository.ts';
import type { StepResult } from '../../src/demo/runner.ts';
import { startCuttingProxy, type CuttingProxy, type Fate } from './cutting-proxy.ts';
import { openWorld, type World } from './world.ts';

let world: World;
let repository: Repository;
/** On this way two writes wait for each other: both steps have decided before either is heard. */
let meeting: CuttingProxy;

beforeAll(async () => {
  world = await openWorld();
  repository = await world.repository('talker');
  let waiting: (() => void) | undefined;
  meeting = await startCuttingProxy(world.service.url, async (request): Promise<Fate> => {
    if (!/^(PATCH|POST) \/v2/.test(request)) return 'passes';
    const other = waiting;
    waiting = undefined;
    if (other) other();
    else await new Promise<void>((resolve) => (waiting = resolve));
    return 'passes';
  });
});
afterAll(async () => {
  await meeting?.close();
  await world?.close();
});

const within = { timeout: 60_000 };

async function twoSteps(): Promise<StepResult[]> {
  const step = (): Promise<StepResult> => world.step(repository, { baseUrl: meeting.url });
  const steps = await Promise.all([step(), step()]);
  expect(steps).toMatchObject([
    { exitCode: 0, outputs: { outcome: 'deployed' } },
    { exitCode: 0, outputs: { outcome: 'deployed' } },
  ]);
  expect(steps[0]?.outputs['revision-id']).toBe(steps[1]?.outputs['revision-id']);
  expect(steps.filter(({ outputs }) => outputs['changed'] === 'true')).toHaveLength(1);
  expect(steps.filter(({ log }) => log.includes(': adopted'))).toHaveLength(1);
  return steps;
}

test('two steps that create one deployment at the same moment make one revision between them', within, async () => {
  const [step] = await twoSteps();
  expect(await world.revisions(step?.outputs['deployment-id'])).toHaveLength(1);
});

test(
  'two steps that deploy one commit at the same moment: one makes the revision, the other adopts it',
  within,
  async () => {
    await repository.edit('graph.ts', "'first'", "'second'");
    const commit = await repository.commit('Say something else');
    const [step] = await twoSteps();
    const [newest, ...older] = await world.revisions(step?.outputs['deployment-id']);
    expect(older).toHaveLength(1);
    expect(newest).toMatchObject({ status: 'DEPLOYED', source_revision_config: { repo_commit_sha: commit } });
    expect(await world.ask(step?.outputs['deployment-url'], 'hello')).toMatchObject({ said: 'second hello' });
  },
);

test('the same commit once more changes nothing', within, async () => {
  const again = await world.step(repository);
  expect(again).toMatchObject({ exitCode: 0, outputs: { outcome: 'unchanged', changed: 'false', plan: 'none' } });
  expect(await world.revisions(again.outputs['deployment-id'])).toHaveLength(2);
});

test('rebuild: always builds a commit again that is live', within, async () => {
  const step = await world.step(repository, { inputs: { rebuild: 'always' } });
  expect(step).toMatchObject({ exitCode: 0, outputs: { outcome: 'deployed', plan: 'patch', changed: 'true' } });
  const revisions = await world.revisions(step.outputs['deployment-id']);
  const [newest, former] = revisions.map((revision) => revision.source_revision_config.repo_commit_sha);
  expect(revisions).toHaveLength(3);
  expect(newest).toBe(former);
});

test('rebuild: never leaves a new commit where it is', within, async () => {
  await repository.edit('graph.ts', "'second'", "'third'");
  await repository.commit('Nobody is to hear this yet');
  const step = await world.step(repository, { inputs: { rebuild: 'never' } });
  expect(step).toMatchObject({ exitCode: 0, outputs: { outcome: 'unchanged', plan: 'none', changed: 'false' } });
  expect(await world.revisions(step.outputs['deployment-id'])).toHaveLength(3);
  expect(await world.ask(step.outputs['deployment-url'], 'hello')).toMatchObject({ said: 'second hello' });
});
