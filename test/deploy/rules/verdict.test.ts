import { describe, expect, test } from 'vitest';
import type { Expectation, SmokeTest, ValueTest } from '../../../src/deploy/file/smoke-test.ts';
import type { Evidence, NamedVerdict, TestVerdict } from '../../../src/deploy/rules/verdict-types.ts';
import { judge } from '../../../src/deploy/rules/judge.ts';
import { concludeAll, concludeTest, nextAttempt } from '../../../src/deploy/rules/verdict.ts';

const requests = (expected: readonly Expectation[], attempts = 3): SmokeTest => ({
  name: 'answers',
  assistant: 'echo',
  thread: false,
  input: {},
  streamModes: ['updates'],
  expect: expected,
  attempts,
  timeoutMs: 1000,
});

type Answer = Extract<Evidence, { kind: 'answered' }>;

const answer = (differs: Partial<Answer> = {}): Answer => ({
  kind: 'answered',
  status: 'success',
  values: { reply: 'hello there', tags: ['a', 'b'], n: 1, messages: [{ content: 'hi' }, { content: 'hello' }] },
  nodes: ['prepare', 'answer'],
  firstEventMs: 100,
  totalMs: 900,
  ...differs,
});

const at = (path: string, test: ValueTest): Expectation => ({ kind: 'value', path, test });
const contains = (text: string): ValueTest => ({ kind: 'contains', text });
const equals = (value: unknown): ValueTest => ({ kind: 'equals', value });
const matches = (pattern: string): ValueTest => ({ kind: 'matches', pattern });
const fits = (schema: Record<string, unknown>): ValueTest => ({ kind: 'schema', schema });
const nodes = (order: 'sequence' | 'set', ...names: string[]): Expectation => ({ kind: 'nodes', order, nodes: names });
const containsJson = (schema: Record<string, unknown>): ValueTest => ({ kind: 'contains-json', schema });
const isJson = (schema: Record<string, unknown>): ValueTest => ({ kind: 'json', schema });

const success: Expectation = { kind: 'status', equals: 'success' };

