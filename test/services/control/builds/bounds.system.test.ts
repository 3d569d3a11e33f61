import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../../../src/kit/clock.ts';
import { maskOf } from '../../../../src/contract/masking/mask.ts';
import {
  buildProcesses,
  killOrphanedProcesses,
  exceededLimit,
} from '../../../../src/services/control/builds/build-processes.ts';
import { createOutputLimit, commandRunner } from '../../../../src/services/control/builds/run-command.ts';
import { startGuarded } from '../../../../src/services/control/compute/guarded-process.ts';
import { runs, until } from '../compute/agents.ts';
import type { BuildDependencies } from '../../../../src/services/control/builds/make-build.ts';
import { workplace } from './building.ts';
import { digestOf, tarballOf } from './tarballs.ts';
import { plainAgent, write, type Files } from './repositories.ts';

const atTheEnd: (() => void)[] = [];
afterEach(() => {
  for (const end of atTheEnd.splice(0).reverse()) end();
});
const place = (files: Files = {}) => workplace({ ...plainAgent, ...files }, atTheEnd);
const megabyte = 1_000_000;

test.each([
  ['nothing beyond its limits', { memoryBytes: 100, processes: 2 }, undefined],
  ['too much memory', { memoryBytes: 2_000_000, processes: 1 }, 'it took more memory than a build may (1 MB)'],
  ['too many processes', { memoryBytes: 100, processes: 3 }, 'it ran more processes than a build may (2)'],
])('checks the usage of a build that takes %s', (_, usage, why) => {
  const output = exceededLimit(usage, { memoryBytes: megabyte, processes: 2 });
  expect(output).toEqual(why === undefined ? undefined : `${why} and was stopped`);
});

const eater = `const held = [];
setInterval(() => held.push(Buffer.alloc(20e6, 1)), 20);
`;

test('stops a build that exceeds its memory limit and says why', async () => {
  const { reason, dataDir } = place({ 'eat.js': eater });
  const settings = { bounds: { memoryBytes: 300 * megabyte } };
  expect(await reason({ request: { buildCommand: 'node eat.js' }, settings })).toBe(
    'source_config.build_command failed: it took more memory than a build may (300 MB) and was stopped.',
  );
  expect(readdirSync(join(dataDir, 'builds'))).toEqual([]);
});

test('counts the memory of all processes, including those that left the group', async () => {
  const { reason } = place({ 'eat.js': eater, 'spread.sh': 'setsid node eat.js & setsid node eat.js & wait\n' });
  const settings = { bounds: { memoryBytes: 400 * megabyte } };
  expect(await reason({ request: { buildCommand: 'sh spread.sh' }, settings })).toContain('more memory');
});

test('stops a fork bomb and all of its processes', async () => {
  const { reason, root } = place();
  write(root, { 'fork.sh': `while :; do setsid sleep 345.25 & sleep 0.01; done\n` });
  const settings = { bounds: { processes: 20 } };
  expect(await reason({ request: { buildCommand: `sh ${root}/fork.sh` }, settings })).toContain(
    'it ran more processes than a build may (20) and was stopped',
  );
  expect(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })).not.toContain('sleep 345.25');
});

test('kills processes that a build leaves behind, even outside its process group', async () => {
  const { build, root } = place();
  write(root, {
    'leave.sh': `setsid sh -c 'echo $$ > ${root}/pid; exec sleep 600' >/dev/null 2>&1 &\nwhile [ ! -s ${root}/pid ]; do sleep 0.05; done\n`,
  });
  await build({ request: { buildCommand: `sh ${root}/leave.sh` } });
  expect(runs(Number(readFileSync(join(root, 'pid'), 'utf8')))).toBe(false);
});

test('kills a tracked process that cleared its environment', async () => {
  const { build, root } = place();
  const pid = join(root, 'pid');
  write(root, {
    'leave.sh': `env -i setsid sh -c 'echo $$ > ${pid}; exec /bin/sleep 600' >/dev/null 2>&1 &\nwhile [ ! -s ${pid} ]; do sleep 0.05; done\nsleep 1\n`,
  });
  await build({ request: { buildCommand: `sh ${root}/leave.sh` } });
  expect(runs(Number(readFileSync(pid, 'utf8')))).toBe(false);
});

