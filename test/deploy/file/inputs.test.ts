import { describe, expect, test } from 'vitest';
import { readRequested, readDesired, type RequestInput } from '../../../src/deploy/file/read-desired.ts';
import { formatProblem } from '../../../src/kit/diagnostics/problem.ts';

const env = { OPENAI_API_KEY: 'sk-1', PROD_KEY: 'sk-2' };

function seen(requested: RequestInput): string[] {
  const result = readDesired({ env, ...requested });
  return result.ok ? [] : result.problems.map(formatProblem);
}

function deployments(requested: RequestInput) {
  const result = readDesired({ env, ...requested });
  if (!result.ok) throw new Error(result.problems.map(formatProblem).join('\n'));
  return result.deployments;
}

const github = {
  name: 'support',
  source: 'github',
  'repo-url': 'https://github.com/acme/agents',
  'repo-ref': 'main',
  'graph-config-path': 'langgraph.json',
};

test('the same words as inputs and as a file lead to the same deployment', () => {
  const file = `
name: support
source: github
repo-url: https://github.com/acme/agents
repo-ref: main
graph-config-path: langgraph.json
build-on-push: false
secrets: [OPENAI_API_KEY, OTHER=PROD_KEY]
smoke-tests: [{ name: greets, assistant: support, input: {} }]
conversations: { newest: 5, message: Hello, timeout: 2m }
verify: after-traffic
on-failure: rollback
`;
  const inputs = {
    ...github,
    'build-on-push': 'False',
    secrets: 'OPENAI_API_KEY\nOTHER=PROD_KEY',
    'smoke-tests': '- { name: greets, assistant: support, input: {} }',
    conversations: '{ newest: 5, message: Hello, timeout: 2m }',
    verify: 'after-traffic',
    'on-failure': 'rollback',
  };
  expect(deployments({ inputs })).toEqual(deployments({ inputs: {}, file: { text: file, path: 'f' } }));
});

test('an empty input is one that was not given, and spaces around one mean nothing', () => {
  const inputs = { ...github, 'repo-ref': '  main \n', 'image-uri': '', 'resource-spec': '  \n', 'build-on-push': '' };
  expect(deployments({ inputs })).toEqual(deployments({ inputs: github }));
});

test('ignores inputs of the entry point', () => {
  expect(deployments({ inputs: { ...github, 'api-key': 'k', mode: 'plan', wait: 'true' } })).toHaveLength(1);
});

test.each<[text: string, value: boolean | undefined]>([
  ['true', true],
  ['True', true],
  ['TRUE', true],
  ['false', false],
  ['False', false],
  ['FALSE', false],
  ['', undefined],
])('build-on-push: %j is %s', (text, value) => {
  const [first] = deployments({ inputs: { ...github, 'build-on-push': text } });
  expect(first?.desired).toEqual({ ...first?.desired, ...(value === undefined ? {} : { buildOnPush: value }) });
});