test.each<[sentence: string, expectation: Expectation, answer: Partial<Answer>, line: string]>([
  ['a requested status holds', success, {}, 'holds: status is success | success'],
  [
    'another status does not hold, and the error is reported',
    success,
    { status: 'error', error: { error: 'BoomError', message: 'boom: yes' } },
    'fails: status is success | error (BoomError: boom: yes)',
  ],
  [
    'a run that the server refuses has no status',
    success,
    { refused: true, error: { error: 'NotFound', message: 'no such assistant' } },
    'fails: status is success | no run: NotFound: no such assistant',
  ],
  [
    'a text that contains the text',
    at('$.reply', contains('hello')),
    {},
    'holds: $.reply contains "hello" | "hello there"',
  ],
  ['a text that does not', at('$.reply', contains('bye')), {}, 'fails: $.reply contains "bye" | "hello there"'],
  ['a list that has the text as a member', at('$.tags', contains('b')), {}, 'holds: $.tags contains "b" | ["a", "b"]'],
  [
    'a list whose members only contain it',
    at('$.messages', contains('hi')),
    {},
    'fails: $.messages contains "hi" | [{"content": "hi"}, {"content": "hello"}]',
  ],
  [
    'a number contains no text',
    at('$.n', contains('1')),
    {},
    'fails: $.n contains "1" | a number, which contains no text: 1',
  ],
  [
    'equal whatever the order of the keys',
    at('$', equals({ b: [1, { c: null }], a: 1 })),
    { values: { a: 1, b: [1, { c: null }] } },
    'holds: $ equals {"b": [1, {"c": null}], "a": 1} | {"a": 1, "b": [1, {"c": null}]}',
  ],
  [
    'not equal where one key is too many',
    at('$', equals({ a: 1 })),
    { values: { a: 1, b: 2 } },
    'fails: $ equals {"a": 1} | {"a": 1, "b": 2}',
  ],
  ['one is not the text of one', at('$.n', equals('1')), {}, 'fails: $.n equals "1" | 1'],
  ['null is found and equals null', at('$.x', equals(null)), { values: { x: null } }, 'holds: $.x equals null | null'],
  ['nothing is found', at('$.nope', equals(null)), {}, 'fails: $.nope equals null | nothing at this path'],
  [
    'a run that brought no values',
    at('$.reply', contains('hello')),
    { values: undefined },
    'fails: $.reply contains "hello" | the run brought no values',
  ],
  [
    'the last message',
    at('$.messages[-1].content', equals('hello')),
    {},
    'holds: $.messages[-1].content equals "hello" | "hello"',
  ],
  [
    'all that is found must hold',
    at('$.messages[*].content', contains('hel')),
    {},
    `fails: $.messages[*].content contains "hel" | $.messages[0].content: "hi"`,
  ],
  [
    'and holds where all do',
    at('$.messages[*].content', contains('h')),
    {},
    `holds: $.messages[*].content contains "h" | $.messages[0].content: "hi"`,
  ],
  [
    'a filter chooses',
    at("$.messages[?match(@.content, 'h.')].content", equals('hi')),
    {},
    `holds: $.messages[?match(@.content, 'h.')].content equals "hi" | "hi"`,
  ],
  [
    'a filter that searches',
    at("$.messages[?search(@.content, 'l{2}')].content", equals('hello')),
    {},
    `holds: $.messages[?search(@.content, 'l{2}')].content equals "hello" | "hello"`,
  ],
  [
    'a pattern is found anywhere',
    at('$.reply', matches('(?i)THERE$')),
    {},
    'holds: $.reply matches (?i)THERE$ | "hello there"',
  ],
  [
    'a pattern that is not found',
    at('$.reply', matches('^there')),
    {},
    'fails: $.reply matches ^there | "hello there"',
  ],
  ['a pattern is for text', at('$.n', matches('1')), {}, 'fails: $.n matches 1 | a number, not text: 1'],
  [
    'a value that fits its schema',
    at('$.n', fits({ type: 'integer', minimum: 1 })),
    {},
    'holds: $.n fits its JSON Schema | 1',
  ],
  [
    'a text of JSON',
    at('$.reply', isJson({ type: 'object' })),
    { values: { reply: '{}' } },
    'holds: $.reply is JSON that fits its JSON Schema | "{}"',
  ],
  [
    'a text that is none',
    at('$.reply', isJson({})),
    {},
    'fails: $.reply is JSON that fits its JSON Schema | no text of JSON ("hello there")',
  ],
  [
    'a text with JSON in it, of which one fits',
    at('$.reply', containsJson({ required: ['b'] })),
    { values: { reply: '{"a":1} {"b":2}' } },
    String.raw`holds: $.reply contains JSON that fits its JSON Schema | "{\"a\":1} {\"b\":2}"`,
  ],
  [
    'a text with JSON in it, of which none fits',
    at('$.reply', containsJson({ type: 'object' })),
    { values: { reply: 'see [1]' } },
    'fails: $.reply contains JSON that fits its JSON Schema | Instance type "array" is invalid. Expected "object". ("see [1]")',
  ],
  [
    'a value that is no text',
    at('$.n', isJson({})),
    {},
    'fails: $.n is JSON that fits its JSON Schema | no text of JSON (1)',
  ],
  [
    'a value that does not, with the place',
    at(
      '$',
      fits({ properties: { messages: { items: { properties: { content: { type: 'string', pattern: '^h[ae]' } } } } } }),
    ),
    {},
    'fails: $ fits its JSON Schema | at /messages/0/content: String does not match pattern. ({"reply": "hello there", "tags": ["a", "b"], "n": 1, "messages": [{"content": "hi"}, {"content": "hello"}]})',
  ],
  [
    'the nodes in their order',
    nodes('sequence', 'prepare', 'answer'),
    {},
    'holds: nodes are prepare → answer | prepare → answer',
  ],
  [
    'not in another order',
    nodes('sequence', 'answer', 'prepare'),
    {},
    'fails: nodes are answer → prepare | prepare → answer',
  ],
  [
    'nor with another one among them',
    nodes('sequence', 'prepare', 'check'),
    {},
    'fails: nodes are prepare → check | prepare → answer',
  ],
  ['nor with one more', nodes('sequence', 'prepare'), {}, 'fails: nodes are prepare | prepare → answer'],
  ['nodes among others, in any order', nodes('set', 'answer'), {}, 'holds: nodes include answer | prepare → answer'],
  [
    'a node that was not visited',
    nodes('set', 'answer', 'check'),
    {},
    'fails: nodes include answer, check | prepare → answer',
  ],
  ['no node was visited', nodes('set', 'answer'), { nodes: [] }, 'fails: nodes include answer | none'],
  ['a first event in time', { kind: 'first-event', withinMs: 100 }, {}, 'holds: first event within 100ms | 100ms'],
  [
    'a first event too late',
    { kind: 'first-event', withinMs: 5000 },
    { firstEventMs: 5001.4 },
    'fails: first event within 5s | 5001ms',
  ],
  [
    'no event at all',
    { kind: 'first-event', withinMs: 5000 },
    { firstEventMs: undefined },
    'fails: first event within 5s | no event arrived',
  ],
  ['all of it in time', { kind: 'total', withinMs: 60_000 }, { totalMs: 2000 }, 'holds: total within 1m | 2s'],
  ['all of it too late', { kind: 'total', withinMs: 1500 }, { totalMs: 2000 }, 'fails: total within 1500ms | 2s'],
])('%s', (_, expectation, differs, line) => {
  const held = judge(requests([expectation]), answer(differs)).at(-1);
  expect(`${held?.held ? 'holds' : 'fails'}: ${held?.expected} | ${held?.seen}`).toBe(line);
});

