import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { readEntry } from '../../../../src/services/control/builds/dependency-store.ts';
import { until } from '../compute/agents.ts';
import { workplace, type Requested, type Workplace } from './building.ts';
import { commit, plainAgent, writePrograms, type Files } from './repositories.ts';

const atTheEnd: (() => void)[] = [];
afterEach(() => {
  for (const end of atTheEnd.splice(0).reverse()) end();
});

/**
 * A package manager that installs one package with a program, and records each install. The manifest's `agent`
 * selects what it does: nothing, fail, wait for a file, or hard-link the package's file.
 */
const manager = (root: string): string => `#!/bin/sh
if [ "$1" = --version ]; then echo 1.2.3; exit 0; fi
echo installed >> ${root}/installs
if grep -q wait package.json; then while [ ! -e ${root}/go ]; do sleep 0.02; done; fi
mkdir -p node_modules/dep node_modules/.bin
echo "export const dep = 1;" > node_modules/dep/index.js
chmod 4777 node_modules/dep/index.js
ln -s ../dep/index.js node_modules/.bin/dep
ln -s "$PWD/node_modules/dep" node_modules/same
if grep -q twice package.json; then ln node_modules/dep/index.js "$HOME/second-name"; fi
if grep -q fail package.json; then echo "Error: no such package" >&2; exit 1; fi
`;

interface Place extends Workplace {
  installs: () => number;
  entries: () => string[];
  install: (revisionId: string, requested?: Requested['request']) => Promise<string>;
}

function place(files: Files = {}): Place {
  const agent = { ...plainAgent, 'package.json': '{"name":"agent"}', 'pnpm-lock.yaml': 'lockfileVersion: 9\n' };
  const here = workplace({ ...agent, ...files }, atTheEnd);
  const programs = writePrograms(join(here.root, 'bin'), { pnpm: manager(here.root) });
  const env = { PATH: `${programs}:${process.env.PATH}` };
  const noted = join(here.root, 'installs');
  const store = join(here.dataDir, 'store');
  return {
    ...here,
    installs: () => (existsSync(noted) ? readFileSync(noted, 'utf8').split('installed\n').length - 1 : 0),
    entries: () => (existsSync(store) ? readdirSync(store).flatMap((tenant) => readdirSync(join(store, tenant))) : []),
    async install(revisionId, request = {}) {
      const { folder } = await here.build({ request: { revisionId, ...request }, settings: { env } });
      return join(folder, 'source/node_modules');
    },
  };
}

test('a second build of a lock file installs nothing and has the same packages', async () => {
  const here = place();
  await here.install('r-1');
  commit(here.repo, { 'graph.js': 'export const graph = { changed: true };\n' });
  const packages = await here.install('r-2');
  expect(here.installs()).toBe(1);
  expect(readFileSync(join(packages, '.bin/dep'), 'utf8')).toBe('export const dep = 1;\n');
  expect(here.lines).toContain('An earlier build installed these packages: reusing them.');
});

test.each<[string, Files]>([
  ['lock file', { 'pnpm-lock.yaml': 'lockfileVersion: 9\nmore: true\n' }],
  ['manifest', { 'package.json': '{"name":"agent","version":"2.0.0"}' }],
])('another %s is installed again', async (_, files) => {
  const here = place();
  await here.install('r-1');
  commit(here.repo, files);
  await here.install('r-2');
  expect(here.installs()).toBe(2);
  expect(here.entries()).toHaveLength(2);
});

test('another tenant installs for itself and shares neither entry nor download', async () => {
  const here = place();
  await here.install('r-1');
  await here.install('r-2', { tenantId: 't-2' });
  expect(here.installs()).toBe(2);
  expect(readdirSync(join(here.dataDir, 'store')).toSorted()).toEqual(['t-1', 't-2']);
  expect(readdirSync(join(here.dataDir, 'npm-cache')).toSorted()).toEqual(['t-1', 't-2']);
});

