import { loggerTo } from '../../../logger.ts';
import { expect, test } from 'vitest';
import type { Clock } from '../../../../src/kit/clock.ts';
import { revisionLogs } from '../../../../src/services/control/rollouts/revision-logs.ts';
import type { NewLogLine } from '../../../../src/services/control/logs/repository.ts';

/** A log store that may be unavailable, and a clock that stands still until it is advanced. */
function fixture() {
  const kept: string[] = [];
  const statements: number[] = [];
  const trimmed: string[] = [];
  const logged: string[] = [];
  const state: { fails: Error | undefined } = { fails: undefined };
  const sleepers: (() => void)[] = [];
  const clock: Clock = { now: () => 7, sleep: () => new Promise((resolve) => sleepers.push(resolve)) };
  const book = revisionLogs({
    store: {
      async appendLog(revisionId, kind, lines: readonly NewLogLine[]) {
        await new Promise((resolve) => setImmediate(resolve));
        if (state.fails) throw state.fails;
        statements.push(lines.length);
        for (const { level, message, at } of lines) kept.push(`${revisionId} ${kind} ${level} ${at} ${message}`);
      },
      trimLog: async (revisionId, kind) => void trimmed.push(`${revisionId} ${kind}`),
    },
    clock,
    log: loggerTo((message) => logged.push(message)),
    signal: new AbortController().signal,
  });
  return {
    book,
    kept,
    statements,
    trimmed,
    logged,
    state,
    passTime: () => sleepers.splice(0).forEach((wake) => wake()),
    isWaiting: () => sleepers.length > 0,
  };
}

const away = (): Error => Object.assign(new Error('away'), { code: 'ECONNREFUSED' });

test('batches lines for a moment and writes them together, in order', async () => {
  const { book, kept, statements, passTime } = fixture();
  const log = book.open('r1', 'build');
  log.write('info', 'one');
  log.write('error', 'two');
  expect(kept).toEqual([]);
  passTime();
  while (kept.length === 0) await new Promise((resolve) => setImmediate(resolve));
  expect(kept).toEqual(['r1 build info 7 one', 'r1 build error 7 two']);
  expect(statements).toEqual([2]);
});

test('a flush waits for no new lines; later ones are written after it', async () => {
  const { book, kept } = fixture();
  const log = book.open('r1', 'build');
  log.write('info', 'one');
  const flushed = log.flush();
  log.write('info', 'two');
  await Promise.all([flushed, book.flush(), log.flush()]);
  expect(kept).toEqual(['r1 build info 7 one', 'r1 build info 7 two']);
});

test('keeps lines while the database is down, and writes them with the next ones', async () => {
  const { book, kept, state, logged } = fixture();
  const log = book.open('r1', 'deploy');
  state.fails = away();
  log.write('info', 'one');
  await log.flush();
  expect(kept).toEqual([]);
  state.fails = undefined;
  log.write('info', 'two');
  await book.flush();
  expect(kept).toEqual(['r1 deploy info 7 one', 'r1 deploy info 7 two']);
  expect(logged).toEqual([]);
});

test('writes lines again once the database is back, though no line follows', async () => {
  const { book, kept, state, passTime, isWaiting } = fixture();
  state.fails = away();
  book.open('r1', 'deploy').write('error', 'the last words');
  passTime();
  while (!isWaiting()) await new Promise((resolve) => setImmediate(resolve));
  state.fails = undefined;
  passTime();
  while (kept.length === 0) await new Promise((resolve) => setImmediate(resolve));
  expect(kept).toEqual(['r1 deploy error 7 the last words']);
});

test('keeps the newest of very many unwritten lines, and says how many are missing', async () => {
  const { book, kept, state } = fixture();
  const log = book.open('r1', 'deploy');
  state.fails = away();
  for (let number = 0; number < 10_005; number += 1) log.write('info', String(number));
  state.fails = undefined;
  await log.flush();
  expect([kept.length, kept[1], kept.at(-1)]).toEqual([10_001, 'r1 deploy info 7 5', 'r1 deploy info 7 10004']);
  expect(kept[0]).toBe('r1 deploy warning 7 [5 lines left out: the database could not be reached]');
});

test('trims a long log now and then', async () => {
  const { book, trimmed } = fixture();
  const log = book.open('r1', 'deploy');
  for (let number = 0; number < 10_000; number += 1) log.write('info', String(number));
  await log.flush();
  expect(trimmed).toEqual(['r1 deploy', 'r1 deploy']);
});

test('drops lines of a revision that is gone, and logs that', async () => {
  const { book, logged, state } = fixture();
  const log = book.open('r1', 'deploy');
  state.fails = new Error('violates foreign key constraint');
  log.write('info', 'one');
  await log.flush();
  const lost = 'Lines of the deploy log of revision r1 were lost: Error: violates foreign key constraint\n';
  expect(logged).toEqual([expect.stringContaining(lost)]);
});