test.each<[sentence: string, expected: Expectation[], status: Answer['status'], verdict: string]>([
  ['a test that says nothing of the status fails on a run that failed', [], 'error', 'failed'],
  ['also where the values that it left are right', [at('$.reply', contains('hello'))], 'error', 'failed'],
  ['and on an interrupted run', [at('$.reply', contains('hello'))], 'interrupted', 'failed'],
  ['it passes on a finished run', [at('$.reply', contains('hello'))], 'success', 'passed'],
  ['a test that expects an error passes on one', [{ kind: 'status', equals: 'error' }], 'error', 'passed'],
])('%s', (_, expected, status, verdict) => {
  expect(concludeTest(requests(expected, 1), [answer({ status })]).kind).toBe(verdict);
});

test('an unreachable answer holds nothing, and keeps the order of the test', () => {
  const held = judge(requests([success, nodes('set', 'a')]), { kind: 'unreachable', why: 'reset' });
  expect(held.map(({ held, seen, expectation: { kind } }) => [kind, held, seen])).toEqual([
    ['status', false, 'no answer'],
    ['nodes', false, 'no answer'],
  ]);
});

describe('JSON Schema', () => {
  test.each<[sentence: string, schema: Record<string, unknown>, value: unknown, held: boolean]>([
    ['a pattern in one of several', { anyOf: [{ type: 'string', pattern: '^a' }, { type: 'number' }] }, 'abc', true],
    ['a pattern in none of several', { anyOf: [{ type: 'string', pattern: '^b' }, { type: 'number' }] }, 'abc', false],
    ['a pattern says nothing of a number', { pattern: '^b' }, 5, true],
    ['a negated pattern', { not: { pattern: 'b' } }, 'abc', false],
    [
      'names by pattern',
      { patternProperties: { '^x-': { type: 'integer' } }, additionalProperties: false },
      { 'x-a': 1, 'x-b': 2 },
      true,
    ],
    ['a wrong value under such a name', { patternProperties: { '^x-': { type: 'integer' } } }, { 'x-a': 'one' }, false],
    [
      'a name that no pattern allows',
      { patternProperties: { '^x-': {} }, additionalProperties: false },
      { 'x-a': 1, y: 2 },
      false,
    ],
    [
      'a name that two patterns speak of',
      { patternProperties: { a: { minimum: 1 }, '^a$': { maximum: 5 } } },
      { a: 9 },
      false,
    ],
    ['names held to a pattern', { propertyNames: { pattern: '^[a-z]+$' } }, { ab: 1, 'A.b': 2 }, false],
    ['a property that is named pattern', { properties: { pattern: { const: 'x' } } }, { pattern: 'x' }, true],
    ['data that looks like a pattern', { const: { pattern: '^x' } }, { pattern: '^x' }, true],
    ['a reference', { $defs: { id: { pattern: '^[0-9]+$' } }, items: { $ref: '#/$defs/id' } }, ['1', 'x'], false],
    ['letters that mean something in a pattern', { pattern: '\\.\\*\\[' }, 'a.*[(|)]{1}/^$\\?+', true],
    [
      'a reference to what all of them fit',
      { $defs: { n: { pattern: '^1' } }, items: { $ref: '#/$defs/n' } },
      ['1'],
      true,
    ],
    ['a pattern in the syntax of RE2', { pattern: '(?i)^A\\pL' }, 'abc', true],
    ['names by a pattern in the syntax of RE2', { patternProperties: { '(?i)^A': false } }, { abc: 1 }, false],
    ['a null among the values', { properties: { a: { type: 'null' } } }, { a: null }, true],
    ['an empty text for a pattern that nothing matches', { pattern: 'b' }, '', false],
    ['a format', { format: 'email' }, 'no email', false],
    ['a format that is not checked is ignored', { format: 'url' }, 'no url', true],
  ])('%s', (_, schema, value, held) => {
    expect(judge(requests([at('$', fits(schema))]), answer({ values: value })).at(-1)?.held).toBe(held);
  });

  test('judging does not change the schema', () => {
    const schema = { properties: { a: { pattern: '^b' } }, patternProperties: { c: { $ref: '#/properties/a' } } };
    const before = structuredClone(schema);
    judge(requests([at('$', fits(schema))]), answer({ values: { a: 'b', c: 'd' } }));
    expect(schema).toEqual(before);
  });
});

