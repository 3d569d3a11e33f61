import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { systemClock, type Clock } from '../../../../src/kit/clock.ts';
import { maskOf } from '../../../../src/contract/masking/mask.ts';
import { startGuarded } from '../../../../src/services/control/compute/guarded-process.ts';
import { logProcess } from '../../../../src/services/control/compute/process-log.ts';
import { readRate, sharedReadRate } from '../../../../src/services/control/compute/output-lines.ts';

/** A clock that advances only manually, and reports when a caller sleeps. */
function standingClock() {
  let now = 0;
  const sleepers: { until: number; wake: () => void }[] = [];
  let heard = (): void => undefined;
  const clock: Clock = {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        sleepers.push({ until: now + ms, wake: resolve });
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
        heard();
      }),
  };
  return {
    clock,
    waits: () => new Promise<void>((resolve) => (sleepers.length > 0 ? resolve() : (heard = resolve))),
    advance: (ms: number) => {
      now += ms;
      for (const sleeper of sleepers.filter(({ until }) => until <= now)) {
        sleepers.splice(sleepers.indexOf(sleeper), 1);
        sleeper.wake();
      }
    },
  };
}

/** The maximum size of one read from a pipe. */
const oneRead = 65_536;

test('reads endless output no faster than allowed, and reports the exit', async () => {
  const bounds = { burst: 1_000_000, perSecond: 500_000 };
  const { clock, waits, advance } = standingClock();
  const env = { PATH: process.env['PATH'] ?? '' };
  const started = startGuarded(
    { command: 'yes', args: [], cwd: '/', env, withInput: false, graceSeconds: 0 },
    systemClock,
  );
  let read = 0;
  started.stdout.on('data', (chunk: Buffer) => (read += chunk.length));
  const lines: string[] = [];
  const write = (_: string, line: string): void => void lines.push(line);
  const lineBounds = { burst: 10, perSecond: 1, keepLast: 2 };
  const end = logProcess(started, {
    write,
    mask: maskOf([]),
    clock,
    errorLevel: 'error',
    rate: readRate(bounds),
    bounds: lineBounds,
  });
  const seconds = 10;
  for (let second = 1; second <= seconds; second += 1) {
    await waits();
    // A line of `yes` has two bytes and counts for sixteen more.
    expect(read).toBeLessThanOrEqual((bounds.burst + second * bounds.perSecond) / 9 + oneRead);
    advance(1_000);
  }
  started.kill();
  expect(await started.ended).toEqual({ kind: 'killed', signal: 'SIGKILL' });
  await end;
  // The last lines left out may be written in advance, and again at the end.
  const { burst, perSecond, keepLast } = lineBounds;
  const notices = lines.filter((line) => line !== 'y');
  expect(lines.length - notices.length).toBeLessThanOrEqual(burst + seconds * perSecond + 2 * keepLast);
  // By this clock there is one notice a second at most, and one at the end.
  expect(notices.length).toBeLessThanOrEqual(seconds + 1);
  expect(notices).toContainEqual(expect.stringMatching(/^\[\d+ lines left out/));
});

test('outputs that share a rate wait for what all of them used', () => {
  const all = readRate({ burst: 1_000, perSecond: 100 });
  const [one, other] = [
    { burst: 10_000, perSecond: 100 },
    { burst: 10_000, perSecond: 100 },
  ].map((own) => sharedReadRate(own, all));
  expect(one?.spend(1_000, 0, 0)).toBe(0);
  expect(one?.spend(50, 0, 0)).toBe(500);
  expect(other?.spend(50, 0, 0)).toBe(1_000);
  expect(other?.spend(0, 0, 1_000)).toBe(0);
});

test('an output within its limits never waits', async () => {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const lines: string[] = [];
  const clock: Clock = { now: () => 0, sleep: () => Promise.reject(new Error('it waited')) };
  const write = (_: string, line: string): void => void lines.push(line);
  const end = logProcess({ stdout, stderr }, { write, mask: maskOf([]), clock, errorLevel: 'error' });
  stdout.end('an ordinary line\n'.repeat(4_000));
  stderr.end();
  await end;
  expect(lines).toHaveLength(4_000);
});
