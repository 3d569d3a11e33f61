import { chmodSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { cleanUp } from '../../../../src/services/control/builds/build-folder.ts';
import { asOrdinaryUser } from '../../../kit/postgres/ordinary-user.ts';
import { temporaryFolder, write } from './repositories.ts';

const atTheEnd: (() => void)[] = [];
afterEach(() => {
  for (const end of atTheEnd.splice(0).reverse()) end();
});

function closedBuild(): { root: string; build: string; output: string[]; clear: () => Promise<void> } {
  const root = temporaryFolder(atTheEnd);
  const build = join(root, 'build');
  write(root, { 'build/cache/module/file': 'x', 'build/link': '-> ..' });
  for (const folder of ['cache/module', 'cache']) chmodSync(join(build, folder), 0o555);
  const output: string[] = [];
  const clear = () => {
    const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory());
    const folders = [root, ...entries.map((entry) => join(entry.parentPath, entry.name))];
    return asOrdinaryUser(folders, () => cleanUp(build, (message) => output.push(message)));
  };
  return { root, build, output, clear };
}

test('removes a build that closed its own folders', async () => {
  const { root, build, output, clear } = closedBuild();
  await clear();
  expect([existsSync(build), readdirSync(root), output]).toEqual([false, [], []]);
});

test('removes a closed folder among many others each time', async () => {
  for (let times = 0; times < 10; times += 1) {
    const { root, build, output, clear } = closedBuild();
    for (let n = 0; n < 40; n += 1) write(root, { [`build/objects/${n}/a`]: 'x', [`build/objects/${n}/b/c`]: 'x' });
    await clear();
    expect([existsSync(build), output]).toEqual([false, []]);
  }
});

test("reports a build that can't be removed, and keeps it", async () => {
  const { root, build, output, clear } = closedBuild();
  chmodSync(root, 0o555);
  await clear();
  chmodSync(root, 0o755);
  expect([existsSync(build), output]).toEqual([
    true,
    [expect.stringContaining(`${build} could not be removed: EACCES`)],
  ]);
});

test('removing a missing build is no error', async () => {
  const output: string[] = [];
  await cleanUp(join(temporaryFolder(atTheEnd), 'none'), (message) => output.push(message));
  expect(output).toEqual([]);
});
