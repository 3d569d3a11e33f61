import { expect, test } from 'vitest';
import { readDesired } from '../../../src/deploy/file/read-desired.ts';
import type { Series } from '../../../src/deploy/file/smoke-test.ts';
import { formatProblem } from '../../../src/kit/diagnostics/problem.ts';

/** Smoke tests as the input of that name: its places count within the text. */
const read = (text: string) => readDesired({ inputs: { name: 'a', source: 'github', 'smoke-tests': text } });

function smokeTests(text: string) {
  const result = read(text);
  if (!result.ok) throw new Error(result.problems.map(formatProblem).join('\n'));
  return result.deployments.flatMap((each) => each.smokeTests);
}

function seen(text: string): string[] {
  const result = read(text);
  return result.ok ? [] : result.problems.map(formatProblem);
}

test('everything that a smoke test can say', () => {
  const text = `
- name: answers politely
  assistant: support
  context: { tone: kind }
  thread: true
  input: { messages: [{ role: user, content: Hi }] }
  stream-modes: [updates, messages-tuple, updates]
  expect:
    status: interrupted
    values:
      - { path: "$.reply", contains: hello, matches: "^[Hh]ello" }
      - { path: "$.count", equals: 3 }
      - { path: "$.nothing", equals: null }
      - path: $
        schema: { type: object, required: [reply] }
    messages:
      - { path: "$[-1].content", contains: hello }
    nodes: { in-order: [prepare, answer], include: [answer] }
    first-event-within: 1500ms
    total-within: 0.5m
  attempts: 5
  timeout: 90s
`;
  expect(smokeTests(text)).toEqual([
    {
      name: 'answers politely',
      assistant: 'support',
      context: { tone: 'kind' },
      thread: true,
      input: { messages: [{ role: 'user', content: 'Hi' }] },
      streamModes: ['updates', 'messages-tuple'],
      expect: [
        { kind: 'status', equals: 'interrupted' },
        { kind: 'value', path: '$.reply', test: { kind: 'contains', text: 'hello' } },
        { kind: 'value', path: '$.reply', test: { kind: 'matches', pattern: '^[Hh]ello' } },
        { kind: 'value', path: '$.count', test: { kind: 'equals', value: 3 } },
        { kind: 'value', path: '$.nothing', test: { kind: 'equals', value: null } },
        { kind: 'value', path: '$', test: { kind: 'schema', schema: { type: 'object', required: ['reply'] } } },
        { kind: 'value', path: '$.messages[-1].content', test: { kind: 'contains', text: 'hello' } },
        { kind: 'nodes', order: 'sequence', nodes: ['prepare', 'answer'] },
        { kind: 'nodes', order: 'set', nodes: ['answer'] },
        { kind: 'first-event', withinMs: 1500 },
        { kind: 'total', withinMs: 30_000 },
      ],
      attempts: 5,
      timeoutMs: 90_000,
    },
  ]);
});

test('defaults: three attempts of a minute, stateless, and the run must succeed', () => {
  expect(smokeTests('- { name: a, assistant: b, input: null }')).toEqual([
    {
      name: 'a',
      assistant: 'b',
      thread: false,
      input: null,
      streamModes: ['updates', 'values'],
      expect: [{ kind: 'status', equals: 'success' }],
      attempts: 3,
      timeoutMs: 60_000,
    },
  ]);
});