test.each<[sentence: string, inputs: Record<string, string>, problems: string[]]>([
  [
    'yes is no boolean',
    { ...github, 'build-on-push': 'yes' },
    ['input:1:1: `build-on-push` must be `true` or `false`, not text'],
  ],
  [
    'lines of secrets, with the line of the wrong one',
    { ...github, secrets: '\n# keys\n  OPENAI_API_KEY  # the first\n\n  NOT_SET\r\n  PORT=PROD_KEY' },
    [
      'input:5:3: `secrets[1]` takes its value from the environment variable NOT_SET, which is not set',
      'input:6:3: `secrets[2]` cannot be PORT: the platform sets that variable itself',
    ],
  ],
  [
    'resources as text, with the line of the wrong one',
    { name: 'a', 'image-uri': 'a:1', 'resource-spec': 'min-scale: 1\ncpu: 99' },
    ['input:2:6: `resource-spec.cpu` must be at most 8'],
  ],
  [
    'resources as JSON',
    { name: 'a', 'image-uri': 'a:1', 'resource-spec': '{\n "cpu": 99}' },
    ['input:2:9: `resource-spec.cpu` must be at most 8'],
  ],
  [
    'an input of the other source',
    { ...github, 'image-uri': 'a:1' },
    ['input:1:1: `image-uri` belongs to the source `external_docker`, `internal_docker`, not to `github`'],
  ],
  [
    'inputs that contradict each other',
    { name: 'a', 'repo-url': 'https://github.com/a/b', 'image-uri': 'a:1' },
    ['input:1:1: `image-uri` belongs to the source `external_docker`, `internal_docker`, not to `github`'],
  ],
  [
    'a tag that is built on push',
    { ...github, 'repo-ref': 'refs/tags/v1', 'build-on-push': 'true' },
    ['input:1:1: `build-on-push` must be false where `repo-ref` is a tag'],
  ],
  [
    'every problem at once',
    { ...github, 'repo-ref': 'heads/main', secrets: 'NOT_SET', 'smoke-tests': '[', rebuild: 'allways' },
    [
      'input:1:2: `smoke-tests`: flow sequence must end with a ]',
      'input:1:1: `repo-ref` must be a branch as its plain name or `refs/heads/NAME`, or a tag as `refs/tags/NAME`; a single commit is not supported; did you mean `main`?',
      'input:1:1: `rebuild` must be one of `auto`, `always`, `never`; did you mean `always`?',
      'input:1:1: `secrets[0]` takes its value from the environment variable NOT_SET, which is not set',
    ],
  ],
])('%s', (_, inputs, problems) => expect(seen({ inputs }).toSorted()).toEqual(problems.toSorted()));

test('every problem of an input names the input', () => {
  const result = readDesired({
    env,
    inputs: { ...github, 'resource-spec': 'x', 'smoke-tests': '- name: 5', secrets: 'NOT_SET' },
  });
  expect(result.ok ? [] : result.problems.map(({ file, field }) => [file, field])).toEqual(
    expect.arrayContaining([
      ['input', 'resource-spec'],
      ['input', 'smoke-tests[0].name'],
      ['input', 'secrets[0]'],
    ]),
  );
});

describe('where nothing is named', () => {
  const nothing =
    'input:1:1: nothing says which deployment is meant: write .github/landfall.yml, or give the inputs, for example `name: support`, `source: github`, `repo-url: https://github.com/acme/agents`, `repo-ref: main` and `graph-config-path: langgraph.json`';
  test.each<[sentence: string, inputs: Record<string, string>, problems: string[]]>([
    ['neither a file nor an input', {}, [nothing]],
    ['inputs without a name', { source: 'github', 'repo-ref': 'main' }, [nothing]],
    ['the default path, where there is no file', { config: '.github/landfall.yml' }, [nothing]],
    ['the default path is fine where the inputs suffice', { ...github, config: '.github/landfall.yml' }, []],
    [
      'another path, where there is no file',
      { ...github, config: 'deploy/landfall.yml' },
      ['input:1:1: there is no file at the path that `config` gives'],
    ],
    [
      'a choice without a file to choose from',
      { deployment: 'support' },
      [
        'input:1:1: `deployment` chooses from a deploy file, and there is no .github/landfall.yml: write one, or give the input `name` instead',
      ],
    ],
  ])('%s', (_, inputs, problems) => expect(seen({ inputs })).toEqual(problems));
});

