import { linkSync, mkdirSync, readFileSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../../src/kit/clock.ts';
import { copyBuild, type CopyEnd } from '../../../../src/services/control/builds/copy-build.ts';
import { listBuildFiles } from '../../../../src/services/control/builds/build-files.ts';
import {
  buildFolder,
  recordBuild,
  recreateBuildFolder,
  type BuildFolder,
} from '../../../../src/services/control/builds/build-folder.ts';
import type { Build } from '../../../../src/services/control/builds/build.ts';
import { temporaryFolder } from './repositories.ts';

const toRemove: (() => void)[] = [];
afterEach(() => toRemove.splice(0).forEach((remove) => remove()));

/** A complete build named `one`. */
async function original(more: (folder: BuildFolder) => void = () => undefined, record: Partial<Build> = {}) {
  const dataDir = temporaryFolder(toRemove);
  const folder = await recreateBuildFolder(dataDir, 'one');
  for (const path of ['langgraph.json', 'lib/index.js']) {
    const file = join(folder.source, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, path);
    // As package managers date what they unpack.
    utimesSync(file, 500_000_000, 500_000_000);
  }
  more(folder);
  await listBuildFiles(folder);
  const from = { kind: 'commit', commit: 'a'.repeat(40) } as const;
  const graphConfigFile = join(folder.source, 'langgraph.json');
  recordBuild({ folder: folder.root, graphConfigFile, from, usesHome: false, ...record });
  return { dataDir, folder };
}

const copy = (dataDir: string, freeBytes = 1e12): Promise<CopyEnd> =>
  copyBuild(
    { revisionId: 'two', from: 'one', user: undefined, log: () => undefined },
    { dataDir, allowGit: [], clock: systemClock, freeSpace: async () => freeBytes },
    new AbortController().signal,
  );

describe('the copy of a build', () => {
  test('has its files and its links, and the same digest wherever it is copied', async () => {
    const { dataDir } = await original(({ source }) => symlinkSync('../langgraph.json', join(source, 'lib/link')));
    const copied = await copy(dataDir);
    expect(copied).toMatchObject({ kind: 'copied', digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) });
    expect(readFileSync(join(buildFolder(dataDir, 'two').source, 'lib/link'), 'utf8')).toBe('langgraph.json');
    expect(await copy(dataDir)).toMatchObject({ digest: copied.kind === 'copied' ? copied.digest : '' });
  });

  test.each<[string, (folder: BuildFolder) => void, Partial<Build>, string]>([
    ['packages of Python', () => undefined, { python: { shared: undefined } }, 'it has packages of Python'],
    ['files in its home', () => undefined, { usesHome: true }, 'files in its home folder'],
    ['a home that nobody looked at', () => undefined, { usesHome: undefined }, 'files in its home folder'],
    [
      'a link to its home',
      ({ source }) => symlinkSync('../home/model', join(source, 'model')),
      {},
      '"model" has changed since the build, or leads out of its folder',
    ],
    [
      'a link to itself by its address',
      ({ source }) => symlinkSync(join(source, 'lib'), join(source, 'link')),
      {},
      '"link" has changed since the build, or leads out of its folder',
    ],
  ])('is not made of a build with %s', async (_, more, record, why) => {
    const { dataDir } = await original(more, record);
    expect(await copy(dataDir)).toEqual({ kind: 'not-copyable', why: expect.stringContaining(why) });
  });

  test('is not made of a file that got another name since, which its owner may write to', async () => {
    const { dataDir, folder } = await original();
    await new Promise((resolve) => setTimeout(resolve, 30));
    linkSync(join(folder.source, 'lib/index.js'), join(dataDir, 'another-name'));
    expect(await copy(dataDir)).toMatchObject({ kind: 'not-copyable' });
  });

  test('is refused before it fills the disk, also by holes in files', async () => {
    const { dataDir } = await original(({ source }) => {
      writeFileSync(join(source, 'holes'), '');
      truncateSync(join(source, 'holes'), 20e9);
    });
    expect(await copy(dataDir, 15e9)).toMatchObject({ kind: 'failed', reason: expect.stringContaining('MB are left') });
  });
});
