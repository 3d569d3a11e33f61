import { expect, test } from 'vitest';
import { planInstall, type ProjectFolder } from '../../../src/agent-folder/packages/install-plan.ts';

const folder = (path: string, files: string[], more: Partial<ProjectFolder> = {}): ProjectFolder => ({
  path,
  entries: new Set(files),
  ...more,
});
const npm = ['package.json', 'package-lock.json'];

const by = (manager: string, args: string[], where = ''): object => ({ kind: 'manager', manager, args, folder: where });

test.each<[string, string | undefined, ProjectFolder[], object]>([
  [
    'an install command wins over lock files',
    'make deps',
    [folder('', npm)],
    { kind: 'command', command: 'make deps' },
  ],
  ['npm by package-lock.json', undefined, [folder('', npm)], by('npm', ['ci'])],
  ['npm by npm-shrinkwrap.json', undefined, [folder('', ['npm-shrinkwrap.json'])], by('npm', ['ci'])],
  ['pnpm', undefined, [folder('', ['pnpm-lock.yaml'])], by('pnpm', ['install', '--frozen-lockfile'])],
  ['yarn', undefined, [folder('', ['yarn.lock'])], by('yarn', ['install', '--frozen-lockfile'])],
  [
    'a newer yarn',
    undefined,
    [folder('', ['yarn.lock'], { hasModernYarnLock: true })],
    by('yarn', ['install', '--immutable']),
  ],
  ['bun', undefined, [folder('', ['bun.lock'])], by('bun', ['install', '--frozen-lockfile'])],
  ['bun by its binary lock file', undefined, [folder('', ['bun.lockb'])], by('bun', ['install', '--frozen-lockfile'])],
  [
    'installs a workspace where its lock file is',
    undefined,
    [folder('apps/agent', ['package.json']), folder('apps', []), folder('', npm)],
    by('npm', ['ci']),
  ],
  [
    'installs a package with a lock file of its own by itself',
    undefined,
    [folder('examples/echo', npm), folder('examples', []), folder('', npm)],
    by('npm', ['ci'], 'examples/echo'),
  ],
  [
    'the named package manager decides between several lock files',
    undefined,
    [folder('', [...npm, 'pnpm-lock.yaml'], { packageManager: 'pnpm@10.1.0' })],
    {
      ...by('pnpm', ['install', '--frozen-lockfile']),
      reason: 'pnpm-lock.yaml selects pnpm; package-lock.json beside it is not used',
    },
  ],
  [
    'the first of the table decides between several lock files without a name',
    undefined,
    [folder('', ['yarn.lock', 'package-lock.json'])],
    { ...by('npm', ['ci']), reason: 'package-lock.json selects npm; yarn.lock beside it is not used' },
  ],
  [
    'npm prefers npm-shrinkwrap.json, as it does itself',
    undefined,
    [folder('', [...npm, 'npm-shrinkwrap.json'])],
    {
      ...by('npm', ['ci']),
      reason: 'npm-shrinkwrap.json selects npm; package-lock.json beside it is not used',
    },
  ],
  [
    'the settings of a newer yarn without a lock file',
    undefined,
    [folder('', ['package.json', '.yarnrc.yml'])],
    by('yarn', ['install', '--no-immutable']),
  ],
  [
    'the package manager that a folder above names',
    undefined,
    [folder('apps/a', ['package.json']), folder('', ['package.json'], { packageManager: 'pnpm@9.0.0' })],
    by('pnpm', ['install', '--no-frozen-lockfile'], 'apps/a'),
  ],
  ['nothing to install', undefined, [folder('agent', []), folder('', ['README.md'])], { kind: 'nothing' }],
  [
    'installs a package without a lock file with npm',
    undefined,
    [folder('agent', ['package.json']), folder('', [])],
    { ...by('npm', ['install'], 'agent'), reason: 'agent/package.json has no lock file beside or above it' },
  ],
  [
    'installs workspaces without a lock file from their root, with the named manager',
    undefined,
    [
      folder('apps/agent', ['package.json']),
      folder('apps', []),
      folder('', ['package.json'], { hasWorkspaces: true, packageManager: 'pnpm@9.15.0' }),
    ],
    { ...by('pnpm', ['install', '--no-frozen-lockfile']), lockFile: undefined },
  ],
  [
    'lets a newer yarn make a lock file',
    undefined,
    [folder('', ['package.json'], { packageManager: 'yarn@4.1.0' })],
    by('yarn', ['install', '--no-immutable']),
  ],
])('%s', (_, command, folders, plan) => {
  expect(planInstall(command, folders)).toMatchObject(plan);
});
