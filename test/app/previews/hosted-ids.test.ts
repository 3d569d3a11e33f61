import { expect, test } from 'vitest';
import { markOf, previewName, repositoryIdOn } from '../../../src/deploy/rules/preview.ts';
import { commitOf } from './a-preview.ts';
import { PreviewWorld, previewCode, type WorldSetting } from './preview-world.ts';

const setting: WorldSetting = {
  when: 'always',
  expiresAfter: '7d',
  max: 10,
  copies: 1,
  honoursKeys: true,
  pinsCommits: true,
  seed: 1,
};
const hostedId = repositoryIdOn('https://github.acme.test', 70);
const keyOn = (repositoryId: number) => ({ repositoryId, number: 5, entry: 'support' });
const ownOf = (world: PreviewWorld) => world.control.alive.filter(({ name }) => name.startsWith('support-pr-5-'));
const minutes = (world: PreviewWorld, count: number) => world.clock.run(world.clock.now() + count * 60_000);

/** A pull request on a GitHub Enterprise Server, opened under an App that knows its repository as `id` says. */
async function opened(id: { of: number }): Promise<PreviewWorld> {
  const world = new PreviewWorld(setting, {
    ...previewCode,
    contextOf: (context) => ({ ...context, hostedIdOf: () => id.of }),
  });
  world.pulls.open(5, false, commitOf('a'));
  world.deliverChange(5, [0]);
  await minutes(world, 10);
  return world;
}

const push = async (world: PreviewWorld): Promise<void> => {
  world.pulls.change(5, 'push', 'good', commitOf('b'));
  world.deliverChange(5, [0]);
  await minutes(world, 10);
};
const close = async (world: PreviewWorld): Promise<void> => {
  const pull = world.pulls.get(5);
  if (pull) pull.state.isOpen = false;
  world.deliverChange(5, [0]);
  await minutes(world, 10);
};

test('a preview has the name and the mark that the Action and the command line give it', async () => {
  const world = await opened({ of: hostedId });
  expect(ownOf(world)).toMatchObject([{ name: previewName(keyOn(hostedId)) }]);
  expect(ownOf(world)[0]?.secrets).toContainEqual({ name: 'LANDFALL_PREVIEW', value: markOf(keyOn(hostedId)) });
  await close(world);
  expect(ownOf(world)).toEqual([]);
});

test('one of before, by the number alone, is replaced at the next push', async () => {
  const id = { of: 70 };
  const world = await opened(id);
  expect(ownOf(world)).toMatchObject([{ name: previewName(keyOn(70)) }]);
  id.of = hostedId;
  await push(world);
  expect(ownOf(world)).toMatchObject([{ name: previewName(keyOn(hostedId)) }]);
  await close(world);
  expect(ownOf(world)).toEqual([]);
});

test('one of before is removed at the close, and the same number of another host is not', async () => {
  const id = { of: 70 };
  const world = await opened(id);
  id.of = hostedId;
  const other = { ...keyOn(70), entry: 'sales' };
  await world.control.createDeployment({
    name: previewName(other),
    source: 'github',
    source_config: { repo_url: 'https://github.com/acme/agents', build_on_push: false },
    source_revision_config: { repo_ref: 'topic', graph_config_path: 'langgraph.json' },
    secrets: [{ name: 'LANDFALL_PREVIEW', value: markOf(other) }],
  });
  await close(world);
  for (let sweep = 0; sweep < 3; sweep += 1) {
    world.jobs.send('sweep', String(sweep));
    await minutes(world, 10);
  }
  expect(ownOf(world)).toEqual([]);
  expect(world.control.alive.map(({ name }) => name)).toContain(previewName(other));
});