test.each([
  ['a build, by its marker', (builds: string) => ({ LANDFALL_BUILD: join(builds, 'r-1') })],
  ['an agent, by its home', (builds: string) => ({ HOME: join(builds, 'r-1/home') })],
])('kills only what its own service left of %s', async (_, marks) => {
  const { root } = place();
  const builds = join(root, 'data/builds');
  const start = (mark: Record<string, string>) =>
    startGuarded(
      {
        command: 'sleep',
        args: ['600'],
        cwd: '/',
        env: { PATH: process.env.PATH ?? '', ...mark },
        withInput: false,
        graceSeconds: 0,
      },
      systemClock,
    );
  const [left, others] = [start(marks(builds)), start(marks(join(root, 'other/builds')))];
  await until(() => readFileSync(`/proc/${left.pid}/cmdline`, 'utf8').startsWith('sleep'));
  expect(await killOrphanedProcesses(builds, systemClock)).toBeGreaterThan(0);
  expect(await left.ended).toEqual({ kind: 'killed', signal: 'SIGKILL' });
  expect(runs(others.pid ?? 0)).toBe(true);
  others.kill();
  await others.ended;
});

test('commands of a build step share its time limit, and none starts after it', async () => {
  const { root } = place();
  const beginPart = commandRunner({
    env: { PATH: process.env['PATH'] ?? '' },
    user: undefined,
    output: createOutputLimit(() => undefined, { outputBytes: megabyte, outputLines: 100 }),
    mask: maskOf([]),
    clock: systemClock,
    processes: buildProcesses(root, systemClock),
    watch: (over) => new Promise((resolve) => over.addEventListener('abort', () => resolve(undefined))),
    signal: new AbortController().signal,
  });
  const shell = (command: string) => ({ command: '/bin/sh', args: ['-c', command], cwd: root });
  const run = beginPart(2_000);
  expect(await run(shell('sleep 1'))).toMatchObject({ kind: 'done' });
  const tooLong = { kind: 'failed', reason: 'it took longer than 2 s and was stopped', isLate: true };
  expect(await run(shell('sleep 600'))).toMatchObject(tooLong);
  expect(await run(shell('touch started'))).toMatchObject(tooLong);
  expect(existsSync(join(root, 'started'))).toBe(false);
  expect(await beginPart(2_000)(shell('exit 7'))).toMatchObject({
    kind: 'failed',
    reason: 'exit code 7',
    isLate: false,
  });
});

test('limits the time for unpacking a tarball', async () => {
  const { reason, root, dataDir } = place();
  const [file, bytes] = [join(root, 'source.tar.gz'), tarballOf()];
  writeFileSync(file, bytes);
  const from = { kind: 'tarball', file, digest: digestOf(bytes) } as const;
  const clock = { now: () => Date.now(), sleep: () => Promise.resolve() };
  expect(await reason({ request: { from }, settings: { clock, bounds: { cloneMs: 5_000 } } })).toBe(
    "The source tarball can't be unpacked: it took longer than 5 s and was stopped.",
  );
  expect(readdirSync(join(dataDir, 'builds'))).toEqual([]);
});

test('truncates the output of a build with a note, and continues the build', async () => {
  const { build, lines } = place({ 'flood.sh': 'yes 1234567890 | head -n 60000\necho the last line\n' });
  await build({ request: { buildCommand: 'sh flood.sh' }, settings: { bounds: { outputLines: 200 } } });
  expect(lines.filter((line) => line === '1234567890').length).toBeLessThan(310);
  expect(lines).toContain('warning: [cut: a build may print 200 lines and 8000000 bytes]');
  expect(lines.at(-1)).toBe('the last line');
});

