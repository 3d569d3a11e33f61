import { beforeEach, describe, expect, test } from 'vitest';
import { anyEntry } from '../../../app/previews/decide-previews.ts';
import { createInstalled } from '../../../app/previews/installed.ts';
import type { PreviewRequest } from '../../../app/previews/preview-store.ts';
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
  world = new PreviewWorld(setting, previewCode);
});

/** A preview that another client made, as a workflow does. */
const leftBehind = (marked: typeof key, name = previewName(marked)) =>
  world.control.createDeployment({
    name,
    source: 'github',
    source_config: { repo_url: 'https://github.com/acme/agents' },
    source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
    secrets: [{ name: 'LANDFALL_PREVIEW', value: markOf(marked) }],
  });

const close = (isOpen = false): void => {
  const pull = world.pulls.get(5);
  if (pull) pull.state.isOpen = isOpen;
};
const reopen = (): void => close(true);

/** What a sweep stores of a stray of a closed pull request with this head. */
const removalOfStray = (commit: string): PreviewRequest => ({
  key: { ...key, entry: anyEntry },
  name: '',
  wanted: { kind: 'gone', code: 'closed', commit, at: world.clock.now() },
});

const alive = (): string[] =>
  world.control.alive.map(({ name }) => name).filter((name) => !world.others.includes(name));

const passed = async (): Promise<string[]> => {
  world.clock.after(5 * minuteMs, () => undefined);
  await world.clock.run(world.clock.now() + 5 * minuteMs);
  return alive();
};

const swept = async (times = 1): Promise<string[]> => {
  for (let time = 0; time < times; time += 1) {
    world.jobs.send('sweep', String(time));
    await passed();
  }
  return alive();
};

describe('a sweep', () => {
  test('removes what a workflow left behind of a closed pull request, under whatever name', async () => {
    world.pulls.open(5, false, commitOf('a'));
    close();
    await leftBehind(key);
    expect(await swept()).toEqual([]);
  });

  test('removes the preview of a pull request that is not there', async () => {
    await leftBehind(key);
    expect(await swept()).toEqual([]);
  });

  test('keeps what a workflow made for an open pull request', async () => {
    world.previewing.isOutOfFile = true;
    world.pulls.open(5, false, commitOf('a'));
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
    world.pulls.open(5, false, commitOf('a'));
    world.deliverChange(5, [0]);
    expect(await swept(2)).toEqual([previewName(own)]);
    expect(world.previewing.store.all).toMatchObject([{ known: { outcome: { kind: 'refused', passes: false } } }]);
    close();
    expect(await swept(3)).toEqual([previewName(own)]);
  });

  test('removes a preview whose creation takes effect after its removal', async () => {
    world.pulls.open(5, false, commitOf('a'));
    world.deliverChange(5, [0]);
    await swept();
    close();
    expect(await swept()).toEqual([]);
    await leftBehind({ ...key, entry: 'support' });
    expect(await swept()).toEqual([]);
  });

  test('forgets what is gone, and nothing of it stays in the store', async () => {
    world.pulls.open(5, false, commitOf('a'));
    world.deliverChange(5, [0]);
    await swept();
    close();
    await swept(10);
    expect(world.previewing.store.all).toEqual([]);
    expect(await world.previewing.store.pull(key)).toBeUndefined();
  });

  test('takes no list of before an uninstall for the reach of the App', async () => {
    const repositories = async function* () {
      if (world.previewing.uninstalledAt === undefined) yield repository;
    };
    const installed = createInstalled({ repositories }, { now: () => world.clock.now() });
    world = new PreviewWorld(setting, {
      ...previewCode,
      contextOf: (context) => ({ ...context, installed }),
    });
    world.pulls.open(5, false, commitOf('a'));
    await leftBehind(key);
    await swept();
    world.uninstall();
    expect(await swept(3)).toEqual([previewName(key)]);
  });

  test('removes a stray once, and nothing that comes after it', async () => {
    await leftBehind(key);
    expect(await swept()).toEqual([]);
    world.pulls.open(5, false, commitOf('a'));
    await leftBehind(key);
    world.uninstall();
    expect(await swept(3)).toEqual([previewName(key)]);
  });

  test('reads no deployment alone that has the name of a stored preview', async () => {
    const read: string[] = [];
    world = new PreviewWorld(setting, {
      ...previewCode,
      contextOf: (context) => {
        const { control } = context;
        const getDeployment: typeof control.getDeployment = (id, options) => {
          read.push(id);
          return control.getDeployment(id, options);
        };
        return {
          ...context,
          control: new Proxy(control, {
            get: (of, name) => (name === 'getDeployment' ? getDeployment : Reflect.get(of, name)),
          }),
        };
      },
    });
    world.pulls.open(5, false, commitOf('a'));
    world.deliverChange(5, [0]);
    await passed();
    read.length = 0;
    const [preview] = world.control.alive.slice(world.others.length);
    expect(await swept(2)).toEqual([preview?.name]);
    expect(read).not.toContain(preview?.id);
  });
});

describe('after a stray was removed', () => {
  beforeEach(async () => {
    world.pulls.open(5, false, commitOf('a'));
    close();
    await leftBehind(key);
    await swept();
  });

  test('a pull request that is opened again keeps its preview', async () => {
    reopen();
    world.deliverChange(5, [0]);
    expect(await passed()).toHaveLength(1);
    expect(await swept(8)).toHaveLength(1);
  });

  test('a pull request that is opened again keeps what a workflow made', async () => {
    world.previewing.isOutOfFile = true;
    reopen();
    await leftBehind(key);
    expect(await swept(8)).toEqual([previewName(key)]);
  });

  test('another stray is removed, and both are forgotten', async () => {
    await leftBehind({ ...key, entry: 'support' });
    expect(await swept(10)).toEqual([]);
    expect(world.previewing.store.all).toEqual([]);
  });
});

describe('the removal of a stray', () => {
  beforeEach(async () => {
    world.pulls.open(5, false, commitOf('a'));
    close();
    await leftBehind(key);
    await world.previewing.store.notify(repository, 5);
  });

  test('spares what is left of a pull request that was opened again since', async () => {
    world.previewing.isOutOfFile = true;
    reopen();
    await world.previewing.store.want([removalOfStray(commitOf('a'))], []);
    expect(await passed()).toEqual([previewName(key)]);
  });

  test('spares what is left where the App does not reach the repository any more', async () => {
    world.uninstall();
    await world.previewing.store.want([removalOfStray(commitOf('a'))], []);
    expect(await passed()).toEqual([previewName(key)]);
  });

  test('is left to the next sweep where GitHub does not respond', async () => {
    await passed();
    world.faults.lay({ party: 'githubApi', operation: 'pullRequest', nth: 1, kind: 'refused' });
    await world.previewing.store.want([removalOfStray(commitOf('a'))], []);
    expect(await passed()).toEqual([previewName(key)]);
    expect([...world.jobs.failures.keys()]).toEqual([]);
    expect(await swept()).toEqual([]);
  });
});
