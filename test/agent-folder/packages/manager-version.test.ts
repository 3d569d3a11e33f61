import { expect, test } from 'vitest';
import type { PackageManager } from '../../../src/agent-folder/packages/lock-files.ts';
import { declaredVersion, npmPackageOf, pinnedVersion } from '../../../src/agent-folder/packages/manager-version.ts';

test.each<[string | undefined, PackageManager, object | undefined]>([
  ['yarn@1.22.22', 'yarn', { manager: 'yarn', version: '1.22.22' }],
  [
    'pnpm@10.5.1+sha512.c424',
    'pnpm',
    { manager: 'pnpm', version: '10.5.1', hash: { algorithm: 'sha512', hex: 'c424' } },
  ],
  ['bun@1.1.0', 'bun', { manager: 'bun', version: '1.1.0' }],
  ['yarn@4.0.0-rc.1', 'yarn', { manager: 'yarn', version: '4.0.0-rc.1' }],
  ['yarn@3', 'yarn', undefined],
  ['yarn@^4.1.0', 'yarn', undefined],
  ['pnpm@10.5.1', 'yarn', undefined],
  ['pnpm@https://example.com/pnpm.tgz', 'pnpm', undefined],
  ['pnpm@../../x', 'pnpm', undefined],
  [undefined, 'npm', undefined],
])('reads packageManager %s for %s', (packageManager, manager, version) => {
  expect(declaredVersion(manager, packageManager)).toEqual(version);
});

test.each<[string, PackageManager, string | undefined, string | undefined, string]>([
  ['a classic lock file', 'yarn', '# yarn lockfile v1', undefined, '1.22.22'],
  ['a lock file of yarn 3', 'yarn', '__metadata:\n  version: 6', undefined, '3.8.7'],
  ['a lock file of yarn 4', 'yarn', '__metadata:\n  version: 8', undefined, '4.18.1'],
  ['no lock file', 'yarn', undefined, undefined, '1.22.22'],
  ['no lock file, but a range', 'yarn', undefined, 'yarn@3', '3.8.7'],
  ['no lock file, but a tag', 'yarn', undefined, 'yarn@stable', '4.18.1'],
  ['a lock file of pnpm 7', 'pnpm', 'lockfileVersion: 5.4\n', undefined, '7.33.7'],
  ['a lock file of pnpm 8', 'pnpm', "lockfileVersion: '6.0'\n", undefined, '8.15.9'],
  ['a lock file of pnpm 9', 'pnpm', "lockfileVersion: '9.0'\n", undefined, '10.34.9'],
  ['a binary lock file', 'bun', '#!/usr/bin/env bun\nbun-lockfile-format-v0', undefined, '1.4.5'],
])('pins a version that reads %s (%s)', (_, manager, lockHead, packageManager, version) => {
  expect(pinnedVersion(manager, { lockHead, packageManager }).version).toBe(version);
});

test.each<[PackageManager, string, string]>([
  ['yarn', '1.22.22', 'yarn@1.22.22'],
  ['yarn', '3.6.1', '@yarnpkg/cli-dist@3.6.1'],
  ['pnpm', '9.0.0', 'pnpm@9.0.0'],
  ['bun', '1.4.5', '@oven/bun-linux-x64@1.4.5'],
])('takes %s %s from the package %s', (manager, version, name) => {
  expect(npmPackageOf({ manager, version }, 'linux-x64')).toBe(name);
});