test('limits output in bytes and lines, and keeps the last lines of a command', () => {
  const output: string[] = [];
  const { writeLine, commandEnded } = createOutputLimit((_, line) => output.push(line), {
    outputBytes: 30,
    outputLines: 1_000,
  });
  for (let n = 1; n <= 300; n += 1) writeLine('info', `line ${n}`);
  commandEnded();
  expect(output.slice(0, 6)).toEqual([
    'line 1',
    'line 2',
    'line 3',
    'line 4',
    'line 5',
    '[cut: a build may print 1000 lines and 30 bytes]',
  ]);
  expect(output[6]).toBe('[195 lines left out; the last of the command:]');
  expect(output.slice(7)).toEqual(Array.from({ length: 100 }, (_, n) => `line ${n + 201}`));
  writeLine('info', 'of the next command');
  commandEnded();
  expect(output.at(-1)).toBe('of the next command');
});

const short = /^Only 3 MB are left on the disk of this machine, and a build needs at least 500 MB\. .* deploy again\.$/;

test('does not start a build when the disk is short of space', async () => {
  const { reason, dataDir, lines } = place();
  expect(await reason({ settings: { freeSpace: async () => 3 * megabyte } })).toMatch(short);
  expect([existsSync(dataDir), lines]).toEqual([false, []]);
});

test('frees disk space when possible and continues the build', async () => {
  const { build } = place();
  let free = 3 * megabyte;
  const makeRoom = async (): Promise<void> => void (free = 900 * megabyte);
  const { folder } = await build({ settings: { freeSpace: async () => free, makeRoom } });
  expect(existsSync(join(folder, 'build.json'))).toBe(true);
});

test('stops a build before it fills the disk', async () => {
  const { reason, dataDir } = place();
  let looks = 0;
  const freeSpace = async (): Promise<number> => ((looks += 1) > 1 ? 3 * megabyte : 900 * megabyte);
  const output = await reason({ request: { buildCommand: 'sleep 600' }, settings: { freeSpace } });
  expect(output).toContain('source_config.build_command failed: it was ended. Only 3 MB are left');
  expect(readdirSync(join(dataDir, 'builds'))).toEqual([]);
});

/**
 * Mounts a small disk at a folder where the tests may, and otherwise simulates one that is already full. Returns the
 * settings of the build.
 */
function smallDisk(folder: string, size: string): Partial<BuildDependencies> {
  mkdirSync(folder, { recursive: true });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'landfall-test', folder], { stdio: 'ignore' });
  } catch {
    // Only root may mount, and not in every container.
    return { freeSpace: async () => 0 };
  }
  atTheEnd.push(() => void execFileSync('umount', [folder], { stdio: 'ignore' }));
  return { bounds: { minFreeBytes: 0 } };
}

test.each<[string, Files, string | undefined]>([
  ['the source', { 'large.txt': 'x'.repeat(5 * megabyte) }, undefined],
  ['what a command writes', { 'fill.sh': 'head -c 9000000 /dev/zero > filling\n' }, 'sh fill.sh'],
  [
    'what a program reports',
    { 'fill.js': "require('fs').writeFileSync('filling', Buffer.alloc(9e6))\n" },
    'node fill.js',
  ],
])('fails on a full disk with what to do, and cleans up: %s', async (_, files, buildCommand) => {
  const { reason, dataDir } = place(files);
  const settings = smallDisk(dataDir, '4m');
  const output = await reason({ request: { buildCommand }, settings });
  expect(output).toMatch(
    /Live revisions are not affected\. Have the operator make room in the service's data folder, .*, then deploy again\./,
  );
  expect(existsSync(join(dataDir, 'builds')) ? readdirSync(join(dataDir, 'builds')) : []).toEqual([]);
});

test("stops a build whose disk usage can't be read, and reports the reason", async () => {
  const { tryBuild, dataDir } = place();
  let looks = 0;
  const freeSpace = async (): Promise<number> => {
    if ((looks += 1) > 1) throw new Error('the disk is gone');
    return 900 * megabyte;
  };
  await expect(tryBuild({ request: { buildCommand: 'sleep 600' }, settings: { freeSpace } })).rejects.toThrow(
    'the disk is gone',
  );
  expect(readdirSync(join(dataDir, 'builds'))).toEqual([]);
});
