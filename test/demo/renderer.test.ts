import { describe, expect, test } from 'vitest';
import { Renderer, wrapLines } from '../../src/demo/renderer.ts';

describe('a text on a screen of 20 columns', () => {
  test.each([
    ['fits', 'short', ['short']],
    ['is empty', '', ['']],
    ['is broken between words', 'one two three four five six', ['one two three four', '  five six']],
    ['goes on under what it goes on from', '   | one two three four', ['   | one two three', '   |   four']],
    ['has a word that is longer', 'a http://127.0.0.1:4000/agents b', ['a', '  http://127.0.0.1:4000/agents', '  b']],
    ['keeps its spaces', '  41 s   BUILDING', ['  41 s   BUILDING']],
  ])('%s', (_, text, lines) => {
    expect(wrapLines(text, 20)).toEqual(lines);
  });

  test('keeps all words', () => {
    const text = '   => rolled-back, because it failed its smoke tests: "hello world!" was expected, "no one" was seen';
    expect(wrapLines(text, 20).join(' ').split(/\s+/).join(' ')).toBe(text.split(/\s+/).join(' '));
  });
});

test('shortens ids, and keeps an address that people copy', () => {
  const id = 'c0ffee00-0000-4000-8000-000000000000';
  let shown = '';
  new Renderer((text) => (shown += text)).quote(`Revision ${id} at http://127.0.0.1:1/agents/${id}`);
  expect(shown).toContain('Revision c0ffee00 at');
  expect(shown).toContain(`/agents/${id}`);
});

test('a row that could not be tried is not shown as one that held', () => {
  let shown = '';
  const rows = [
    { title: 'one', isProven: true, summary: 'deployed' },
    { title: 'two', isProven: true, isSkipped: true, summary: 'not tried: there is no browser' },
    { title: 'three', isProven: false, summary: 'failed' },
  ];
  new Renderer((text) => (shown += text)).table(rows);
  const marks = shown.split('\n').filter((line) => /one|two|three/.test(line));
  expect(marks).toEqual([' ok   one', 'skip  two', 'FAIL  three']);
});
