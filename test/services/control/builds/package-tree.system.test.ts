import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { systemClock, type Clock } from '../../../../src/kit/clock.ts';
import { extractPackages } from '../../../../src/services/control/builds/package-tree.ts';
import { startGuarded, type GuardedProcess } from '../../../../src/services/control/compute/guarded-process.ts';
import { temporaryFolder } from './repositories.ts';
import { endOfTar, rawTar } from './tarballs.ts';

const atTheEnd: (() => void)[] = [];
afterEach(() => {
  for (const end of atTheEnd.splice(0).reverse()) end();
});

/** A clock whose sleeps of up to a second end at once, and longer ones never. */
const hasty: Clock = {
  now: () => 0,
  sleep: (ms, signal) =>
    ms <= 1_000
      ? Promise.resolve()
      : new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted')))),
};

/** A `tar` of a folder with one package. */
function startTar(root: string): GuardedProcess {
  mkdirSync(join(root, 'from/node_modules/x'), { recursive: true });
  writeFileSync(join(root, 'from/node_modules/x/index.js'), 'x'.repeat(30_000));
  mkdirSync(join(root, 'into'));
  return startGuarded(
    {
      command: 'tar',
      args: ['-cf', '-', '.'],
      cwd: join(root, 'from'),
      env: { PATH: process.env['PATH'] ?? '' },
      withInput: false,
      graceSeconds: 0,
      outputMs: 60_000,
    },
    hasty,
  );
}

test('reads all output of a tar that has already exited', async () => {
  const root = temporaryFolder(atTheEnd);
  const extracted = await extractPackages(startTar(root), { from: join(root, 'from'), into: join(root, 'into') });
  expect(extracted).toEqual({ ok: true, value: 'extracted' });
  expect(readFileSync(join(root, 'into/node_modules/x/index.js'), 'utf8')).toHaveLength(30_000);
});

test('rejects output that was abandoned before its end', async () => {
  const root = temporaryFolder(atTheEnd);
  const tar = startTar(root);
  tar.kill();
  await tar.ended;
  const extracted = await extractPackages(tar, { from: join(root, 'from'), into: join(root, 'into') });
  expect(extracted.ok).toBe(false);
});

test('rejects output that the tar library throws at, without failing other installs', async () => {
  const root = temporaryFolder(atTheEnd);
  const headers = [
    { path: 'pax', type: 'g', text: '8 size=\n' },
    { path: 'pax', type: 'g', text: Buffer.alloc(410) },
  ];
  writeFileSync(join(root, 'tar'), Buffer.concat([rawTar(headers), endOfTar]));
  mkdirSync(join(root, 'into'));
  const cat = startGuarded(
    { command: 'cat', args: ['tar'], cwd: root, env: {}, withInput: false, graceSeconds: 0 },
    systemClock,
  );
  const extracted = await extractPackages(cat, { from: root, into: join(root, 'into') });
  expect(extracted).toEqual({ ok: false, reason: expect.stringContaining('The installed packages could not be read') });
});
