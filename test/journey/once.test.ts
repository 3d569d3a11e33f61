import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Repository } from '../../src/demo/repository.ts';
import { openWorld, type World } from './world.ts';

let world: World;
let repository: Repository;
beforeAll(async () => {
  world = await openWorld();
  repository = await world.repository('talker');
});
afterAll(() => world.close());

const within = { timeout: 90_000 };

test('two steps that create the same deployment at the same time make one revision between them', within, async () => {
  const steps = await Promise.all([world.step(repository), world.step(repository)]);
  const [one, other] = steps.map(({ outputs }) => outputs);
  expect(steps).toMatchObject([
    { exitCode: 0, outputs: { outcome: 'deployed' } },
    { exitCode: 0, outputs: { outcome: 'deployed' } },
  ]);
  expect(one?.['revision-id']).toBe(other?.['revision-id']);
  expect(await world.revisions(one?.['deployment-id'])).toHaveLength(1);
  expect(steps.filter(({ outputs }) => outputs['changed'] === 'true')).toHaveLength(1);
});

test('two steps on one new commit at the same time: one makes the revision, the other adopts it', within, async () => {
  await repository.edit('graph.ts', "'first'", "'second'");
  const commit = await repository.commit('Say something else');
  const steps = await Promise.all([world.step(repository), world.step(repository)]);
  const [one, other] = steps.map(({ outputs }) => outputs);
  expect(steps).toMatchObject([
    { exitCode: 0, outputs: { outcome: 'deployed' } },
    { exitCode: 0, outputs: { outcome: 'deployed' } },
  ]);
  const [newest, ...older] = await world.revisions(one?.['deployment-id']);
  expect(older).toHaveLength(1);
  expect([one?.['revision-id'], other?.['revision-id']]).toEqual([newest?.id, newest?.id]);
  expect(newest).toMatchObject({ status: 'DEPLOYED', source_revision_config: { repo_commit_sha: commit } });
  expect(steps.filter(({ log }) => log.includes(': adopted'))).toHaveLength(1);
  expect(await world.ask(one?.['deployment-url'], 'hello')).toMatchObject({ said: 'second hello' });
});

test('the same commit once more changes nothing, and never with rebuild: never', within, async () => {
  const again = await world.step(repository);
  expect(again).toMatchObject({ exitCode: 0, outputs: { outcome: 'unchanged', changed: 'false', plan: 'none' } });
  await repository.edit('graph.ts', "'second'", "'third'");
  await repository.commit('Nobody is to see this yet');
  const never = await world.step(repository, { inputs: { rebuild: 'never' } });
  expect(never).toMatchObject({ exitCode: 0, outputs: { outcome: 'unchanged', changed: 'false', plan: 'none' } });
  expect(await world.revisions(never.outputs['deployment-id'])).toHaveLength(2);
  expect(await world.ask(never.outputs['deployment-url'], 'hello')).toMatchObject({ said: 'second hello' });
});

test('rebuild: always builds a commit again that is live', within, async () => {
  const first = await world.step(repository);
  expect(first.outputs['outcome']).toBe('deployed');
  const always = await world.step(repository, { inputs: { rebuild: 'always' } });
  expect(always).toMatchObject({ exitCode: 0, outputs: { outcome: 'deployed', changed: 'true' } });
  expect(always.outputs['revision-id']).not.toBe(first.outputs['revision-id']);
  const revisions = await world.revisions(always.outputs['deployment-id']);
  expect(revisions).toHaveLength(4);
  expect(revisions[0]?.source_revision_config.repo_commit_sha).toBe(
    revisions[1]?.source_revision_config.repo_commit_sha,
  );
});
