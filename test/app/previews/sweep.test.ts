import { beforeEach, describe, expect, test } from 'vitest';
import { markOf, previewName } from '../../../src/deploy/rules/preview.ts';
import { commitOf, repository } from './a-preview.ts';
import { PreviewWorld, previewCode } from './preview-world.ts';

const setting = {
  when: 'always',
  expiresAfter: '7d',
  max: 10,
  copies: 1,
  honoursKeys: true,
  pinsCommits: true,
  seed: 1,
};
const minuteMs = 60_000;
const key = { repositoryId: repository.repositoryId, number: 5, entry: 'another' };

let world: PreviewWorld;
beforeEach(async () => {
  world = await PreviewWorld.open(setting, previewCode);
});

/** A preview that another client made, as a workflow does. */
const leftBehind = (marked: typeof key, name = previewName(marked)) =>
  world.service.createDeployment({
    name,
    source: 'github',
    source_config: { repo_url: 'https://github.com/acme/agents' },
    source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
    secrets: [{ name: 'LANDFALL_PREVIEW', value: markOf(marked) }],
  });

const close = (): void => {
  const pull = world.pulls.get(5);
  if (pull) pull.state.isOpen = false;
};

const swept = async (times = 1): Promise<string[]> => {
  for (let time = 0; time < times; time += 1) {
    world.jobs.send('sweep', String(time));
    world.clock.after(5 * minuteMs, () => undefined);
    await world.clock.run(world.clock.now() + 5 * minuteMs);
  }
  return world.service.alive.map(({ name }) => name).filter((name) => !world.others.includes(name));
};

describe('a sweep', () => {
  test('removes what a workflow left behind of a closed pull request, under whatever name', async () => {
    world.open(5, false, commitOf('a'));
    close();
    await leftBehind(key);
    expect(await swept()).toEqual([]);
  });

  test('removes the preview of a pull request that is not there', async () => {
    await leftBehind(key);
    expect(await swept()).toEqual([]);
  });

  test('keeps what a workflow made for an open pull request', async () => {
    world.isOutOfFile = true;
    world.open(5, false, commitOf('a'));
    await leftBehind(key);
    expect(await swept(3)).toEqual([previewName(key)]);
  });

  test('keeps the preview of a repository that the App does not reach', async () => {
    const foreign = { ...key, repositoryId: 71 };
    await leftBehind(foreign);
    expect(await swept(3)).toEqual([previewName(foreign)]);
  });

  test('keeps a deployment that has the name of a preview, and makes none in its place', async () => {
    const own = { ...key, entry: 'support' };
    await leftBehind({ ...own, repositoryId: 71 }, previewName(own));
    world.open(5, false, commitOf('a'));
    world.deliver(5, [0]);
    expect(await swept(2)).toEqual([previewName(own)]);
    expect(world.previews.all).toMatchObject([{ known: { outcome: { kind: 'refused', passes: false } } }]);
    close();
    expect(await swept(3)).toEqual([previewName(own)]);
  });

  test('removes a preview whose creation takes effect after its removal', async () => {
    world.open(5, false, commitOf('a'));
    world.deliver(5, [0]);
    await swept();
    close();
    expect(await swept()).toEqual([]);
    await leftBehind({ ...key, entry: 'support' });
    expect(await swept()).toEqual([]);
  });

  test('forgets what is gone, and nothing of it stays in the store', async () => {
    world.open(5, false, commitOf('a'));
    world.deliver(5, [0]);
    await swept();
    close();
    await swept(10);
    expect(world.previews.all).toEqual([]);
    expect(await world.previews.pull(key)).toBeUndefined();
  });
});