const right = answer();
const wrong = answer({ values: { reply: 'bye' } });
const late = answer({ totalMs: 9000 });
const away: Evidence = { kind: 'unreachable', why: 'connect ECONNREFUSED' };
/** Wrong, and late as well. */
const lateWrong = answer({ values: { reply: 'bye' }, totalMs: 9000 });
const denied: Evidence = { kind: 'unreachable', why: 'answered 401', denied: true };

/** A test that `right` passes, `wrong` fails, and `late` fails by its time alone. */
const polite = (attempts: number) =>
  requests([success, at('$.reply', contains('hello')), { kind: 'total', withinMs: 5000 }], attempts);

const reported = (verdict: TestVerdict): string =>
  verdict.kind === 'unproven' ? `${verdict.because}: ${verdict.why}` : verdict.kind;

test.each<[sentence: string, attempts: Evidence[], verdict: string]>([
  ['a right answer passes', [right], 'passed'],
  ['a wrong answer fails', [wrong], 'failed'],
  ['a late answer fails', [late], 'failed'],
  ['a test without an attempt is unproven', [], 'unreachable: no request was sent'],
  ['an unreachable one is unproven', [away], 'unreachable: no answer in one attempt: connect ECONNREFUSED'],
  ['however often', [away, away, away], 'unreachable: no answer in 3 attempts: connect ECONNREFUSED'],
  ['a caller that is refused is denied', [away, denied], 'denied: the caller is refused: answered 401'],
  ['right answers that agree pass', [right, right], 'passed'],
  [
    'an answer that is wrong and late was no cold start',
    [lateWrong, right],
    'disagreement: 1 of 2 answers was wrong and the other right: $.reply contains "hello", but once it was "bye"',
  ],
  ['a cold start that could not be reached does not count against a right answer', [away, away, right], 'passed'],
  ['nor for a wrong one', [away, wrong, wrong], 'failed'],
  ['a wrong answer stands when nothing could be reached after it', [wrong, away], 'failed'],
  ['wrong answers that agree fail', [wrong, wrong, wrong], 'failed'],
  [
    'a wrong answer and a right one disagree',
    [wrong, right],
    'disagreement: 1 of 2 answers was wrong and the other right: $.reply contains "hello", but once it was "bye"',
  ],
  [
    'in whichever order',
    [right, wrong],
    'disagreement: 1 of 2 answers was wrong and the other right: $.reply contains "hello", but once it was "bye"',
  ],
  [
    'even with a cold start between them',
    [wrong, away, right],
    'disagreement: 1 of 2 answers was wrong and the other right: $.reply contains "hello", but once it was "bye"',
  ],
  ['an answer that was only late before a right one was a cold start', [late, right], 'passed'],
  ['answers that are all late fail', [late, late, late], 'failed'],
  ['late and wrong are no disagreement', [late, wrong], 'failed'],
  [
    'late after a right one is a disagreement',
    [right, late],
    'disagreement: 1 of 2 answers was wrong and the other right: total within 5s, but once it was 9s',
  ],
  [
    'a cold start does not excuse a wrong answer',
    [late, wrong, right],
    'disagreement: 1 of 3 answers was wrong and the others right: $.reply contains "hello", but once it was "bye"',
  ],
])('%s', (_, attempts, verdict) => expect(reported(concludeTest(polite(3), attempts))).toBe(verdict));