test('a pass rate has boundaries that the number of such tests moves', () => {
  const rate = (name: string, more = '') => `- { name: ${name}, assistant: b, input: null, pass-rate: 0.9${more} }\n`;
  const [alone] = smokeTests(rate('a'));
  expect(alone?.series).toMatchObject({
    kind: 'rate',
    passRate: 0.9,
    drop: 0.3,
    tests: 1,
    atOnce: 4,
    boundaries: { maxTries: 98 },
  });
  const many = smokeTests(Array.from({ length: 20 }, (_, index) => rate(`test ${index}`)).join(''));
  const failsAt = (series: Series | undefined) => (series?.kind === 'rate' ? series.boundaries.failsAt : undefined);
  expect(failsAt(many[0]?.series)).toBeGreaterThan(failsAt(alone?.series) ?? Infinity);
  expect(smokeTests(rate('a', ', drop: 0.5, max-tries: 20, tries-at-once: 2'))[0]?.series).toMatchObject({
    drop: 0.5,
    atOnce: 2,
    boundaries: { maxTries: 20 },
  });
  expect(smokeTests('- { name: a, assistant: b, input: null, tries: 5 }')[0]?.series).toEqual({
    kind: 'all-right',
    tries: 5,
    atOnce: 4,
  });
});

test('tests with a pass rate and tests against the live revision share the errors of one suite', () => {
  const named = (name: string, more: string) => `- { name: ${name}, assistant: b, input: null${more} }\n`;
  const mixed = smokeTests(
    named('a', ', pass-rate: 0.9') +
      named('b', ', against: live') +
      named('c', ', pass-rate: baseline') +
      named('d', ''),
  );
  expect(mixed.map(({ series }) => series)).toMatchObject([
    { kind: 'rate', tests: 3 },
    { kind: 'live', tests: 3 },
    { kind: 'live', tests: 3 },
    undefined,
  ]);
});

test.each<[sentence: string, written: string, problem: string]>([
  [
    'too few tries for a verdict',
    'pass-rate: 0.9, max-tries: 12',
    '`smoke-tests[0].max-tries` must allow a verdict, which takes at least 15 answers to pass and 5 to fail. 98 find this drop with 99 %.',
  ],
  [
    'a drop that takes too many tries',
    'pass-rate: 0.9, drop: 0.02',
    '`smoke-tests[0].drop` must be at least 0.08 to be found with 1000 answers; or write `max-tries`, and accept a worse chance',
  ],
  [
    'a drop to nothing',
    'pass-rate: 0.2, drop: 0.3',
    '`smoke-tests[0].drop` must leave a pass rate above 0, and a drop of 0.3 from 0.2 does not',
  ],
  ['a drop without a pass rate', 'drop: 0.3', '`smoke-tests[0].drop` is for a `pass-rate`, which is missing here'],
  [
    'most tries without a pass rate',
    'tries: 3, max-tries: 9',
    '`smoke-tests[0].max-tries` is for a `pass-rate`, which is missing here',
  ],
  [
    'tries beside a pass rate',
    'tries: 3, pass-rate: 0.9',
    '`smoke-tests[0].tries` has no meaning beside a `pass-rate`: write `max-tries` to limit it',
  ],
  [
    'tries at once of one answer',
    'tries-at-once: 3',
    '`smoke-tests[0].tries-at-once` is for `tries` or a `pass-rate`, which are missing here',
  ],
  [
    'a judge without a model',
    'expect: { values: [{ path: $.a, judge: Is kind }] }',
    '`smoke-tests[0].grader` must have a `model` for `judge`',
  ],
  [
    'a judge of several places',
    'grader: { model: m }, expect: { values: [{ path: "$..a", judge: Is kind }] }',
    '`smoke-tests[0].expect.values[0].path` must name one place',
  ],
  [
    'what decides without a model',
    'expect: { values: [{ path: $.a, equals: 1, decides: true }] }',
    '`smoke-tests[0].expect.values[0].decides` is for what a model grades',
  ],
  [
    'a key in place of its name',
    'grader: { model: m, key: sk-abc }',
    '`smoke-tests[0].grader.key` must be the name of an environment variable; never a value',
  ],
  [
    'a grader over plain http',
    'grader: { model: m, base-url: "http://models.example/v1" }',
    '`smoke-tests[0].grader.base-url` is not used: plain http would show the key',
  ],
  [
    'a message without a role',
    'expect: { trajectory: { messages: [{ content: hi }] } }',
    '`smoke-tests[0].expect.trajectory.messages[0]` must be a message',
  ],
])('refuses %s', (_, written, problem) => {
  expect(seen(`- { name: a, assistant: b, input: null, ${written} }`).join('\n')).toContain(problem);
});

