import { describe, expect, test } from 'vitest';
import { readDesired, readPushed } from '../../../src/deploy/file/read-desired.ts';
import { judge } from '../../../src/deploy/rules/judge.ts';
import { formatProblem } from '../../../src/kit/diagnostics/problem.ts';

/** Reads a deployment whose one smoke test, of these further fields, names a file of this text. */
function read(cases: string, { fields = '', file = 'cases.yaml' } = {}) {
  const text = `name: a
source: github
smoke-tests:
  - name: t
    assistant: support
    cases: ${file}
${fields.replaceAll(/^/gm, '    ')}
`;
  const files = {
    read: (path: string) => (path === file ? { text: cases } : { why: 'names a file that is not there' }),
  };
  return readDesired({ inputs: {}, file: { text, path: 'landfall.yml' }, cases: files });
}

function tests(...args: Parameters<typeof read>) {
  const result = read(...args);
  if (!result.ok) throw new Error(result.problems.map(formatProblem).join('\n'));
  return result.deployments.flatMap(({ smokeTests }) => smokeTests);
}

function problems(...args: Parameters<typeof read>): string[] {
  const result = read(...args);
  return result.ok ? [] : result.problems.map(formatProblem);
}

const success = { kind: 'status', equals: 'success' };
const at = (path: string, held: object) => ({ kind: 'value', path, test: held });
const answer = (held: object) => at('$.messages[-1].content', held);

describe('rows of ours', () => {
  const fields =
    'attempts: 2\ncontext: { tone: kind }\nexpect: { total-within: 5s, values: [{ path: $.a, equals: 1 }] }';

  test('become a test each, with everything else from the test that names the file', () => {
    const rows = `{"name":"first","input":{"q":1}}

{"id":7,"input":2,"context":{"tone":"curt"},"expect":{"values":[{"path":"$.b","contains":"x"}]}}
{"input":null}
`;
    const common = { assistant: 'support', thread: false, attempts: 2, timeoutMs: 60_000 };
    const total = { kind: 'total', withinMs: 5000 };
    expect(tests(rows, { fields, file: 'data/cases.jsonl' })).toMatchObject([
      {
        ...common,
        name: 't: first',
        input: { q: 1 },
        context: { tone: 'kind' },
        expect: [success, at('$.a', { kind: 'equals', value: 1 }), total],
      },
      {
        ...common,
        name: 't: 7',
        input: 2,
        context: { tone: 'curt' },
        expect: [success, at('$.b', { kind: 'contains', text: 'x' }), total],
      },
      { ...common, name: 't: 3', input: null },
    ]);
  });

  test('share the error rates of a suite', () => {
    const [first] = tests('- input: 1\n- input: 2\n', { fields: 'pass-rate: 0.9' });
    expect(first?.series).toMatchObject({ kind: 'rate', tests: 2 });
  });

  test.each<[what: string, rows: string, problem: string, file?: string]>([
    ['no input', '- input: 1\n- name: b', 'cases.yaml:2:3: `[1].input` is missing'],
    [
      'a key',
      '- { input: 1, expects: {} }',
      'cases.yaml:1:15: `[0].expects` is not supported here: remove it; did you mean `expect`?',
    ],
    ['a row', '- { input: 1 }\n- text', 'cases.yaml:2:3: `[1]` must be a map, not text'],
    [
      'an expectation',
      '{"input":1}\n\n{"input":1,"expect":{"values":[{"path":"$.a","matches":"("}]}}',
      'cases.jsonl:3:56: `expect.values[0].matches` must be a regular expression of RE2',
      'cases.jsonl',
    ],
    [
      'a key of an expectation',
      '- { input: 1, expect: { mood: good } }',
      'cases.yaml:1:25: `[0].expect.mood` is not known',
    ],
    [
      'a name twice',
      '- { name: b, input: 1 }\n- { name: b, input: 1 }',
      'cases.yaml:2:11: `[1].name` is the name of another smoke test too',
    ],
    ['a line', '{"input":1}\n{"input":}', 'cases.jsonl:2:10: ', 'cases.jsonl'],
  ])('with a mistake in %s are refused at their line', (_, rows, problem, file = 'cases.yaml') => {
    expect(problems(rows, { file })).toEqual([expect.stringContaining(problem)]);
  });

  test('report a mistake of the test itself once', () => {
    expect(problems('- input: 1\n- input: 2', { fields: 'attempts: 50' })).toEqual([
      'landfall.yml:7:15: `smoke-tests[0].attempts` must be at most 20',
    ]);
  });
});

