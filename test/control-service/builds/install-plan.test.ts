import { expect, test } from 'vitest';
import { planInstall, type SeenFolder } from '../../../src/control-service/builds/install-plan.ts';

const folder = (path: string, files: string[], more: Partial<SeenFolder> = {}): SeenFolder => ({
  path,
  files: new Set(files),
  ...more,
});
const npm = ['package.json', 'package-lock.json'];

const by = (manager: string, args: string[], where = ''): object => ({ kind: 'manager', manager, args, folder: where });

test.each<[string, string | undefined, SeenFolder[], object]>([
  ['a command wins over lock files', 'make deps', [folder('', npm)], { kind: 'command', command: 'make deps' }],
  ['npm by its lock file', undefined, [folder('', npm)], by('npm', ['ci'])],
  ['npm by its other one', undefined, [folder('', ['npm-shrinkwrap.json'])], by('npm', ['ci'])],
  ['pnpm', undefined, [folder('', ['pnpm-lock.yaml'])], by('pnpm', ['install', '--frozen-lockfile'])],
  ['yarn', undefined, [folder('', ['yarn.lock'])], by('yarn', ['install', '--frozen-lockfile'])],
  [
    'a newer yarn',
    undefined,
    [folder('', ['yarn.lock'], { modernYarn: true })],
    by('yarn', ['install', '--immutable']),
  ],
  ['bun', undefined, [folder('', ['bun.lock'])], by('bun', ['install', '--frozen-lockfile'])],
  ['bun as it was', undefined, [folder('', ['bun.lockb'])], by('bun', ['install', '--frozen-lockfile'])],
  [
    'a workspace is installed from where its lock file lies',
    undefined,
    [folder('apps/agent', ['package.json']), folder('apps', []), folder('', npm)],
    by('npm', ['ci']),
  ],
  [
    'a package with a lock file of its own is installed by itself',
    undefined,
    [folder('examples/echo', npm), folder('examples', []), folder('', npm)],
    by('npm', ['ci'], 'examples/echo'),
  ],
  [
    'of several lock files the package manager that is named decides',
    undefined,
    [folder('', [...npm, 'pnpm-lock.yaml'], { packageManager: 'pnpm@10.1.0' })],
    {
      ...by('pnpm', ['install', '--frozen-lockfile']),
      why: 'pnpm-lock.yaml selects pnpm; package-lock.json beside it is not used',
    },
  ],
  [
    'of several lock files without a name the first of the table',
    undefined,
    [folder('', ['yarn.lock', 'package-lock.json'])],
    { ...by('npm', ['ci']), why: 'package-lock.json selects npm; yarn.lock beside it is not used' },
  ],
  ['nothing to install', undefined, [folder('agent', []), folder('', ['README.md'])], { kind: 'nothing' }],
  [
    'a package without a lock file is refused, with what to commit',
    undefined,
    [folder('agent', ['package.json']), folder('', [])],
    {
      kind: 'refused',
      reason: expect.stringContaining('agent/package.json has no lock file beside or above it. Commit one'),
    },
  ],
])('%s', (_, command, folders, plan) => {
  expect(planInstall(command, folders)).toMatchObject(plan);
});
