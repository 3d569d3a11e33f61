import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import type { Clock } from '../../../../src/kit/clock.ts';
import { SimulatedClock } from '../../../deploy/machine/simulated-clock.ts';
import { maskOf } from '../../../../src/contract/masking/mask.ts';
import { outputExcerpt } from '../../../../src/services/control/compute/output-excerpt.ts';
import { announcesListening } from '../../../../src/services/control/compute/agent-commands.ts';
import { type LineBounds, logProcess } from '../../../../src/services/control/compute/process-log.ts';

interface Said {
  out?: (string | Buffer)[];
  err?: string[];
  secrets?: string[];
  bounds?: LineBounds;
}

async function logged({ out = [], err = [], secrets = [], bounds }: Said, clock?: Clock): Promise<string[]> {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const lines: string[] = [];
  const end = logProcess(
    { stdout, stderr },
    {
      write: (level, line) => lines.push(level === 'info' ? line : `${level}: ${line}`),
      mask: maskOf(secrets),
      clock: clock ?? { now: () => 0, sleep: () => new Promise(() => {}) },
      errorLevel: 'error',
      ...(bounds ? { bounds } : {}),
    },
  );
  for (const chunk of out) stdout.write(chunk);
  for (const chunk of err) stderr.write(chunk);
  stdout.end();
  stderr.end();
  await end;
  return lines;
}

const umlaut = Buffer.from('grün\n');

test.each<[string, Said, string[]]>([
  ['lines arrive one by one', { out: ['one\ntwo\n'] }, ['one', 'two']],
  ['a line may arrive in pieces', { out: ['o', 'n', 'e\nt', 'wo\n'] }, ['one', 'two']],
  ['a character may arrive in pieces', { out: [umlaut.subarray(0, 3), umlaut.subarray(3)] }, ['grün']],
  ['the last line needs no end', { out: ['one'] }, ['one']],
  ['empty lines are skipped', { out: ['\n\none\r\n \n'] }, ['one']],
  ['a progress bar is logged in its last state', { out: ['10 %\r50 %\rdone\n'] }, ['done']],
  ['colors are removed', { out: ['\u001B[31mred\u001B[0m\n'] }, ['red']],
  ['zero bytes, which the database rejects, are removed', { out: ['a\0b\n'] }, ['ab']],
  ['standard error has its own level', { err: ['oh\n'] }, ['error: oh']],
  [
    'a line that says it is a warning is a warning',
    { err: ['warning: a.json:1:1: no\nWarnings: none\n'] },
    ['warning: warning: a.json:1:1: no', 'error: Warnings: none'],
  ],
  ["an agent's standard output is always info", { out: ['warning: a\nError: b\n'] }, ['warning: a', 'Error: b']],
  [
    'masks a secret longer than a pattern may be',
    { out: ['key=s3cr3t!\n'], secrets: ['s3cr3t!', 'abcdefgh12'.repeat(12_000)] },
    ['key=***'],
  ],
  ['masks a secret', { out: ['key=s3cr3t!\n'], secrets: ['s3cr3t!'] }, ['key=***']],
  ['masks a secret in two pieces', { out: ['key=s3c', 'r3t!\n'], secrets: ['s3cr3t!'] }, ['key=***']],
  ['masks a secret between colors', { out: ['s3c\u001B[1mr3t!\n'], secrets: ['s3cr3t!'] }, ['***']],
  [
    'masks a secret over several lines',
    { out: ['first-part\nand-second\n'], secrets: ['first-part\nand-second'] },
    ['***', '***'],
  ],
  ['masks a secret in JSON', { out: ['{"k":"a\\"bcd"}\n'], secrets: ['a"bcd'] }, ['{"k":"***"}']],
  ['masks a secret in a URL', { out: ['?k=a%26bcd\n'], secrets: ['a&bcd'] }, ['?k=***']],
  ['masks a secret in base64', { out: ['Basic aHVudGVyMg==\n'], secrets: ['hunter2'] }, ['Basic ***']],
  ['masks a secret with pattern characters', { out: ['a.*b)c and axxb)c\n'], secrets: ['a.*b)c'] }, ['*** and axxb)c']],
  [
    'masks a secret that is the prefix of another',
    { out: ['abcdefgh abcd\n'], secrets: ['abcd', 'abcdefgh'] },
    ['*** ***'],
  ],
  ['does not mask three letters', { out: ['yes\n'], secrets: ['yes', ''] }, ['yes']],
])('%s', async (_, said, recorded) => expect(await logged(said)).toEqual(recorded));

test('truncates a long line without revealing half of a secret', async () => {
  const secret = 'a secret with several words in it';
  for (const before of [3_990, 16_350, 16_360, 16_370, 16_383]) {
    const [line = ''] = await logged({
      out: [`${'x'.repeat(before)}${secret}${'y'.repeat(100_000)}\n`],
      secrets: [secret],
    });
    expect(line.length).toBeLessThan(4_100);
    expect(line).toMatch(/^x+(\*\*\*y*)? \[\.\.\.\]$/);
  }
});