describe("promptfoo's tests", () => {
  const fields = `input: { messages: [{ role: user, content: 'Say {{word}}, {{ n }} times' }], n: '{{n}}' }`;

  test('fill the input with their vars', () => {
    const file = `prompts: ['{{word}}']
providers: [openai:gpt-4]
defaultTest: { vars: { n: 2 }, assert: [{ type: contains, value: x }] }
tests:
  - description: a greeting
    vars: { word: hi }
    assert: [{ type: equals, value: '{{word}} {{word}}', metric: m }]
  - vars: { word: no, n: 3 }
`;
    expect(tests(file, { fields })).toMatchObject([
      {
        name: 't: a greeting',
        input: { messages: [{ role: 'user', content: 'Say hi, 2 times' }], n: 2 },
        expect: [success, answer({ kind: 'contains', text: 'x' }), answer({ kind: 'equals', value: 'hi hi' })],
      },
      {
        name: 't: 2',
        input: { messages: [{ role: 'user', content: 'Say no, 3 times' }], n: 3 },
        expect: [success, answer({ kind: 'contains', text: 'x' })],
      },
    ]);
  });

  test.each<[assertion: string, expected: object]>([
    ['{ type: equals, value: a }', { kind: 'equals', value: 'a' }],
    ['{ type: equals, value: 4 }', { kind: 'schema', schema: { enum: [4, '4'] } }],
    ['{ type: contains, value: a.b }', { kind: 'contains', text: 'a.b' }],
    ['{ type: icontains, value: a.b }', { kind: 'matches', pattern: String.raw`(?i)a\.b` }],
    ['{ type: regex, value: ^a }', { kind: 'matches', pattern: '^a' }],
    ['{ type: starts-with, value: $5 }', { kind: 'matches', pattern: String.raw`^\$5` }],
    ['{ type: contains-any, value: [a, b+] }', { kind: 'matches', pattern: String.raw`(a|b\+)` }],
    [
      '{ type: icontains-all, value: [a, b] }',
      { kind: 'schema', schema: { type: 'string', allOf: [{ pattern: '(?i)a' }, { pattern: '(?i)b' }] } },
    ],
    ['{ type: not-equals, value: a }', { kind: 'schema', schema: { not: { const: 'a' } } }],
    [
      '{ type: not-contains, value: a.b }',
      { kind: 'schema', schema: { not: { type: 'string', pattern: String.raw`a\.b` } } },
    ],
    ['{ type: not-regex, value: ^a }', { kind: 'schema', schema: { not: { type: 'string', pattern: '^a' } } }],
  ])('hold the answer to %s', (assertion, expected) => {
    const [only] = tests(`- { vars: {}, assert: [${assertion}] }`, { fields: 'input: 1\nanswer: $.reply' });
    expect(only?.expect).toEqual([success, at('$.reply', expected)]);
  });

  test('hold the whole answer to the shortest latency', () => {
    const file = `defaultTest: { assert: [{ type: latency, threshold: 9000 }] }
tests: [{ vars: {}, assert: [{ type: latency, threshold: 1500 }] }]`;
    const [only] = tests(file, { fields: 'input: 1\nexpect: { total-within: 1m }' });
    expect(only?.expect).toEqual([success, { kind: 'total', withinMs: 1500 }]);
  });

  test.each<[assertion: string, right: unknown, wrong: unknown]>([
    ['{ type: equals, value: 4 }', '4', '5'],
    ['{ type: icontains, value: A.b }', 'xa.Bx', 'aab'],
    ['{ type: contains-any, value: [a, b+] }', 'xb+', 'bb'],
    ['{ type: contains-all, value: [a, b] }', 'bxa', 'bxb'],
    ['{ type: icontains-all, value: [a, b] }', 'BxA', 'BxB'],
    ['{ type: not-equals, value: 4 }', '5', '4'],
    ['{ type: not-contains, value: a.b }', 'aab', 'a.b'],
    ['{ type: not-icontains, value: a }', 'b', 'xAx'],
    ['{ type: not-regex, value: ^a }', 'ba', 'ab'],
    ['{ type: not-starts-with, value: a }', 'ba', 'ab'],
    ['{ type: not-contains-all, value: [a, b] }', 'a', 'ab'],
    ['{ type: is-json }', '[1]', '[1'],
    ['{ type: is-json, value: { type: object, required: [a] } }', '{"a":1}', '{"b":1}'],
    ['{ type: contains-json }', 'Here [it] is: ```{"a":"}"}```', 'a { b } [c] 1 {"a":'],
    ['{ type: contains-json, value: { required: [b] } }', 'both {"a":1} and {"b":[]}', '{"a":{"b":1}}'],
  ])('decide as promptfoo does by %s', (assertion, right, wrong) => {
    const [only] = tests(`- { vars: {}, assert: [${assertion}] }`, { fields: 'input: 1\nanswer: $.reply' });
    const held = (reply: unknown) =>
      only &&
      judge(only, {
        kind: 'answered',
        status: 'success',
        values: { reply },
        nodes: [],
        firstEventMs: 1,
        totalMs: 1,
      }).every((each) => each.held);
    expect([held(right), held(wrong)]).toEqual([true, false]);
  });

  test('have judges that advise, where the smoke test names a grader', () => {
    const file =
      '- assert: [{ type: llm-rubric, value: "kind to {{who}}" }, { type: similar, value: hi, threshold: 0.9 }]\n  vars: { who: Ada }';
    const fields = 'input: "{{who}}"\ngrader: { model: m, embedding-model: e, key: MODEL_KEY }';
    const grader = { baseUrl: 'https://api.openai.com/v1', key: 'MODEL_KEY', timeoutMs: 30_000 };
    const graded = { kind: 'graded', path: '$.messages[-1].content', decides: false };
    expect(tests(file, { fields })[0]?.expect.slice(1)).toEqual([
      { ...graded, grading: { kind: 'judge', criterion: 'kind to Ada' }, grader: { ...grader, model: 'm' } },
      { ...graded, grading: { kind: 'meaning', text: 'hi', atLeast: 0.9 }, grader: { ...grader, model: 'e' } },
    ]);
  });

  test('leave out what has no counterpart only where that is said', () => {
    const file =
      '- assert: [{ type: javascript, value: x }, { type: contains, value: hi }, { type: rouge-n, value: y }]';
    expect(tests(file, { fields: 'input: 1\nskip-unmapped: true' })[0]?.expect.slice(1)).toEqual([
      answer({ kind: 'contains', text: 'hi' }),
    ]);
    expect(problems(file, { fields: 'input: 1\nskip-unmapped: [javascript]' })).toEqual([
      expect.stringContaining('is of the type `rouge-n`, which is not supported'),
    ]);
  });

  test('name what is left out in a note of the deployment, once for each file', () => {
    const assertions = (...types: string[]) => `assert: [${types.map((type) => `{ type: ${type}, value: x }`).join()}]`;
    const notes = (...rows: string[]) => {
      const file = rows.map((row) => `- { ${row} }\n`).join('');
      const result = read(file, { fields: 'input: 1\nskip-unmapped: true' });
      return result.ok ? result.deployments[0]?.notes : result.problems;
    };
    expect(notes(assertions('contains'))).toBeUndefined();
    expect(notes(assertions('javascript'))).toEqual(['1 check of cases.yaml is not run: javascript']);
    expect(notes(assertions('javascript', 'rouge-n'), assertions('javascript'))).toEqual([
      '3 checks of cases.yaml are not run: javascript, rouge-n',
    ]);
    const many = Array.from({ length: 12 }, (_, at) => `type-${at}`);
    expect(notes(assertions(...many))).toEqual([expect.stringMatching(/^12 checks .*type-9, and others$/)]);
  });

  test('report a mistake of their defaults once', () => {
    const file = 'defaultTest: { assert: [{ type: toString }] }\ntests: [{ vars: {} }, { vars: {} }]';
    expect(problems(file, { fields: 'input: 1' })).toEqual([
      expect.stringContaining('cases.yaml:1:25: `defaultTest.assert[0]` is of the type `toString`'),
    ]);
  });

  test.each<[what: string, row: string, problem: string]>([
    [
      'a judge without a grader',
      'assert: [{ type: llm-rubric, value: kind }]',
      '`[0].assert[0]` needs a `grader` with `model` in the smoke test, or `skip-unmapped`',
    ],
    [
      'a negation of JSON',
      'assert: [{ type: not-contains-json }]',
      '`[0].assert[0]` is of the type `not-contains-json`',
    ],
    ['code', 'assert: [{ type: javascript, value: x }]', '`[0].assert[0]` is of the type `javascript`, which'],
    ['a set', 'assert: [{ type: assert-set, assert: [] }]', '`[0].assert[0]` is of the type `assert-set`, which'],
    [
      'a weight',
      'assert: [{ type: equals, value: a, weight: 2 }]',
      '`[0].assert[0].weight` is not supported here: remove it',
    ],
    ['a pattern', "assert: [{ type: regex, value: '(?=a)' }]", '`[0].assert[0]'],
    ['a file', 'assert: [{ type: equals, value: file://a.txt }]', '`[0].assert[0].value` is a file'],
    ['an expression', "assert: [{ type: equals, value: '{% if a %}' }]", '`[0].assert[0].value` is not read: only'],
    ['no value', 'assert: [{ type: contains }]', '`[0].assert[0].value` is not what an assertion of this type takes'],
    ['several values', 'vars: { word: [a, b], n: 1 }', '`[0].vars.word` is a list'],
    ['options', 'vars: { word: a, n: 1 }, options: {}', '`[0].options` is not supported here: remove it'],
  ])('with %s are refused at their line', (_, row, problem) => {
    const vars = row.startsWith('vars') ? '' : 'vars: { word: a, n: 1 }, ';
    expect(problems(`# tests\n- { ${vars}${row} }`, { fields })).toContainEqual(
      expect.stringMatching(/^cases\.yaml:2:\d+: /),
    );
    expect(problems(`# tests\n- { ${vars}${row} }`, { fields })).toContainEqual(expect.stringContaining(problem));
  });

  test('need an input, and every var that it refers to', () => {
    expect(problems('- vars: { word: a }')).toEqual([
      expect.stringContaining('cases.yaml:1:9: `[0].vars` needs an `input`'),
    ]);
    expect(problems('- vars: { word: a }', { fields })).toContainEqual(
      expect.stringContaining('`[0].vars` does not fit the smoke test'),
    );
  });
});

