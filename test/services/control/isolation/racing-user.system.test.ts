import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, chownSync, copyFileSync, existsSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { cleanUp } from '../../../../src/services/control/builds/build-folder.ts';
import { listBuildFiles } from '../../../../src/services/control/builds/build-files.ts';
import { removeTree } from '../../../../src/services/control/builds/remove-tree.ts';
import { systemClock } from '../../../../src/kit/clock.ts';
import { killProcessesOf } from '../../../../src/services/control/compute/process-family.ts';
import { sharedFolders, removeShared } from '../../../../src/services/control/retention/retention.ts';
import { temporaryFolder, write } from '../builds/repositories.ts';

const atTheEnd: (() => void)[] = [];
afterEach(() => {
  for (const end of atTheEnd.splice(0).reverse()) end();
});

/** Only root can use a separate user; a single user has nothing to race for. */
const isRoot = process.geteuid?.() === 0;
const byRoot = isRoot ? ['a service that is root'] : [];
const number = randomInt(1_700_000_000, 1_800_000_000);
const times = Number(process.env['LANDFALL_FUZZ'] ?? 20);

/** A folder of the service, and a process that keeps changing its user's folders. */
function place() {
  const root = temporaryFolder(atTheEnd);
  chmodSync(root, 0o711);
  const outside = join(root, 'outside');
  write(outside, { 'secret.json': 'canary', 'node_modules/kept/index.js': 'canary', 'kept/0/file': 'canary' });
  const state = (): string[] =>
    ['', ...readdirSync(outside, { recursive: true, encoding: 'utf8' })].toSorted().map((path) => {
      const { uid, mode, size, mtimeMs } = lstatSync(join(outside, path));
      return [path, uid, mode, size, mtimeMs].join(' ');
    });
  const racer = join(root, 'racer.mjs');
  copyFileSync(join(import.meta.dirname, 'racing-user.mjs'), racer);

  /** Creates folders of the user, and resolves once they change. */
  async function race(...folders: string[]): Promise<void> {
    for (const folder of folders) {
      mkdirSync(folder, { recursive: true, mode: 0o711 });
      chownSync(folder, number, number);
    }
    const child = spawn(process.execPath, [racer, outside, ...folders], {
      cwd: '/',
      stdio: ['ignore', 'pipe', 'ignore'],
      uid: number,
      gid: number,
    });
    atTheEnd.push(() => void child.kill('SIGKILL'));
    await once(child.stdout, 'data');
  }
  return { root, outside, state, race };
}

test.each(byRoot)('%s never follows symlinks that a user swaps in during a removal', async () => {
  const { root, state, race } = place();
  const before = state();
  const downloads = Array.from({ length: times }, (_, each) => join(root, `npm-cache/t-${each}`));
  await race(...downloads);
  const reports: string[] = [];
  const kept = await sharedFolders('downloads', root, (message) => reports.push(message));
  expect(kept.map(({ path }) => path).toSorted()).toEqual(downloads.toSorted());
  for (const folder of kept) await removeShared(folder, (message) => reports.push(message));
  expect(state()).toEqual(before);
  expect([readdirSync(join(root, 'npm-cache')), reports]).toEqual([[], []]);
});

test.each(byRoot)('a build that its user keeps changing is listed and removed by %s', async () => {
  const { root, state, race } = place();
  const before = state();
  const builds = Array.from({ length: times }, (_, each) => join(root, `builds/r-${each}`));
  await race(...builds.flatMap((build) => [join(build, 'source'), join(build, 'home'), join(build, 'tmp')]));
  const reports: string[] = [];
  for (const build of builds) {
    await listBuildFiles({ root: build, source: join(build, 'source') });
    await cleanUp(build, (message) => reports.push(message));
  }
  expect(state()).toEqual(before);
  expect([readdirSync(join(root, 'builds')), reports]).toEqual([[], []]);
});

test.each(byRoot)('%s ends processes that fork and exit at once', async () => {
  const mark = join(temporaryFolder(atTheEnd), 'mark');
  write(dirname(mark), { mark: '' });
  chownSync(mark, number, number);
  chmodSync(dirname(mark), 0o711);
  // Stops after 20,000 processes.
  const chain = 'f() { echo x >> "$1"; [ "$2" = 20000 ] || f "$1" $(($2 + 1)) & exit; }; f "$0" 0';
  spawn('/bin/sh', ['-c', chain, mark], { cwd: '/', stdio: 'ignore', uid: number, gid: number });
  const length = (): number => lstatSync(mark).size;
  await expect.poll(length).toBeGreaterThan(20);
  await killProcessesOf(new Set([number]), systemClock);
  const after = length();
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(length()).toBe(after);
});

test('removes invalid UTF-8 names and folders deeper than the maximum path', async () => {
  const root = temporaryFolder(atTheEnd);
  const tree = join(root, 'tree');
  mkdirSync(tree);
  const script = `cd "$1"; mkdir "$(printf 'a\\377b')" && : > "$(printf 'a\\377b/\\376')"
i=0; while [ $i -lt 300 ]; do mkdir ddddddddddddddddddddddddddddddddddddd; cd -P ddddddddddddddddddddddddddddddddddddd; i=$((i+1)); done; : > f`;
  const made = spawn('/bin/bash', ['-c', script, 'sh', tree], { stdio: 'ignore' });
  await once(made, 'close');
  await removeTree(tree);
  expect([existsSync(tree), existsSync(dirname(tree))]).toEqual([false, true]);
});
