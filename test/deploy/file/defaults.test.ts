import { describe, expect, test } from 'vitest';
import { casePaths } from '../../../src/deploy/file/cases.ts';
import { readDesired, readPushed } from '../../../src/deploy/file/read-desired.ts';
import { formatProblem } from '../../../src/kit/diagnostics/problem.ts';

const path = 'landfall.yml';
const read = (text: string, inputs = {}) => readDesired({ inputs, file: { text, path }, env: {} });

function desired(text: string, inputs = {}) {
  const result = read(text, inputs);
  if (!result.ok) throw new Error(result.problems.map(formatProblem).join('\n'));
  return result.deployments;
}

function seen(text: string): string[] {
  const result = read(text);
  return result.ok ? [] : result.problems.map(formatProblem);
}

const shared = `
defaults:
  repo-url: https://github.com/acme/agents
  repo-ref: main
  on-failure: keep
  smoke-tests:
    - name: greets
      assistant: agent
      input: {}
      expect: { status: success }
deployments:
  support:
    graph-config-path: support/langgraph.json
  billing:
    graph-config-path: billing/langgraph.json
    repo-ref: release
    smoke-tests: []
`;

describe('defaults', () => {
  test('are the fields of every deployment that has none of that name', () => {
    expect(desired(shared)).toMatchObject([
      {
        desired: { name: 'support', repoUrl: 'https://github.com/acme/agents', repoRef: 'main' },
        onFailure: 'keep',
        smokeTests: [{ name: 'greets' }],
      },
      { desired: { name: 'billing', repoRef: 'release' }, onFailure: 'keep', smokeTests: [] },
    ]);
  });

  test('are replaced by inputs as fields of the deployment are', () => {
    const inputs = { deployment: 'support', 'repo-ref': 'v2' };
    expect(desired(shared, inputs)).toMatchObject([{ desired: { name: 'support', repoRef: 'v2' } }]);
  });

  test('are read for pushes, and name their files of cases', () => {
    const text = `defaults:\n  smoke-tests: [{ cases: cases.jsonl }]\ndeployments:\n  a: {}\n  b: { on-failure: keep }`;
    expect(casePaths(text, path)).toEqual(['cases.jsonl']);
    const pushed = readPushed({ text: shared, path });
    expect(pushed).toMatchObject({
      ok: true,
      deployments: [
        { name: 'support', read: { ok: true } },
        { name: 'billing', read: { ok: true } },
      ],
    });
  });

  test('may hold what merge keys and aliases bring', () => {
    const text = `
defaults: &all
  repo-url: https://github.com/acme/agents
  repo-ref: main
deployments:
  a: &a
    graph-config-path: langgraph.json
    smoke-tests:
      - &first { name: one, assistant: agent, input: {}, expect: { status: success } }
      - { <<: *first, name: two }
  b: { <<: [*a, *all], repo-ref: next }
`;
    const tests = [{ name: 'one' }, { name: 'two' }];
    expect(desired(text)).toMatchObject([
      { desired: { name: 'a', repoRef: 'main' }, smokeTests: tests },
      { desired: { name: 'b', repoRef: 'next', graphConfigPath: 'langgraph.json' }, smokeTests: tests },
    ]);
  });
});

test.each<[what: string, text: string, problems: string[]]>([
  [
    'a wrong default once, where it is written',
    'defaults:\n  on-failure: maybe\n  zebra: 1\ndeployments:\n  a: { source: github }\n  b: { source: github }',
    [
      'landfall.yml:2:15: `on-failure` must be one of `rollback`, `keep`',
      'landfall.yml:3:3: `zebra` is not a field of a deployment',
    ],
  ],
  [
    'a wrong field of a deployment beside a right default',
    'defaults:\n  on-failure: keep\ndeployments:\n  a: { source: github, on-failure: maybe }',
    ['landfall.yml:4:36: `on-failure` must be one of `rollback`, `keep`'],
  ],
  [
    'a name among the defaults',
    'defaults:\n  name: a\n  deployment-id: 6ba7b810-9dad-41d1-80b4-00c04fd430c8\ndeployments:\n  a: {}',
    [
      'landfall.yml:2:3: `name` says which deployment is meant: move it from `defaults` into that one',
      'landfall.yml:3:3: `deployment-id` says which deployment is meant: move it from `defaults` into that one',
    ],
  ],
  [
    'defaults that are no map',
    'defaults: [on-failure]\ndeployments:\n  a: {}',
    ['landfall.yml:1:11: `defaults` must be a map of the fields of a deployment, not a list'],
  ],
  [
    'empty defaults',
    'defaults:\ndeployments:\n  a: {}',
    ['landfall.yml:1:10: `defaults` must be a map of the fields of a deployment, not nothing'],
  ],
  [
    'defaults without deployments',
    'name: a\ndefaults: { source: github }',
    ['landfall.yml:2:1: `defaults` is for the deployments under `deployments`, and there are none: write them as such'],
  ],
  [
    'a slip of the word',
    'default: { source: github }\ndeployments:\n  a: {}',
    [
      'landfall.yml:1:1: `default` stands beside `deployments`: move it into one of them, or into `defaults` for all of them; did you mean `defaults`?',
    ],
  ],
  [
    'a wrong field where the merged map has it',
    'deployments:\n  a: &a\n    source: github\n    on-failure: maybe\n  b: { <<: *a }',
    [
      'landfall.yml:4:17: `on-failure` must be one of `rollback`, `keep`',
      'landfall.yml:4:17: `on-failure` must be one of `rollback`, `keep`',
    ],
  ],
  [
    'names that a merged map brings',
    'deployments:\n  a: &a { source: github, name: one }\n  b: { <<: *a }',
    ['landfall.yml:2:27: another deployment of this file is named `one` too'],
  ],
])('reports %s', (_, text, problems) => expect(seen(text)).toEqual(problems));

test('a default is not written into what objects have anyway', () => {
  expect(seen('defaults:\n  __proto__: { name: x }\ndeployments:\n  a: { source: github }')).toEqual([
    'landfall.yml:2:3: `__proto__` is not a field of a deployment',
  ]);
  expect(Reflect.get({}, 'name')).toBeUndefined();
});
