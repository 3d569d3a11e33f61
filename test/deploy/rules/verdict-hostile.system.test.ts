import { expect, test } from 'vitest';
import type { Expectation, SmokeTest, ValueTest } from '../../../src/deploy/file/smoke-test.ts';
import { judge } from '../../../src/deploy/rules/judge.ts';

const requests = (...expected: Expectation[]): SmokeTest => ({
  name: 'hostile',
  assistant: 'a',
  thread: false,
  input: {},
  streamModes: ['values'],
  expect: expected,
  attempts: 1,
  timeoutMs: 1000,
});

const at = (path: string, test: ValueTest): Expectation => ({ kind: 'value', path, test });

function judged(expectation: Expectation, values: unknown, nodes: string[] = []) {
  const held = judge(requests(expectation), {
    kind: 'answered',
    status: 'success',
    values,
    nodes,
    firstEventMs: 1,
    totalMs: 1,
  }).at(-1);
  if (!held) throw new Error('nothing was judged');
  return held;
}

/** Made by JSON.parse, which accepts any depth, as a remote server can send it. */
const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));
const long = 'a'.repeat(5_000_000);

test.each<[what: string, expectation: Expectation, values: unknown, held: boolean]>([
  ['a text of five million characters is searched', at('$.t', { kind: 'contains', text: 'b' }), { t: long }, false],
  [
    'a text of five million characters is held to no pattern',
    at('$.t', { kind: 'matches', pattern: 'a' }),
    { t: long },
    false,
  ],
  [
    'a pattern that would make other engines backtrack',
    at('$.t', { kind: 'matches', pattern: '^(a+)+$' }),
    { t: `${'a'.repeat(50_000)}!` },
    false,
  ],
  [
    'the same pattern in a schema',
    at('$.t', { kind: 'schema', schema: { pattern: '^(a+)+$' } }),
    { t: `${'a'.repeat(50_000)}!` },
    false,
  ],
  [
    'the same pattern for the names of a schema',
    at('$', { kind: 'schema', schema: { patternProperties: { '^(a+)+$': false } } }),
    { [`${'a'.repeat(50_000)}!`]: 1 },
    true,
  ],
  [
    'the same pattern in a path',
    at("$[?match(@, '(a+)+')]", { kind: 'contains', text: 'a' }),
    [`${'a'.repeat(9_000)}!`],
    false,
  ],
  [
    'a pattern that the values bring themselves',
    at('$[?search($[0], @)]', { kind: 'contains', text: 'x' }),
    [long.slice(0, 9000), ...Array.from({ length: 2000 }, (_, i) => `(a{1,${i}}){1,9}b`)],
    false,
  ],
  [
    'values a hundred thousand deep, at a plain path',
    at('$[0][0]', { kind: 'equals', value: [] }),
    nested(100_000),
    false,
  ],
  ['values a hundred thousand deep, searched', at('$..x', { kind: 'equals', value: 1 }), nested(100_000), false],
  [
    'values a hundred thousand deep, compared within a filter',
    at('$[?@ == $]', { kind: 'equals', value: 1 }),
    nested(100_000),
    false,
  ],
  [
    'values a hundred thousand deep, held to a schema',
    at('$', { kind: 'schema', schema: { type: 'array' } }),
    nested(100_000),
    false,
  ],
  [
    'values of a search that compares the whole',
    at('$..[?@ == $]', { kind: 'equals', value: 1 }),
    [Array.from({ length: 9_000 }, (_, i) => i), Array.from({ length: 9_000 }, (_, i) => i)],
    false,
  ],
  ['values a hundred thousand deep, shown', at('$', { kind: 'contains', text: 'x' }), nested(100_000), false],
  [
    'a million values, searched',
    at('$..x', { kind: 'equals', value: 1 }),
    Array.from({ length: 1_000_000 }, () => 0),
    false,
  ],
  [
    'a million values, held to a schema',
    at('$', { kind: 'schema', schema: { uniqueItems: true } }),
    Array.from({ length: 1_000_000 }, (_, i) => i),
    false,
  ],
  [
    'a thousand and one values at a path',
    at('$[*]', { kind: 'equals', value: 0 }),
    Array.from({ length: 1001 }, () => 0),
    false,
  ],
  [
    'thousands of texts against a pattern in a schema',
    at('$', { kind: 'schema', schema: { items: { pattern: '^t' } } }),
    Array.from({ length: 3000 }, (_, i) => `t${i}.*(`),
    true,
  ],
  [
    'thousands of maps with names by pattern',
    at('$', { kind: 'schema', schema: { items: { patternProperties: { '^k': { type: 'integer' } } } } }),
    Array.from({ length: 2000 }, (_, i) => ({ [`k${i}`]: i })),
    true,
  ],
])('judges to an end, in few words: %s', (_, expectation, values, held) => {
  const seen = judged(expectation, values);
  expect(seen.held).toBe(held);
  expect(seen.seen.length).toBeLessThan(600);
});

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const one: ValueTest = { kind: 'equals', value: 1 };
const letters = (length: number, seed: number): string =>
  Array.from({ length }, (_, index) => ((index * index + seed * index) % 7 < 3 ? 'a' : 'b')).join('');

