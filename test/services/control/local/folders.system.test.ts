import { loggerTo } from '../../../logger.ts';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../../../src/kit/clock.ts';
import { allowedFolders, takeDataFolder } from '../../../../src/services/control/folders.ts';
import { startLocal } from '../../../../src/services/control/local.ts';
import { startTestPostgres } from '../../../kit/postgres/postgres.ts';
import { temporaryFolder } from '../builds/repositories.ts';

const atTheEnd: (() => void)[] = [];
afterEach(() => {
  for (const end of atTheEnd.splice(0).reverse()) end();
});

const quiet = (): void => undefined;

test('a data folder belongs to one service, even if a second has its own database', async () => {
  const dataDir = join(temporaryFolder(atTheEnd), 'data');
  const [one, two] = [await startTestPostgres(), await startTestPostgres()];
  const start = (databaseUrl: string) =>
    startLocal({ port: 0, dataDir, databaseUrl, allowGit: [], clock: systemClock, log: loggerTo(quiet) });
  const first = await start(one.url);
  await expect(start(two.url)).rejects.toThrow(`The data folder ${dataDir} is in use by process ${process.pid}.`);
  await first.close();
  const second = await start(two.url);
  await second.close();
  await Promise.all([one.stop(), two.stop()]);
});

test.each(['a new data folder', 'an empty data folder'])(
  'a port in use is reported before %s is filled',
  async (which) => {
    const dataDir = join(temporaryFolder(atTheEnd), 'data');
    if (which === 'an empty data folder') mkdirSync(dataDir);
    const taken = createServer().listen(0, '127.0.0.1');
    atTheEnd.push(() => taken.close());
    await once(taken, 'listening');
    const { port } = Object(taken.address());
    const start = startLocal({ port, dataDir, allowGit: [], clock: systemClock, log: loggerTo(quiet) });
    await expect(start).rejects.toThrow(`Port ${port} is taken. Choose another one with --port`);
    // By then the service knows that no other service uses an existing folder.
    expect(existsSync(dataDir) ? readdirSync(dataDir) : []).toEqual(which === 'a new data folder' ? [] : ['lock.1']);
    expect(existsSync(dataDir)).toBe(which === 'an empty data folder');
  },
);

test.each([
  ['is a file', ''],
  ['would be below a file', 'data'],
])('a data folder that %s is reported with advice', async (_, below) => {
  const file = join(temporaryFolder(atTheEnd), 'file');
  writeFileSync(file, '');
  const dataDir = join(file, below);
  await expect(takeDataFolder(dataDir, systemClock, loggerTo(quiet))).rejects.toThrow(
    new RegExp(`^The data folder ${dataDir} can't be made or written to \\(.*Choose another one with --data`),
  );
});

test('an allowed folder is accepted as written and as resolved', () => {
  const root = temporaryFolder(atTheEnd);
  mkdirSync(join(root, 'real'));
  symlinkSync('real', join(root, 'link'));
  expect(allowedFolders([join(root, 'link')])).toEqual([join(root, 'link'), join(root, 'real')]);
});

test('an allowed folder that does not exist is reported', () => {
  const root = temporaryFolder(atTheEnd);
  writeFileSync(join(root, 'file'), '');
  for (const name of ['file', 'nothing']) {
    expect(() => allowedFolders([join(root, name)])).toThrow(
      `--allow-git names ${join(root, name)}, which is no folder.`,
    );
  }
});