test('reports all mistakes of all tests at once', () => {
  const text = `
- { name: a, assistant: b, input: null, pass-rate: 0.9, max-tries: 12 }
- { name: a, assistant: 5, input: null, drop: 0.1 }
- nonsense
- { name: c, assistant: b, tries: 3, pass-rate: 0.9, atempts: 3, answer: $.a, expect: { values: [{ path: $.a, judge: Is kind }] } }
- { name: d, assistant: b, input: null, pass-rate: 0.9, tries: many, expect: [null] }
`;
  expect(seen(text).map((each) => each.replace(/^input:(\d+):\d+: `smoke-tests(.*?)`.*$/s, '$1 $2'))).toEqual([
    '2 [0].max-tries',
    '3 [1].name',
    '3 [1].assistant',
    '3 [1].drop',
    '4 [2]',
    '5 [3].input',
    '5 [3].grader',
    '5 [3].tries',
    '5 [3].atempts',
    '5 [3].answer',
    '6 [4].tries',
    '6 [4].expect',
  ]);
});

test('refuses credentials for other things as the key of a grader', () => {
  const read = (key: string) => seen(`- { name: a, assistant: b, input: null, grader: { model: m, key: ${key} } }`);
  const others = ['GITHUB_TOKEN', 'gh_token', 'ACTIONS_RUNTIME_TOKEN', 'INPUT_API_KEY', 'LANDFALL_API_KEY'];
  for (const key of [...others, 'LANGSMITH_API_KEY']) {
    expect(read(key)).toEqual([
      expect.stringMatching(
        /^input:1:66: `smoke-tests\[0\]\.grader\.key` must not name a credential for something else: /,
      ),
    ]);
  }
  for (const key of ['OPENAI_API_KEY', 'GHOST_KEY', 'MY_GITHUB_TOKEN']) expect(read(key)).toEqual([]);
});