test.each<[what: string, expectation: Expectation, values: unknown]>([
  ['a filter within a filter', at('$.a[?count($.a[?count($.a[*])>5000])>0]', one), { a: numbers(300) }],
  ['a filter that searches the whole', at('$[?count($[*])>50000]', one), numbers(5_000)],
  ['many selectors in many segments', at(`$${'[*,*,*,*,*,*,*,*,*,*]'.repeat(7)}.x`, one), nested(10)],
  ['many indexes in many segments', at(`$${'[0,0,0,0,0,0,0,0,0,0]'.repeat(7)}.x`, one), nested(10)],
  ['many slices in many segments', at(`$${'[:,:,:,:,:,:,:,:,:,:]'.repeat(7)}.x`, one), nested(10)],
  [
    'a long pattern for many texts',
    at('$[*]', { kind: 'matches', pattern: '[ab]*a[ab]{900}b|b$' }),
    numbers(400).map((index) => `${letters(1_200, index)}b`),
  ],
  [
    'a long pattern for many texts in a filter',
    at("$[?search(@, '[ab]*a[ab]{900}b|c$')]", one),
    numbers(400).map((index) => `${letters(1_200, index)}b`),
  ],
])('stops after the steps that are allowed: %s', (_, expectation, values) => {
  expect(judged(expectation, values)).toMatchObject({
    held: false,
    seen: expect.stringMatching(/: the path takes too many steps|: more text than this pattern can be matched with/),
  });
});

test('explains that one text is too long for any pattern', () => {
  const { seen } = judged(at('$[*]', { kind: 'matches', pattern: '[ab]*a[ab]{900}b' }), ['a'.repeat(100_001)]);
  expect(seen).toBe('a text of 100001 characters, more than the 100000 that are matched');
});

test('explains which path takes too many steps, and what to change', () => {
  const { seen } = judged(at('$[?count($[*])>50000]', one), numbers(5_000));
  expect(seen).toBe('nothing: the path takes too many steps, so search fewer places');
});

test('a common search through the most values succeeds', () => {
  const messages = numbers(1_900).map((index) => ({ type: 'ai', name: `n${index}`, b: [1, 2], c: { d: 1, e: 2 } }));
  expect(judged(at("$..[?@.name == 'n1899'].c.d", one), { messages }).held).toBe(true);
  expect(judged(at("$.messages[?search(@.name, '^n1[0-9]{3}$') && @.c.d == 1].b[0]", one), { messages }).held).toBe(
    true,
  );
});

test('summarizes a hundred thousand nodes with long names', () => {
  const visited = Array.from({ length: 100_000 }, () => 'n'.repeat(500));
  const seen = judged({ kind: 'nodes', order: 'set', nodes: ['a'] }, {}, visited);
  expect(seen.seen.length).toBeLessThan(1200);
});

test('shows one line without control characters or text direction marks', () => {
  const text = 'a\nb\r\u001b[31mred\u009b2J\u2028c\u202etxt.exe\u200bz\ud800';
  for (const value of [text, { [text]: text }, [text]]) {
    const { seen } = judged(at('$', { kind: 'equals', value: 1 }), value);
    expect(seen).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
    expect(seen).toContain('red');
  }
  const failed = judge(requests({ kind: 'status', equals: 'success' }), {
    kind: 'answered',
    status: 'error',
    values: undefined,
    error: { error: 'Boom\u001b[2J', message: 'x\n'.repeat(1000) },
    nodes: [],
    firstEventMs: undefined,
    totalMs: 1,
  });
  expect(failed[0]?.seen).not.toMatch(/[\p{Cc}]/u);
  expect(failed[0]?.seen.length).toBeLessThan(400);
});

test('accepts half a surrogate pair in keys and texts', () => {
  const fits: ValueTest = { kind: 'schema', schema: { additionalProperties: { pattern: 'b' } } };
  expect(judged(at('$', fits), { '\ud800': 'a' })).toMatchObject({
    held: false,
    seen: expect.stringContaining('well-formed'),
  });
  expect(judged(at('$', fits), { a: 'b\ud800' }).held).toBe(true);
  expect(judged(at('$.a', { kind: 'matches', pattern: 'b' }), { a: 'b\ud800' }).held).toBe(true);
});

test('redacts secrets before it truncates, anywhere in an answer', () => {
  const secret = 'sk-canary-/~"\n-0123456789';
  const redact = (text: string) => text.replaceAll(secret, '***');
  const ends = Array.from({ length: 40 }, (_, i) => `${'x'.repeat(170 + i)}${secret}`);
  const tests: ValueTest[] = [
    { kind: 'equals', value: 1 },
    { kind: 'contains', text: 'nothing like it' },
    { kind: 'matches', pattern: '^nothing' },
    { kind: 'schema', schema: { additionalProperties: false, type: 'object', propertyNames: { pattern: '^no' } } },
  ];
  for (const text of [secret, ...ends]) {
    for (const values of [text, { [text]: { [text]: text }, other: text }, [text]]) {
      const expected = [...tests.map((each) => at('$', each)), at('$.*', { kind: 'equals', value: 1 })];
      const held = judge(
        requests(...expected, { kind: 'status', equals: 'success' }, { kind: 'nodes', order: 'set', nodes: ['a'] }),
        {
          kind: 'answered',
          status: 'error',
          values,
          error: { error: text, message: text },
          nodes: [text],
          firstEventMs: 1,
          totalMs: 1,
        },
        redact,
      );
      for (const { seen } of held) expect(seen).not.toContain('sk-');
    }
  }
});

test('judges a secret as it is, and redacts it in the report', () => {
  const answered = {
    kind: 'answered',
    status: 'success',
    values: 'sk-1',
    nodes: [],
    firstEventMs: 1,
    totalMs: 1,
  } as const;
  const held = judge(requests(at('$', { kind: 'equals', value: 'sk-1' })), answered, (text) =>
    text.replaceAll('sk-1', '***'),
  ).at(-1);
  expect(held).toMatchObject({ held: true, seen: '"***"' });
});
