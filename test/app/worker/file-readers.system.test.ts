import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { createProcessReader, type FileReader, type ProcessReaderOptions } from '../../../app/worker/file-readers.ts';
import { createReadingBudget } from '../../../app/worker/reading-budget.ts';
import { systemClock } from '../../../src/kit/clock.ts';
import { silentLogger } from '../../../src/kit/logger.ts';

const owner = { installationId: 5, repositoryId: 7 };
const impatient = { sleep: async () => undefined, now: () => 0 };

/** A reader and its marks, in memory. */
function openReader(options: Partial<ProcessReaderOptions> = {}) {
  const marks: string[] = [];
  const given = new Map<string, string>();
  const reader = createProcessReader({
    clock: systemClock,
    log: silentLogger,
    readings: {
      begin: async (digest, which) => {
        if (given.has(digest)) return false;
        marks.push(which === 'first' ? 'begin' : 'again');
        return true;
      },
      end: async (digest, how) => {
        marks.push(how);
        if (how !== 'read') given.set(digest, how);
      },
    },
    budget: createReadingBudget(systemClock),
    ...options,
  });
  onTestFinished(() => reader.close());
  return { reader, marks };
}

/** The processes that a process started. */
const childrenOf = (pid: number): { pid: number; command: string }[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .split(' ')
    .filter((each) => each !== '')
    .map((each) => ({ pid: Number(each), command: readFileSync(`/proc/${each}/cmdline`, 'utf8') }));

const nameOf = async (reader: FileReader, name: string) =>
  (await reader.readDeployFile({ text: `name: ${name}` }, owner)).entries.map((entry) => entry.name);

const filesOf = (cases: string) => ({
  deployFile: 'name: a\nsource: github\nsmoke-tests: [{ name: t, assistant: a, input: "{{a}}", cases: c.json }]',
  graphConfigs: new Map<string, string>(),
  cases: { 'c.json': { text: cases } },
  unread: [],
});

test('files that exhaust the memory end their reader alone, and are read once', async () => {
  const { reader, marks } = openReader({ memoryMb: 48 });
  const many = Array.from({ length: 60 }, (_, at): [string, string] => [`${at}.json`, `${at}`.repeat(500_000)]);
  const files = { ...filesOf('[]'), graphConfigs: new Map(many) };
  const messages = async () => (await reader.validate(files, owner)).problems.map(({ message }) => message);
  const notValidated = 'the files of this commit were not validated';
  expect(await messages()).toEqual([`${notValidated}: reading it takes too much memory: make it smaller and simpler`]);
  expect(await messages()).toEqual([
    `${notValidated}: reading it took too much time or memory before, so it is not read again: make it smaller and simpler`,
  ]);
  expect(marks).toEqual(['begin', 'died']);
  expect(await nameOf(reader, 'b')).toEqual(['b']);
});

test.each([
  ['anchors', '&a '.repeat(300_000)],
  ['brackets', '[]'.repeat(450_000)],
  ['open brackets', '['.repeat(65_000)],
  ['lists on one line', '- '.repeat(32_000)],
  ['open brackets of JSON', `{"a":${'['.repeat(900_000)}`],
])('a file of cases of many %s is refused by its reader', async (_, text) => {
  const { reader, marks } = openReader();
  const { problems } = await reader.validate(filesOf(text), owner);
  expect(problems.map(({ file }) => file)).toEqual(['c.json']);
  expect(marks).toEqual(['begin', 'read']);
});

test('a file that takes too long is given up, and the next one is read', async () => {
  const { reader, marks } = openReader({ clock: impatient, attempts: 1 });
  expect(await reader.namedPaths('name: a', owner)).toEqual({ unread: expect.stringContaining('too much time') });
  const { problems } = await reader.validate(filesOf('[]'), owner);
  expect(problems).toEqual([expect.objectContaining({ message: expect.stringContaining('too much time') })]);
  expect(marks).toEqual(['begin', 'late', 'begin', 'late']);
  expect(await nameOf(openReader().reader, 'b')).toEqual(['b']);
});

test('a pushed file that was late is tried once more in a new process', async () => {
  let sleeps = 0;
  const sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
    sleeps += 1;
    if (sleeps > 1) await systemClock.sleep(ms, signal);
  };
  const { reader, marks } = openReader({ clock: { sleep, now: () => 0 } });
  expect(await nameOf(reader, 'a')).toEqual(['a']);
  expect({ sleeps, marks }).toEqual({ sleeps: 2, marks: ['begin', 'read'] });
});

/** A reader whose process is killed each time a reading begins, so many times. */
function openKilledReader(times: number) {
  let left = times;
  const sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
    // The deadline of a reading begins: its process has started.
    const [reading] = childrenOf(process.pid).filter(({ command }) => command.includes('worker-process'));
    if (left > 0 && reading) {
      left -= 1;
      process.kill(reading.pid, 'SIGKILL');
    }
    await systemClock.sleep(ms, signal);
  };
  return openReader({ clock: { sleep, now: () => 0 }, attempts: 1 });
}

test('a file whose reader is killed from outside is read once more, marked before', async () => {
  const { reader, marks } = openKilledReader(1);
  expect(await nameOf(reader, 'a')).toEqual(['a']);
  expect(marks).toEqual(['begin', 'again', 'read']);
});

test('a file whose reader is killed twice is not read again', async () => {
  const { reader, marks } = openKilledReader(2);
  const read = async () => (await reader.readDeployFile({ text: 'name: a' }, owner)).unread;
  expect(await read()).toContain('killed twice');
  expect(await read()).toContain('it is not read again');
  expect(marks).toEqual(['begin', 'again', 'died']);
});

test('what was read well needs no second mark', async () => {
  const { reader, marks } = openReader();
  expect([await nameOf(reader, 'a'), await nameOf(reader, 'a')]).toEqual([['a'], ['a']]);
  expect(marks).toEqual(['begin', 'read']);
});

test('a repository whose files took too long reads no more until an hour is over', async () => {
  let now = 1_000;
  const clock = { ...systemClock, steadyNow: () => now, now: () => now };
  const budget = createReadingBudget(clock);
  const { reader, marks } = openReader({ budget });
  budget.spend(owner, 120_000);
  now += 10 * 60_000;
  const { unread } = await reader.readDeployFile({ text: 'name: a' }, owner);
  expect(unread).toContain('press Re-run in 50 minutes');
  expect(marks).toEqual([]);
  expect((await reader.readDeployFile({ text: 'name: a' }, { ...owner, repositoryId: 8 })).unread).toBeUndefined();
  now += 50 * 60_000;
  expect(await nameOf(reader, 'a')).toEqual(['a']);
});