describe('a file and inputs beside it', () => {
  const two = {
    path: 'f.yml',
    text: 'deployments:\n  support: { source: github, repo-ref: main, rebuild: always }\n  billing: { source: github, repo-ref: main, name: billing-prod }',
  };
  const one = { path: 'f.yml', text: 'deployments:\n  support: { source: github, repo-ref: main, rebuild: always }' };
  const refs = (requested: RequestInput) =>
    deployments(requested).map(({ desired }) => [desired.name, desired.source === 'github' && desired.repoRef]);

  test.each<[sentence: string, requested: RequestInput, read: unknown[]]>([
    [
      'no input: all of the file',
      { inputs: {}, file: two },
      [
        ['support', 'main'],
        ['billing-prod', 'main'],
      ],
    ],
    ['one is chosen by its key', { inputs: { deployment: 'billing' }, file: two }, [['billing-prod', 'main']]],
    ['or by its name', { inputs: { deployment: 'billing-prod' }, file: two }, [['billing-prod', 'main']]],
    [
      'an input wins over the field of the chosen one',
      { inputs: { deployment: 'support', 'repo-ref': 'next' }, file: two },
      [['support', 'next']],
    ],
    ['and over that of the only one', { inputs: { 'repo-ref': 'next' }, file: one }, [['support', 'next']]],
  ])('%s', (_, requested, read) => expect(refs(requested)).toEqual(read));

  test('what no input says stays as the file has it', () => {
    expect(deployments({ inputs: { 'repo-ref': 'next' }, file: one })).toMatchObject([
      { desired: { rebuild: 'always' } },
    ]);
  });

  test.each<[sentence: string, requested: RequestInput, problems: string[]]>([
    [
      'an input cannot speak of many deployments',
      { inputs: { 'repo-ref': 'next', 'on-failure': 'keep' }, file: two },
      [
        'input:1:1: `on-failure`, `repo-ref` cannot speak of all deployments of the file: choose one with `deployment`, of `support`, `billing-prod`',
      ],
    ],
    [
      'a choice that the file does not have',
      { inputs: { deployment: 'suport' }, file: two },
      [
        'input:1:1: the deploy file has no deployment of the name that `deployment` gives; it has `support`, `billing-prod`; did you mean `support`?',
      ],
    ],
    [
      'an input that contradicts the file',
      { inputs: { 'image-uri': 'a:1' }, file: one },
      ['input:1:1: `image-uri` belongs to the source `external_docker`, `internal_docker`, not to `github`'],
    ],
    [
      'problems of the file and of the inputs together',
      { inputs: { 'on-failure': 'kep' }, file: { path: 'f.yml', text: 'name: a\nsource: github\nzebra: 1' } },
      [
        'f.yml:3:1: `zebra` is not a field of a deployment',
        'input:1:1: `on-failure` must be one of `rollback`, `keep`; did you mean `keep`?',
      ],
    ],
    [
      'a deployment that was not chosen is not read',
      {
        inputs: { deployment: 'a' },
        file: { path: 'f.yml', text: 'deployments:\n  a: { source: github }\n  b: { zebra: 1 }' },
      },
      [],
    ],
  ])('%s', (_, requested, problems) => expect(seen(requested)).toEqual(problems));
});

describe('a deployment that is only smoke tested', () => {
  test('needs no source, and its secrets are not looked up', () => {
    const inputs = {
      'deployment-id': '6ba7b810-9dad-41d1-80b4-00c04fd430c8',
      secrets: 'NOT_SET',
      'on-failure': 'rollback',
    };
    expect(readRequested({ inputs, env })).toEqual({
      ok: true,
      deployments: [
        {
          deploymentId: '6ba7b810-9dad-41d1-80b4-00c04fd430c8',
          smokeTests: [],
          onFailure: 'rollback',
          onUnproven: 'keep',
        },
      ],
    });
  });

  test('is read from the file too', () => {
    const file = {
      path: 'f.yml',
      text: 'deployments:\n  a:\n    smoke-tests: [{ name: greets, assistant: b, input: {} }]',
    };
    expect(readRequested({ inputs: {}, file })).toMatchObject({
      ok: true,
      deployments: [{ name: 'a', smokeTests: [{ name: 'greets' }] }],
    });
  });

  test('has the prices of the file with each test, as a deploy has', () => {
    const text = `
name: a
graph-config-path: langgraph.json
prices: { gpt-4.1-mini: { input: 0.4, output: 1.6 } }
smoke-tests: [{ name: greets, assistant: a, input: {} }]`;
    const file = { path: 'f.yml', text };
    const tested = { smokeTests: [{ name: 'greets', prices: { 'gpt-4.1-mini': { input: 0.4, output: 1.6 } } }] };
    expect(readRequested({ inputs: {}, file })).toMatchObject({ ok: true, deployments: [tested] });
    expect(readDesired({ inputs: {}, file })).toMatchObject({ ok: true, deployments: [tested] });
  });

  test('is refused for a wrong field all the same', () => {
    const result = readRequested({ inputs: {}, file: { path: 'f.yml', text: 'name: a\nzebra: 1' } });
    expect(result.ok ? [] : result.problems.map(formatProblem)).toEqual([
      'f.yml:2:1: `zebra` is not a field of a deployment',
    ]);
  });
});