test("LangSmith's examples give the input, and their outputs what is expected", () => {
  const examples = [
    { id: 'e1', inputs: { q: 1 }, outputs: { reply: 'yes' }, metadata: { split: 'base' } },
    { id: 'e2', inputs: { q: 2 }, outputs: { topic: 'refunds', "it's": [1] } },
    { id: 'e3', inputs: { q: 3 }, outputs: null },
  ];
  const expected = [
    { name: 't: e1', input: { q: 1 }, expect: [success, answer({ kind: 'equals', value: 'yes' })] },
    {
      name: 't: e2',
      input: { q: 2 },
      expect: [
        success,
        at('$["topic"]', { kind: 'equals', value: 'refunds' }),
        at(`$["it's"]`, { kind: 'equals', value: [1] }),
      ],
    },
    { name: 't: e3', input: { q: 3 }, expect: [success] },
  ];
  const lines = examples.map((each) => JSON.stringify(each)).join('\n');
  expect(tests(lines, { file: 'e.jsonl' })).toMatchObject(expected);
  expect(tests(JSON.stringify(examples, null, 2), { file: 'e.json' })).toMatchObject(expected);
});

describe('a file of cases', () => {
  test.each<[what: string, text: string, problem: string]>([
    ['of another format', '- question: a\n- question: b', 'cases.yaml: this has no cases in a format that is read'],
    ['of text', 'hello', 'cases.yaml: this has no cases in a format that is read'],
    ['that is empty', '', 'cases.yaml: this has no cases in a format that is read'],
    ['of too many rows', '- input: 1\n'.repeat(101), 'cases.yaml: this has 101 cases, and 100 are allowed'],
    ['of too many lines', '{"input":1}\n'.repeat(101), 'cases.yaml: this has 101 cases, and 100 are allowed'],
    ['that is too long', `- input: ${'a'.repeat(1_000_000)}`, 'cases.yaml: this is longer than 1000000 characters'],
  ])('%s is refused', (_, text, problem) => {
    expect(problems(text)).toEqual([expect.stringContaining(problem)]);
  });

  test.each([
    ['YAML', `- input: ${'a'.repeat(70_000)}`, 'cases.yaml'],
    ['YAML by another name', `- input: ${'a'.repeat(70_000)}`, 'cases.txt'],
  ])('of more than 64 KiB of %s is refused, with what to write instead', (_, text, file) => {
    expect(problems(text, { file })).toEqual([
      `${file}: this is longer than 65536 characters, which is too long for YAML: split it, or write its cases as JSON lines, one case a line`,
    ]);
  });

  test.each([
    ['JSON', JSON.stringify([{ input: 'a'.repeat(500_000) }], null, 2), 'cases.json'],
    ['JSON by its look', JSON.stringify([{ input: 'a'.repeat(500_000) }], null, 2), 'cases.txt'],
    ['JSON lines', `{"input":"${'a'.repeat(500_000)}"}\n{"input":1}\n`, 'cases.jsonl'],
    ['one JSON line', `{"input":"${'a'.repeat(500_000)}"}`, 'cases.jsonl'],
    ['JSON lines by their look', `{"input":"${'a'.repeat(500_000)}"}\n\n{"input":1}`, 'cases'],
  ])('of more than 64 KiB of %s is read', (_, text, file) => {
    expect(tests(text, { file }).length).toBeGreaterThan(0);
  });

  test('of JSON lines names the line that is broken', () => {
    expect(problems('{"input":1}\n{"input":\n', { file: 'cases.jsonl' })).toEqual([
      'cases.jsonl:2:9: this is not JSON: it ends too early',
    ]);
  });

  test.each([
    ['/etc/cases.yaml', " is relative to the repository's root"],
    ['../cases.yaml', ': may not lead out of the repository'],
    ['absent.yaml', ' names a file that is not there'],
  ])('at %s is refused', (path, problem) => {
    const text = `name: a\nsource: github\nsmoke-tests: [{ name: t, assistant: a, cases: ${path} }]`;
    const files = { read: () => ({ why: 'names a file that is not there' }) };
    const result = readDesired({ inputs: {}, file: { text, path: 'landfall.yml' }, cases: files });
    expect(result.ok ? [] : result.problems.map(formatProblem)).toEqual([
      `landfall.yml:3:47: \`smoke-tests[0].cases\`${problem}`,
    ]);
  });

  test('is refused where nothing reads it, and does not affect another deployment', () => {
    const text = 'deployments:\n  a: { smoke-tests: [{ name: t, assistant: a, cases: c.yaml }] }\n  b: {}';
    const result = readPushed({ text, path: 'landfall.yml' });
    expect(result).toMatchObject({
      deployments: [
        { name: 'a', read: { ok: false } },
        { name: 'b', read: { ok: true } },
      ],
    });
  });

  test.each([
    ['of very many values', '- 1\n'.repeat(16_000), 'this has 16000 cases'],
    [
      'of a few vars in very many places',
      `[{ "vars": { "a": "${'x'.repeat(90_000)}" } }]`,
      'more than 100000 characters of vars',
    ],
  ])('%s is refused', (_, text, problem) => {
    expect(problems(text, { fields: `input: '${'{{a}} '.repeat(2_000)}'` })).toEqual([
      expect.stringContaining(problem),
    ]);
  });

  test('is what `answer` is for', () => {
    const text = 'name: a\nsource: github\nsmoke-tests: [{ name: t, assistant: a, input: 1, answer: $.a }]';
    const result = readDesired({ inputs: {}, file: { text, path: 'landfall.yml' } });
    expect(result).toMatchObject({ ok: false, problems: [{ message: expect.stringContaining('is for `cases`') }] });
  });
});