test('a first event that is late before a right answer was a cold start', () => {
  const quick = requests([{ kind: 'first-event', withinMs: 100 }]);
  expect(concludeTest(quick, [answer({ firstEventMs: 200 }), right]).kind).toBe('passed');
});

test('a verdict has the times and expectations of its answer', () => {
  const passed = concludeTest(polite(3), [late, answer({ totalMs: 700, firstEventMs: undefined })]);
  expect(passed).toMatchObject({ kind: 'passed', totalMs: 700, firstEventMs: undefined });
  const failed = concludeTest(polite(3), [wrong, late]);
  expect(failed).toMatchObject({
    kind: 'failed',
    totalMs: 900,
    held: [{ held: true }, { held: false, seen: '"bye"' }, { held: true }],
  });
});

test.each<[sentence: string, most: number, attempts: Evidence[], next: 'again' | 'enough']>([
  ['the first attempt is always made', 1, [], 'again'],
  ['what could not be reached is tried again', 3, [away], 'again'],
  ['a caller that is refused is not tried again', 3, [denied], 'enough'],
  ['until no attempt is left', 3, [away, away, away], 'enough'],
  ['a right answer is enough', 3, [right], 'enough'],
  ['a right answer after a cold start is enough', 3, [away, right], 'enough'],
  ['a wrong answer is requested again, to compare it with the next one', 3, [wrong], 'again'],
  ['and again while attempts are left', 3, [wrong, wrong], 'again'],
  ['and no more then', 3, [wrong, wrong, wrong], 'enough'],
  ['a wrong and a right answer disagree already', 5, [wrong, right], 'enough'],
  ['a late answer is requested again', 3, [late], 'again'],
  ['with one attempt a wrong answer is enough', 1, [wrong], 'enough'],
])('%s', (_, most, attempts, next) => expect(nextAttempt(polite(most), attempts)).toBe(next));

const named = (...kinds: TestVerdict['kind'][]): NamedVerdict[] =>
  kinds.map((kind, index) => ({
    name: `test ${index}`,
    attempts: 1,
    verdict:
      kind === 'unproven'
        ? { kind, because: 'unreachable', why: 'reset' }
        : { kind, held: [], firstEventMs: 1, totalMs: 2 },
  }));

test.each<[sentence: string, tests: NamedVerdict[], kind: string]>([
  ['no test proves nothing', [], 'none'],
  ['all passed', named('passed', 'passed'), 'passed'],
  ['one that failed fails all', named('passed', 'unproven', 'failed'), 'failed'],
  ['one that is unproven leaves all unproven', named('passed', 'unproven'), 'unproven'],
])('%s', (_, tests, kind) => expect(concludeAll(tests)).toEqual({ kind, tests }));
