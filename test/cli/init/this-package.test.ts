import { mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { commandHere } from '../../../src/cli/init/this-package.ts';
import { folderOf } from '../run-cli.ts';

const manifest = (owner: string) =>
  JSON.stringify({ version: '1.0.0', repository: { url: `git+https://github.com/${owner}/landfall.git` } });

let folder = folderOf({});
let [home, root, work] = ['', '', ''];
beforeEach(() => {
  folder = folderOf({
    'own place/package.json': manifest('OWNER'),
    'published/package.json': manifest('acme'),
    'work/agents/langgraph.json': '{}',
  });
  home = realpathSync(folder.path);
  root = join(home, 'own place');
  work = join(home, 'work/agents');
});
afterEach(() => folder.remove());

const install = (name: string) => {
  mkdirSync(join(home, 'work/node_modules'));
  symlinkSync(join(home, name), join(home, 'work/node_modules/landfall'));
};

test('a clone is started by its path', () => {
  expect(commandHere(root, work)).toBe(`node '${root}/bin/landfall.cjs'`);
});

test('a package that is installed in the folder or above is started by npx', () => {
  install('own place');
  expect(commandHere(root, work)).toBe('npx landfall');
  expect(commandHere(root, home)).toBe(`node '${root}/bin/landfall.cjs'`);
});

test('where another one is installed, a clone is started by its path', () => {
  install('published');
  expect(commandHere(root, work)).toBe(`node '${root}/bin/landfall.cjs'`);
});

test('a published package is started by npx everywhere', () => {
  expect(commandHere(join(home, 'published'), work)).toBe('npx landfall');
});
