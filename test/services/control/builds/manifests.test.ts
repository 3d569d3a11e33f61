import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { collectInstallInputs } from '../../../../src/services/control/builds/manifests.ts';
import type { PackageManager } from '../../../../src/agent-folder/packages/lock-files.ts';
import { storeKey, type StoreKeyInputs } from '../../../../src/services/control/builds/stored-install.ts';
import { temporaryFolder, write, type Files } from './repositories.ts';

const atTheEnd: (() => void)[] = [];
afterEach(() => {
  for (const end of atTheEnd.splice(0).reverse()) end();
});

const packageOf = (fields: object): string => JSON.stringify({ name: 'agent', ...fields });
const collect = (files: Files, manager: PackageManager = 'npm') => {
  const folder = temporaryFolder(atTheEnd);
  write(folder, { 'package-lock.json': '{}', 'package.json': packageOf({}), ...files });
  return collectInstallInputs(join(folder), manager);
};
const pathsOf = async (collected: ReturnType<typeof collectInstallInputs>): Promise<string[]> => {
  const found = await collected;
  return found.kind === 'whole' ? found.files.map(({ path }) => path).toSorted() : [found.reason];
};

test('a single package counts its lock file, manifest and settings, but no source', async () => {
  const files = { '.npmrc': 'x=y', 'graph.js': 'x', 'src/package.json': '{}', 'node_modules/a/package.json': '{}' };
  expect(await pathsOf(collect(files))).toEqual(['.npmrc', 'package-lock.json', 'package.json']);
});

test('a workspace counts the manifests below it too', async () => {
  const files = {
    'package.json': packageOf({ workspaces: ['packages/*'] }),
    'packages/a/package.json': packageOf({ dependencies: { b: 'workspace:*', c: 'npm:c@^1' } }),
    'packages/a/index.js': 'x',
    'packages/a/node_modules/x/package.json': '{}',
  };
  expect(await pathsOf(collect(files))).toEqual(['package-lock.json', 'package.json', 'packages/a/package.json']);
});

test("counts Yarn's own program, plugins and patches", async () => {
  const files = {
    'yarn.lock': '__metadata:\n',
    '.yarnrc.yml': 'nodeLinker: node-modules\n',
    '.yarn/releases/yarn.cjs': 'x',
    '.yarn/cache/a.zip': 'x',
  };
  expect(await pathsOf(collect(files, 'yarn'))).toContain('.yarn/releases/yarn.cjs');
  expect(await pathsOf(collect(files, 'yarn'))).not.toContain('.yarn/cache/a.zip');
});

test.each<[string, Files, string]>([
  ['a script of its own', { 'package.json': packageOf({ scripts: { postinstall: 'x' } }) }, 'the script "postinstall"'],
  ['a prepare script', { 'package.json': packageOf({ scripts: { prepare: 'husky' } }) }, 'the script "prepare"'],
  ['code to compile', { 'binding.gyp': '{}' }, 'binding.gyp is compiled'],
  ['a package of the repository', { 'package.json': packageOf({ dependencies: { a: 'file:../a' } }) }, 'takes a from'],
  ['the same as a bare path', { 'package.json': packageOf({ devDependencies: { a: './a' } }) }, 'takes a from'],
  ['a link', { 'package.json': packageOf({ dependencies: { a: 'link:../a' } }) }, 'takes a from'],
  ['an override', { 'package.json': packageOf({ overrides: { b: { a: 'file:./a' } } }) }, 'takes b from'],
  ['a patch', { 'package.json': packageOf({ resolutions: { a: 'patch:a@npm:1#./a.patch' } }) }, 'takes a from'],
  ['patches', { 'package.json': packageOf({ pnpm: { patchedDependencies: { a: 'p' } } }) }, 'names patches'],
  ['a manifest that is a symlink', { 'package.json': '-> /etc/passwd' }, 'package.json is not a plain file'],
  [
    'a manifest with too many values',
    { 'package.json': `{"x":[${'1,'.repeat(10_001)}1]}` },
    "package.json can't be read",
  ],
  ['an invalid manifest', { 'package.json': '{' }, "package.json can't be read"],
  [
    "a workspace's programs",
    { 'package.json': packageOf({ workspaces: ['a'] }), 'a/package.json': packageOf({ bin: 'a.js' }) },
    'a/package.json has programs',
  ],
  [
    "a workspace's script",
    { 'package.json': packageOf({ workspaces: ['a'] }), 'a/package.json': packageOf({ scripts: { install: 'x' } }) },
    'the script "install" of a/package.json',
  ],
])('does not cache an install with %s', async (_, files, why) => {
  expect(await pathsOf(collect(files))).toEqual([expect.stringContaining(why)]);
});

test("does not cache Yarn's Plug'n'Play", async () => {
  expect(await pathsOf(collect({ 'yarn.lock': '__metadata:\n' }, 'yarn'))).toEqual([
    expect.stringContaining('nodeLinker'),
  ]);
});

test.each(['^1.0.0', 'npm:other@^2', 'https://packages.example/a.tgz', 'git+https://git.example/a.git#v1', 'owner/a'])(
  'a dependency on %s is not part of the repository',
  async (requested) => {
    expect((await collect({ 'package.json': packageOf({ dependencies: { a: requested } }) })).kind).toBe('whole');
  },
);

const facts: StoreKeyInputs = {
  command: ['npm', 'ci'],
  managerVersion: '11.0.0',
  nodeVersion: 'v24.0.0',
  platform: 'linux-x64-libc',
  registry: {},
  uid: undefined,
  files: [
    { path: 'package.json', bytes: Buffer.from('{}') },
    { path: 'package-lock.json', bytes: Buffer.from('{}') },
  ],
};

test('the order in which files are found does not change the key', () => {
  expect(storeKey({ ...facts, files: facts.files.toReversed() })).toBe(storeKey(facts));
});

test.each<[string, Partial<StoreKeyInputs>]>([
  ['the lock file', { files: [...facts.files.slice(0, 1), { path: 'package-lock.json', bytes: Buffer.from('{ }') }] }],
  ['the name of a file', { files: [...facts.files.slice(0, 1), { path: 'yarn.lock', bytes: Buffer.from('{}') }] }],
  ['an additional file', { files: [...facts.files, { path: '.npmrc', bytes: Buffer.from('') }] }],
  ['the command', { command: ['npm', 'ci', '--omit=dev'] }],
  ['the version of the package manager', { managerVersion: '11.0.1' }],
  ['the version of Node.js', { nodeVersion: 'v24.0.1' }],
  ['the platform', { platform: 'linux-arm64-libc' }],
  ['the registry', { registry: { npm_config_registry: 'https://packages.example/' } }],
  ['the user that installs', { uid: 20_000 }],
])('the key depends on %s', (_, change) => {
  expect(storeKey({ ...facts, ...change })).not.toBe(storeKey(facts));
});
