import { expect, test } from 'vitest';
import { toSpans, withoutAnsi } from '../../src/console/pages/revision/ansi.ts';
import {
  maxShownLength,
  toPieces,
  LogLines,
  LogView,
  type LogFilter,
} from '../../src/console/pages/revision/log-lines.ts';
import { toLogLine, type LogLine } from '../../src/console/pages/revision/log-line.ts';

const entry = (id: number, message: string, level = 'info') => ({
  id: String(id),
  timestamp: '2026-01-02T03:04:05.678Z',
  level,
  message,
});
const lineOf = (message: string): LogLine => toLogLine(entry(1, message)) ?? expect.unreachable();
const all: LogFilter = { query: '', level: 'debug', onlyMatching: false };

test('turns colours into styles and removes all other escape sequences', () => {
  const link = '\u001B]8;;http://evil.example\u0007link\u001B]8;;\u001B\\';
  const text = `a \u001B[1;31mred\u001B[0m ${link} \u001B[2J\u001B[?25l\u009B1A\u001B(B\u001B[38;5;46mg\u001B[48;2;0;0;250mb\u001B`;
  expect(withoutAnsi(text)).toBe('a red link gb');
  expect(toSpans(text)).toEqual([
    { text: 'a ', styles: [] },
    { text: 'red', styles: ['red', 'bold'] },
    { text: ' link ', styles: [] },
    { text: 'g', styles: ['green'] },
    { text: 'b', styles: ['on-blue'] },
  ]);
});

test('keeps the text after an escape sequence that does not end, and shows hidden text', () => {
  expect(withoutAnsi('a\u001B]0;title and more')).toBe('a]0;title and more');
  expect(toSpans('\u001B[8mhidden\u001B[7mback')).toEqual([
    { text: 'hidden', styles: [] },
    { text: 'back', styles: ['on-white'] },
  ]);
});

test('shows the message of a JSON line first, and its level instead of that of the output', () => {
  const line = lineOf('{"level":50,"time":1,"msg":"\\u001b[31mfailed","user":{"id":7},"tries":"2"}');
  expect(line).toMatchObject({ level: 'error', text: 'failed user={"id":7} tries=2', fields: { tries: '2' } });
  expect(toPieces(line, '').map(({ text, styles }) => [text, styles.join()])).toEqual([
    ['failed', ''],
    [' user={"id":7} tries=2', 'field'],
  ]);
  for (const other of ['{"a":1}', '{broken', '[1]', '{"msg":1}']) {
    expect(lineOf(other)).toMatchObject({ text: other, fields: undefined, level: 'info' });
  }
});

test('marks matches across colours, in any case, and only in the shown part of a long line', () => {
  const line = lineOf(`one t\u001B[32mW\u001B[0mo (x) TWO${'-'.repeat(5_000)}two`);
  const pieces = toPieces(line, 'two');
  expect(pieces.filter(({ isMatch }) => isMatch).map(({ text }) => text)).toEqual(['t', 'W', 'o', 'TWO']);
  expect(pieces.map(({ text }) => text).join('')).toBe(line.text.slice(0, maxShownLength));
  expect(toPieces(line, '(X)').filter(({ isMatch }) => isMatch)).toHaveLength(1);
});

test('keeps each line once and in order after a reconnect', () => {
  const lines = new LogLines();
  lines.append([entry(9, 'a'), entry(10, 'b')]);
  lines.append([entry(9, 'a'), entry(10, 'b'), entry(100, 'c')]);
  expect([0, 1, 2, 3].map((number) => lines.line(number)?.text)).toEqual(['a', 'b', 'c', undefined]);
  expect([lines.lastId, lines.find('10'), lines.find('11'), lines.find('100')]).toEqual(['100', 1, undefined, 2]);
});

test('drops the oldest lines beyond the bound, and keeps the numbers of the others', () => {
  const lines = new LogLines(10);
  const view = new LogView(lines, { ...all, query: 'line' });
  for (let id = 0; id < 25; id += 1) {
    lines.append([entry(id, `line ${id}`)]);
    view.update();
  }
  expect(lines.count).toBe(25);
  expect(lines.count - lines.dropped).toBeLessThanOrEqual(10);
  expect(lines.line(24)?.text).toBe('line 24');
  expect(view.shown).toEqual(Array.from({ length: 25 - lines.dropped }, (_, at) => at + lines.dropped));
  expect(view.matches).toEqual(view.shown);
  expect(lines.find('3')).toBeUndefined();
});

test('filters by level and text as lines come, and steps through matches from either end', () => {
  const lines = new LogLines();
  lines.append([entry(1, 'Alpha'), entry(2, 'beta', 'error')]);
  const found = new LogView(lines, { ...all, query: 'ALPHA' });
  const errors = new LogView(lines, { ...all, level: 'error', query: 'beta', onlyMatching: true });
  lines.append([entry(3, 'alphabet', 'warning'), entry(4, 'beta'), entry(5, 'other', 'critical')]);
  found.update();
  errors.update();
  expect([found.shown, found.matches]).toEqual([
    [0, 1, 2, 3, 4],
    [0, 2],
  ]);
  expect([errors.shown, errors.matches]).toEqual([[1], [1]]);
  expect([found.matchFrom(-1, 1), found.matchFrom(0, 1), found.matchFrom(2, 1)]).toEqual([0, 1, 0]);
  expect([found.matchFrom(2, -1), found.matchFrom(0, -1)]).toEqual([0, 1]);
  expect(new LogView(lines, { ...all, query: '.*' }).matches).toEqual([]);
});

test('takes in and searches 100,000 lines in well under a second', () => {
  const lines = new LogLines();
  const start = performance.now();
  lines.append(Array.from({ length: 100_000 }, (_, id) => entry(id, `request ${id} took ${id % 977} ms`)));
  const view = new LogView(lines, { ...all, query: 'took 976 ms' });
  expect(view.matches).toHaveLength(102);
  expect(performance.now() - start).toBeLessThan(5_000);
});