/** The expectations of one test, from column 13 of its first line. */
test.each<[sentence: string, expected: string, problems: string[]]>([
  [
    'a path that is not closed',
    'values: [{ path: "$.a[", equals: 1 }]',
    ['1:30: `smoke-tests[0].expect.values[0].path` must be a JSONPath query (RFC 9535): it breaks at its character 5'],
  ],
  [
    'a path that does not begin with $',
    'values: [{ path: a.b, equals: 1 }]',
    ['1:30: `smoke-tests[0].expect.values[0].path` must be a JSONPath query: begin with `$`, the values of the run'],
  ],
  [
    'a path of a function that there is not',
    'values: [{ path: "$[?nope(@)]", equals: 1 }]',
    ['1:30: `smoke-tests[0].expect.values[0].path` must be a JSONPath query (RFC 9535): it breaks at its character 4'],
  ],
  [
    'a path that searches twice',
    'values: [{ path: "$..a..b", equals: 1 }]',
    ['1:30: `smoke-tests[0].expect.values[0].path` must have `..` at most once'],
  ],
  [
    'a path that is too long',
    `values: [{ path: "$${'.a'.repeat(300)}", equals: 1 }]`,
    ['1:30: `smoke-tests[0].expect.values[0].path` must have at most 500 characters'],
  ],
  [
    'nothing expected at a path',
    'values: [{ path: $ }]',
    [
      '1:22: `smoke-tests[0].expect.values[0]` must say what is expected there: `equals`, `contains`, `matches`, `schema`, `json`, `contains-json`, `similar-to` or `judge`',
    ],
  ],
  [
    'a pattern with a look-ahead',
    'values: [{ path: $, matches: "(?=a)" }]',
    [
      '1:42: `smoke-tests[0].expect.values[0].matches` must be a regular expression of RE2: invalid or unsupported Perl syntax',
    ],
  ],
  [
    'a pattern that unfolds',
    'values: [{ path: $, matches: "([a-z]{1,100}){1,10}" }]',
    ['1:42: `smoke-tests[0].expect.values[0].matches` must be simpler: its repetitions unfold to too many steps'],
  ],
  [
    'a type that there is not',
    'values: [{ path: $, schema: { type: sting } }]',
    [
      '1:49: `smoke-tests[0].expect.values[0].schema.type` must be one of `string`, `number`, `integer`, `boolean`, `object`, `array`, `null`; did you mean `string`?',
    ],
  ],
  [
    'a pattern of a schema',
    'values: [{ path: $, schema: { items: { pattern: "[" } } }]',
    [
      '1:61: `smoke-tests[0].expect.values[0].schema.items.pattern` must be a regular expression of RE2: missing closing ]',
    ],
  ],
  [
    'a name of a schema',
    'values: [{ path: $, schema: { patternProperties: { "[": {} } } }]',
    [
      '1:69: `smoke-tests[0].expect.values[0].schema.patternProperties.[` must be a regular expression of RE2: missing closing ]',
    ],
  ],
  [
    'an empty map of a schema',
    'values: [{ path: $, schema: { patternProperties: } }]',
    ['1:62: `smoke-tests[0].expect.values[0].schema.patternProperties` must be a map of schemas'],
  ],
  [
    'an empty schema in a map of schemas',
    'values: [{ path: $, schema: { properties: { reply: } } }]',
    ['1:55: `smoke-tests[0].expect.values[0].schema.properties` must be a map of schemas'],
  ],
  [
    'an empty schema in a list of schemas',
    'values: [{ path: $, schema: { prefixItems: [null] } }]',
    ['1:56: `smoke-tests[0].expect.values[0].schema.prefixItems` must be a list of schemas'],
  ],
  [
    'an empty schema within a schema',
    'values: [{ path: $, schema: { properties: { a: { items: } } } }]',
    ['1:69: `smoke-tests[0].expect.values[0].schema.properties.a.items` must be a JSON Schema'],
  ],
  [
    'an empty schema in a list of items',
    'values: [{ path: $, schema: { items: [null] } }]',
    ['1:50: `smoke-tests[0].expect.values[0].schema.items` must be a JSON Schema'],
  ],
  [
    'an empty list of required names',
    'values: [{ path: $, schema: { dependentRequired: { a: } } }]',
    ['1:62: `smoke-tests[0].expect.values[0].schema.dependentRequired` must be a map of lists of names'],
  ],
  [
    'an empty list of allowed values',
    'values: [{ path: $, schema: { enum: } }]',
    ['1:49: `smoke-tests[0].expect.values[0].schema.enum` must be a list of values'],
  ],
  [
    'a condition that is no schema, but not in data of an unknown keyword',
    'values: [{ path: $, schema: { if: 1, x-form: { if: text, enum: colors } } }]',
    ['1:47: `smoke-tests[0].expect.values[0].schema.if` must be a JSON Schema'],
  ],
  [
    'one name where a schema lists names',
    'values: [{ path: $, schema: { required: a } }]',
    ['1:53: `smoke-tests[0].expect.values[0].schema.required` must be a list of names'],
  ],
  [
    'one schema where a schema lists several',
    'values: [{ path: $, schema: { prefixItems: {} } }]',
    ['1:56: `smoke-tests[0].expect.values[0].schema.prefixItems` must be a list of schemas'],
  ],
  [
    'a reference to nowhere',
    'values: [{ path: $, schema: { $ref: "#/nope" } }]',
    ['1:41: `smoke-tests[0].expect.values[0].schema` has a `$ref` that leads nowhere'],
  ],
  [
    'a reference to another host',
    'values: [{ path: $, schema: { $ref: "https://a.example/b" } }]',
    ['1:41: `smoke-tests[0].expect.values[0].schema` has a `$ref` that leads nowhere'],
  ],
  [
    'a reference to itself',
    'values: [{ path: $, schema: { $ref: "#" } }]',
    ['1:41: `smoke-tests[0].expect.values[0].schema` has references that lead round in a circle'],
  ],
  [
    'a duration without a unit',
    'total-within: 5',
    ['1:27: `smoke-tests[0].expect.total-within` must be a duration such as `1500ms`, `5s` or `2m`'],
  ],
  [
    'a duration of nothing',
    'total-within: 0s',
    ['1:27: `smoke-tests[0].expect.total-within` must be a duration from 1ms to 1h'],
  ],
  [
    'another status',
    'status: succes',
    ['1:21: `smoke-tests[0].expect.status` must be one of `success`, `error`, `interrupted`; did you mean `success`?'],
  ],
  ['no nodes', 'nodes: {}', ['1:20: `smoke-tests[0].expect.nodes` must have `in-order` or `include`']],
  [
    'an expectation that is not known',
    'totl-within: 5s',
    ['1:13: `smoke-tests[0].expect.totl-within` is not known; did you mean `total-within`?'],
  ],
])('%s', (_, expected, problems) => {
  const rest = ', name: a, assistant: b, input: {} }';
  expect(seen(`- {expect: {${expected}}${rest}`)).toEqual(problems.map((problem) => `input:${problem}`));
});

