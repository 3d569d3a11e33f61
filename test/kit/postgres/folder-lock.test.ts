import { silentLogger } from '../../../src/kit/logger.ts';
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Clock } from '../../../src/kit/clock.ts';
import { FolderBusyError, lockFolder, writeHolder } from '../../../src/kit/postgres/embedded/folder-lock.ts';

const day = 24 * 60 * 60_000;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'landfall-lock-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A clock that advances with each sleep, and a holder in another container whose last heartbeat is at `ahead`. */
function heldInContainer(ahead: number, whileWaiting: (slept: number) => void = () => undefined) {
  let slept = 0;
  const start = Date.now();
  const lock = join(folder, 'lock.1');
  const sign = (at: number): void => utimesSync(lock, new Date(start + at), new Date(start + at));
  writeFileSync(lock, writeHolder({ pid: 7, birth: 'boot/1', space: 'another container', released: false }));
  sign(ahead);
  const clock: Clock = {
    now: () => start + slept,
    steadyNow: () => slept,
    sleep: async (ms) => {
      slept += ms;
      if (slept > day) throw new Error('It waits for a day.');
      whileWaiting(slept);
    },
  };
  return { clock, sign, slept: () => slept };
}
const lockWith = (clock: Clock) => lockFolder(folder, 'The folder', clock, silentLogger);

test.each([
  ['goes evenly', 0],
  ['was set back by a day', day],
  ['was set forward by a day', -day],
])("a dead holder's folder is free after half a minute if the clock %s", async (_, ahead) => {
  const { clock, slept } = heldInContainer(ahead);
  (await lockWith(clock)).release();
  expect(slept()).toBeLessThanOrEqual(30_000);
});

test.each([
  ['goes evenly', 0, 0],
  ['is set back by a day', 0, -day],
  ['was set forward by a day', -day, 0],
])('a living holder keeps its folder if the clock %s', async (_, ahead, then) => {
  const { clock, sign } = heldInContainer(ahead, (slept) => {
    if (slept % 5_000 === 0) sign(then + slept);
  });
  await expect(lockWith(clock)).rejects.toThrow(FolderBusyError);
});