test('never logs half of a secret, even where masking shortened the line', async () => {
  const secret = 'k'.repeat(8_000);
  const [line = ''] = await logged({ out: [`${secret}${secret}${secret}\n`], secrets: [secret] });
  expect(line).toBe('*** [...]');
});

test('never logs the start of a secret that the agent server has cut', async () => {
  const msg = `first\n${'x'.repeat(100)}a-secret-of [...]`;
  const entry = JSON.stringify({ level: 'error', time: 'now', name: 'agent-server', msg });
  const lines = await logged({ out: [`${entry}\n`], secrets: ['a-secret-of-the-deployment'] });
  expect(lines).toEqual(['error: first', `error:   ${'x'.repeat(100)}*** [...]`]);
});

test('marks the cut of an entry that was cut after a line break', async () => {
  const entry = JSON.stringify({ level: 'error', time: 'now', name: 'agent-server', msg: 'first\n [...]' });
  expect(await logged({ out: [`${entry}\n`] })).toEqual(['error: first [...]']);
});

test('logs the start and the end of a flood, and how many lines are missing', async () => {
  const flood = Array.from({ length: 100 }, (_, number) => `line ${number}\n`);
  const recorded = await logged({ out: flood, bounds: { burst: 3, perSecond: 2, keepLast: 2 } });
  expect(recorded).toEqual([
    'line 0',
    'line 1',
    'line 2',
    'warning: [95 lines left out: too many to keep]',
    'line 98',
    'line 99',
  ]);
});

test('continues to log after a flood', async () => {
  let now = 0;
  const clock: Clock = { now: () => (now += 1_000), sleep: () => Promise.resolve() };
  const recorded = await logged(
    { out: ['a\nb\nc\nd\ne\nf\ng\n'], bounds: { burst: 3, perSecond: 0.5, keepLast: 1 } },
    clock,
  );
  expect(recorded.at(-1)).toBe('g');
  expect(recorded.length).toBeLessThanOrEqual(8);
});

test('logs the end of a flood by time, though the process prints nothing more', async () => {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const lines: string[] = [];
  const clock = new SimulatedClock();
  const ended = logProcess(
    { stdout, stderr },
    {
      write: (_, line) => lines.push(line),
      mask: maskOf([]),
      clock,
      errorLevel: 'error',
      bounds: { burst: 3, perSecond: 2, keepLast: 2 },
    },
  );
  const flood = (from: number): string => Array.from({ length: 10 }, (_, number) => `line ${from + number}\n`).join('');
  const untilLogged = async (line: string): Promise<void> => {
    while (lines.at(-1) !== line) await new Promise((resolve) => setImmediate(resolve));
  };
  stdout.write(flood(0));
  await untilLogged('line 9');
  // The budget is overdrawn: the next lines wait for it, and are not lost either.
  stdout.write(flood(10));
  const floodedAt = clock.now();
  await untilLogged('line 19');
  expect(clock.now() - floodedAt).toBeGreaterThan(500);
  stdout.end();
  stderr.end();
  await ended;
  const notice = '[5 lines left out: too many to keep]';
  const later = '[8 lines left out: too many to keep]';
  const first = ['line 0', 'line 1', 'line 2', notice, 'line 8', 'line 9'];
  expect(lines).toEqual([...first, later, 'line 18', 'line 19']);
});

test.each<[string, string[], string | undefined]>([
  ['a sentence', ['Graph "echo" has no export named graph.'], 'Graph "echo" has no export named graph.'],
  [
    'an error with its stack',
    ['Error: no such thing', '    at main (main.js:1:2)', 'Node.js v24.0.0'],
    'Error: no such thing',
  ],
  ['an error with fields', ['Error [ERR_X]: odd', '    at x {', "  code: 'ERR_X'", '}'], 'Error [ERR_X]: odd'],
  ['the last of two', ['TypeError: one', 'RangeError: two', 'bye'], 'RangeError: two'],
  [
    'our own error after one of the agent',
    ['Error: odd', 'error[graph-import]: a.ts: no', '  why'],
    'error[graph-import]: a.ts: no',
  ],
  ['a stack alone', ['    at main (main.js:1:2)'], undefined],
])('selects the best line of %s', (_, lines, best) => {
  const excerpt = outputExcerpt();
  for (const line of lines) excerpt.add('error', line);
  expect(excerpt.cause()).toBe(best);
});

test.each([
  ['{"event":"listening"}', true],
  ['{"event":"listening","port":8123}', true],
  ['{"event":"other","port":8123}', false],
  ['{broken', false],
  ['listening on 8123', false],
])('%s announces that it listens: %s', (line, does) => expect(announcesListening(line)).toBe(does));
