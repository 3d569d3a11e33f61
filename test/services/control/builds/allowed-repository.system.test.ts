import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { workplace } from './building.ts';
import { git, plainAgent, repository, write } from './repositories.ts';

const atTheEnd: (() => void)[] = [];
afterEach(() => {
  for (const end of atTheEnd.splice(0).reverse()) end();
});

/** Makes a repository `outside`, and a path in the allowed folder that leads git there. */
type Lead = (led: string, outside: string) => void;

const ways: readonly [string, Lead][] = [
  ['a symlink named .git', (led, outside) => write(led, { '.git': `-> ${outside}/.git` })],
  ['a .git file that names another folder', (led, outside) => write(led, { '.git': `gitdir: ${outside}/.git\n` })],
  [
    'a name that ends with a newline',
    (led) => write(led, { '.git': `gitdir: ${led}/ok\n/../../../outside/.git\n`, 'ok\n/x': '', 'ok/x': '' }),
  ],
  [
    'a common folder outside',
    (led, outside) => write(led, { '.git/HEAD': 'ref: refs/heads/main', '.git/commondir': `${outside}/.git` }),
  ],
  [
    'linked objects and refs',
    (led, outside) =>
      write(led, {
        HEAD: 'ref: refs/heads/main',
        objects: `-> ${outside}/.git/objects`,
        refs: `-> ${outside}/.git/refs`,
      }),
  ],
  [
    'alternate objects',
    (led, outside) => {
      repository(led, plainAgent);
      write(led, { '.git/objects/info/alternates': `# mine\n${outside}/.git/objects\n` });
      git(led, 'update-ref', 'refs/heads/main', git(outside, 'rev-parse', 'HEAD'));
    },
  ],
  [
    'a quoted path to alternate objects',
    (led, outside) => {
      repository(led, plainAgent);
      write(led, { '.git/objects/info/alternates': `"${outside.replace('outside', '\\157utside')}/.git/objects"\n` });
      git(led, 'update-ref', 'refs/heads/main', git(outside, 'rev-parse', 'HEAD'));
    },
  ],
  [
    'a symlink that ends in .git',
    (led, outside) => write(join(led, '..'), { 'led.git': `-> ${outside}/.git`, 'led/x': '' }),
  ],
  [
    'loose objects in a differently named folder',
    (led, outside) => {
      repository(led, plainAgent);
      rmSync(join(led, '.git/objects'), { recursive: true });
      const head = git(outside, 'rev-parse', 'HEAD');
      for (const name of readdirSync(join(outside, '.git/objects'))) {
        for (const object of /^..$/.test(name) ? readdirSync(join(outside, '.git/objects', name)) : []) {
          write(led, { [`.git/mine/${name}/${object}`]: `-> ${outside}/.git/objects/${name}/${object}` });
        }
      }
      write(led, { '.git/objects': '-> mine', '.git/refs/heads/main': head });
    },
  ],
  [
    'alternate packs that are symlinks',
    (led, outside) => {
      repository(led, plainAgent);
      git(outside, 'repack', '-adq');
      const packs = readdirSync(join(outside, '.git/objects/pack'));
      write(
        join(led, '..'),
        Object.fromEntries(packs.map((name) => [`alt/pack/${name}`, `-> ${outside}/.git/objects/pack/${name}`])),
      );
      write(led, { '.git/objects/info/alternates': `${join(led, '../alt')}\n` });
      git(led, 'update-ref', 'refs/heads/main', git(outside, 'rev-parse', 'HEAD'));
    },
  ],
  [
    'a symlinked objects folder',
    (led, outside) => {
      repository(led, plainAgent);
      git(outside, 'repack', '-adq');
      rmSync(join(led, '.git/objects/pack'), { recursive: true, force: true });
      write(led, { '.git/objects/pack': `-> ${outside}/.git/objects/pack` });
      git(led, 'update-ref', 'refs/heads/main', git(outside, 'rev-parse', 'HEAD'));
    },
  ],
];

test.each(ways)("an allowed repository can't lead git outside through %s", async (_, lead) => {
  const here = workplace(plainAgent, atTheEnd);
  const outside = join(here.root, 'outside');
  repository(outside, { ...plainAgent, 'canary.txt': 'canary' });
  const led = join(here.allowed, 'led');
  lead(led, outside);
  const end = await here.tryBuild({ request: { repoUrl: led } });
  expect(end).toEqual({ kind: 'failed', reason: expect.stringContaining('leads out of the folders that') });
});

test('clones a working tree, a bare repository and alternates in an allowed folder', async () => {
  const here = workplace({ ...plainAgent, away: '-> /etc' }, atTheEnd);
  const bare = join(here.allowed, 'bare');
  const tree = join(here.allowed, 'tree');
  const borrows = join(here.allowed, 'borrows');
  git(here.allowed, 'clone', '--quiet', '--bare', here.repo, bare);
  git(here.repo, 'worktree', 'add', '--quiet', '--detach', tree);
  git(here.allowed, 'clone', '--quiet', '--shared', here.repo, borrows);
  for (const repoUrl of [here.repo, bare, tree, borrows]) {
    const { commit } = await here.build({ request: { repoUrl, repoRef: repoUrl === tree ? undefined : 'main' } });
    expect(commit).toBe(here.head);
  }
});