test.each<[sentence: string, text: string, problems: string[]]>([
  ['no list', 'name: a', ['1:1: `smoke-tests` must be a list, not a map']],
  [
    'a name twice',
    '- { name: a, assistant: b, input: {} }\n- { name: a, assistant: c, input: {} }',
    ['2:11: `smoke-tests[1].name` is the name of another smoke test too'],
  ],
  [
    'the name that reports give to conversations',
    '- { name: conversations, assistant: b, input: {} }',
    ['1:11: `smoke-tests[0].name` is the name under which `conversations` are reported'],
  ],
  [
    'no attempt',
    '- { name: a, assistant: b, input: {}, attempts: 0 }',
    ['1:49: `smoke-tests[0].attempts` must be at least 1'],
  ],
  [
    'too long a time',
    '- { name: a, assistant: b, input: {}, timeout: 2h }',
    ['1:48: `smoke-tests[0].timeout` must be a duration from 100ms to 30m'],
  ],
  [
    'a mode that there is not',
    '- { name: a, assistant: b, input: {}, stream-modes: [update] }',
    [
      '1:54: `smoke-tests[0].stream-modes[0]` must be one of `values`, `updates`, `messages`, `messages-tuple`, `events`, `debug`, `tasks`, `checkpoints`, `custom`, `tools`; did you mean `updates`?',
    ],
  ],
  [
    'text that is no YAML',
    '- { name: a',
    ['1:12: `smoke-tests`: flow map in block collection must be sufficiently indented and end with a }'],
  ],
])('%s', (_, text, problems) => expect(seen(text)).toEqual(problems.map((problem) => `input:${problem}`)));

test.each([
  ['$[-1].content', '$.messages[-1].content'],
  ['$[?@.id == $[0].id].content', '$.messages[?@.id == $.messages[0].id].content'],
  [
    "$[?@.content == '$5 for \\'$\\'' || @.content == \"$\"]",
    "$.messages[?@.content == '$5 for \\'$\\'' || @.content == \"$\"]",
  ],
])('in messages %s is %s', (written, path) => {
  const text = JSON.stringify([
    { name: 'a', assistant: 'a', input: {}, expect: { messages: [{ path: written, contains: 'x' }] } },
  ]);
  expect(smokeTests(text)[0]?.expect[1]).toMatchObject({ path });
});