test("a build can't change the packages of another build", async () => {
  const here = place({ 'twice.txt': '', 'package.json': '{"name":"twice"}' });
  const mine = await here.install('r-1');
  const secondName = join(here.dataDir, 'builds/r-1/home/second-name');
  writeFileSync(join(mine, 'dep/index.js'), 'spoiled');
  writeFileSync(secondName, 'spoiled');
  const theirs = await here.install('r-2');
  expect(here.installs()).toBe(1);
  expect(readFileSync(join(theirs, 'dep/index.js'), 'utf8')).toBe('export const dep = 1;\n');
  expect(readFileSync(join(theirs, 'same/index.js'), 'utf8')).toBe('export const dep = 1;\n');
});

test('an entry is writable by its owner only and has no setuid bits', async () => {
  const here = place();
  const packages = await here.install('r-1');
  expect(statSync(join(packages, 'dep/index.js')).mode & 0o7777).toBe(0o755);
  expect(statSync(join(here.dataDir, 'store/t-1')).mode & 0o777).toBe(0o700);
});

test('does not store a failed install', async () => {
  const here = place({ 'package.json': '{"name":"fail"}' });
  await expect(here.install('r-1')).rejects.toThrow(
    'pnpm install --frozen-lockfile failed: exit code 1. It said: Error: no such package',
  );
  expect(here.entries()).toEqual([]);
  await expect(here.install('r-1')).rejects.toThrow('exit code 1');
  expect(here.installs()).toBe(2);
});

test('concurrent builds of one lock file wait for a single install', async () => {
  const here = place({ 'package.json': '{"name":"wait"}' });
  const builds = ['r-1', 'r-2', 'r-3'].map((revisionId) => here.install(revisionId));
  await until(() => here.installs() > 0);
  writeFileSync(join(here.root, 'go'), '');
  const packages = await Promise.all(builds);
  expect(here.installs()).toBe(1);
  expect(packages.map((folder) => existsSync(join(folder, 'dep/index.js')))).toEqual([true, true, true]);
});

test('a waiting build installs when the installing one is interrupted', async () => {
  const here = place({ 'package.json': '{"name":"wait"}' });
  const env = { PATH: `${join(here.root, 'bin')}:${process.env.PATH}` };
  const stopping = new AbortController();
  const first = here.tryBuild({ settings: { env }, signal: stopping.signal });
  await until(() => here.installs() === 1);
  const second = here.install('r-2');
  stopping.abort();
  expect(await first).toEqual({ kind: 'interrupted' });
  writeFileSync(join(here.root, 'go'), '');
  expect(existsSync(join(await second, 'dep/index.js'))).toBe(true);
  expect(here.installs()).toBe(2);
});

test('replaces an incomplete entry', async () => {
  const here = place();
  await here.install('r-1');
  const folder = join(here.dataDir, 'store/t-1', here.entries()[0] ?? '');
  expect(readEntry(folder)).toEqual({ folders: ['node_modules'], files: 3, bytes: expect.any(Number) });
  rmSync(join(folder, 'entry.json'));
  chmodSync(join(folder, 'node_modules'), 0o500);
  await here.install('r-2');
  expect(here.installs()).toBe(2);
});

test.each([
  ['pnpm install --frozen-lockfile', 1],
  ['pnpm i', 1],
  ['pnpm install && echo done', 2],
  ['pnpm install --dir=agent', 2],
])('%s causes %i installs for two builds', async (installCommand, times) => {
  const here = place();
  await here.install('r-1', { installCommand });
  await here.install('r-2', { installCommand });
  expect(here.installs()).toBe(times);
});

test('replaces packages in the repository by those of the lock file', async () => {
  const here = place({ 'node_modules/old/index.js': 'old', 'node_modules/dep/index.js': 'old' });
  await here.install('r-1');
  const packages = await here.install('r-2');
  expect(readdirSync(packages).toSorted()).toEqual(['.bin', 'dep', 'same']);
});

test('does not write through a node_modules that is a symlink', async () => {
  const here = place({ node_modules: '-> ../../../../outside' });
  await here.install('r-1');
  expect(existsSync(join(here.root, 'outside'))).toBe(false);
  expect(existsSync(join(here.dataDir, 'outside'))).toBe(false);
});
