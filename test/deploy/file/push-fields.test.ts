import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { readRequested, readDesired, readPushed } from '../../../src/deploy/file/read-desired.ts';
import { formatProblem } from '../../../src/kit/diagnostics/problem.ts';

const file = (text: string) => ({ text, path: 'landfall.yml' });

/** The terms of the one deployment of a file. */
function push(text: string) {
  const read = readPushed(file(`name: support\n${text}`));
  const first = read.ok ? read.deployments[0]?.read : read;
  if (!first?.ok || !('value' in first)) throw new Error('the file cannot be read');
  return first.value.push;
}

/** What a person would see, one line a problem. */
function seen(text: string): string[] {
  const read = readDesired({ inputs: {}, file: file(text) });
  return read.ok ? [] : read.problems.map(formatProblem);
}

const all = `
source: github
paths: { include: [agents/**, lib/**], exclude: ['**/*.md'] }
skip-words: ['[skip deploy]', '[no ship]']
after-rollback: hold
deploy-after: { checks: [build, 'test (node 24)'], timeout: 2h }
environment: { name: production, production: true, transient: false }
`;

describe('what a file says of pushes', () => {
  test('all of it', () => {
    expect(push(all)).toEqual({
      paths: { include: ['agents/**', 'lib/**'], exclude: ['**/*.md'] },
      skipWords: ['[skip deploy]', '[no ship]'],
      afterRollback: 'hold',
      deployAfter: { checks: ['build', 'test (node 24)'], timeoutMs: 7_200_000 },
      environment: { name: 'production', production: true, transient: false },
    });
  });

  test('nothing: every path counts, our skip word and GitHub’s own, pushes go on', () => {
    const skipWords = [
      '[skip deploy]',
      '[skip ci]',
      '[ci skip]',
      '[no ci]',
      '[skip actions]',
      '[actions skip]',
      'skip-checks: true',
      'skip-checks:true',
    ];
    expect(push('')).toEqual({ skipWords, afterRollback: 'continue' });
  });

  test.each<[sentence: string, text: string, terms: object]>([
    [
      'who may act on production',
      'admins: [mona, Octo-Cat, hubot_acme]',
      { admins: ['mona', 'Octo-Cat', 'hubot_acme'] },
    ],
    ['an environment by its name', 'environment: live', { environment: { name: 'live' } }],
    [
      'an environment that goes',
      'environment: { name: x, transient: true }',
      { environment: { name: 'x', transient: true } },
    ],
    ['paths that are left out only', 'paths: { exclude: [docs/**] }', { paths: { include: [], exclude: ['docs/**'] } }],
    ['required checks', 'deploy-after: checks', { deployAfter: { checks: 'required', timeoutMs: 3_600_000 } }],
    [
      'required checks, for a day at most',
      'deploy-after: { timeout: 1d }',
      { deployAfter: { checks: 'required', timeoutMs: 86_400_000 } },
    ],
    ['no skip word at all', 'skip-words: []', { skipWords: [] }],
  ])('%s', (_, text, terms) => expect(push(text)).toMatchObject(terms));

  test('are ignored when a deployment is created, smoke tested or rolled back', () => {
    const without = 'name: support\nsource: github\n';
    const read = readDesired({ inputs: {}, file: file(`name: support${all}`) });
    expect(read).toEqual(readDesired({ inputs: {}, file: file(without) }));
    expect(read.ok).toBe(true);
    expect(readRequested({ inputs: {}, file: file(`name: support${all}`) })).toEqual(
      readRequested({ inputs: {}, file: file(without) }),
    );
  });

  test('cannot be said by inputs', () => {
    const { source, ...terms } = z.record(z.string(), z.unknown()).parse(parse(all));
    const inputs = Object.fromEntries(Object.keys(terms).map((name) => [name, 'x']));
    expect(Object.keys(inputs)).toHaveLength(5);
    expect(readDesired({ inputs: { ...inputs, name: 'support', source: String(source) } }).ok).toBe(true);
  });
});

describe('a wrong value is reported with its line', () => {
  test.each<[text: string, problem: string]>([
    ['paths: agents/**', 'landfall.yml:3:8: `paths` must be a map, not text'],
    ['paths: {}', 'landfall.yml:3:8: `paths` must have `include` or `exclude`'],
    ['paths: { exclude: [x], only: [x] }', 'landfall.yml:3:24: `paths.only` is not known'],
    [
      'paths: { exclude: [x], includes: [x] }',
      'landfall.yml:3:24: `paths.includes` is not known; did you mean `include`?',
    ],
    ['paths: { include: x/** }', 'landfall.yml:3:19: `paths.include` must be a list, not text'],
    ['paths: { include: [] }', 'landfall.yml:3:19: `paths.include` must have at least 1 item'],
    [
      'paths:\n  exclude:\n    - docs/**\n    - src\\lib',
      'landfall.yml:6:7: `paths.exclude[1]` must have forward slashes: a backslash means nothing in it',
    ],
    [
      "paths: { include: ['!x'] }",
      'landfall.yml:3:20: `paths.include[0]` must not begin with `!`: put it under `exclude`',
    ],
    ['skip-words: no', 'landfall.yml:3:13: `skip-words` must be a list, not text'],
    ['skip-words:\n  - [skip deploy]', 'landfall.yml:4:5: `skip-words[0]` must be text, not a list'],
    ["skip-words: ['']", 'landfall.yml:3:14: `skip-words[0]` must not be empty'],
    ['skip-word: [x]', 'landfall.yml:3:1: `skip-word` is not a field of a deployment; did you mean `skip-words`?'],
    ['after-rollback: wait', 'landfall.yml:3:17: `after-rollback` must be one of `continue`, `hold`'],
    ['admins: []', 'landfall.yml:3:9: `admins` must have at least 1 item'],
    ['admins: ["@mona"]', 'landfall.yml:3:10: `admins[0]` must be a login of GitHub, without @'],
    ['deploy-after: tests', 'landfall.yml:3:15: `deploy-after` must be `checks`, or a map, not text'],
    ['deploy-after: { checks: [] }', 'landfall.yml:3:25: `deploy-after.checks` must have at least 1 item'],
    [
      'deploy-after: { checks: test }',
      'landfall.yml:3:25: `deploy-after.checks` must be `required`, or a list, not text',
    ],
    ['deploy-after: { timeout: 1s }', 'landfall.yml:3:26: `deploy-after.timeout` must be a duration from 1m to 1d'],
    ['deploy-after: { check: [x] }', 'landfall.yml:3:17: `deploy-after.check` is not known; did you mean `checks`?'],
    ['environment: [x]', 'landfall.yml:3:14: `environment` must be text, or a map, not a list'],
    ['environment: { production: true }', 'landfall.yml:3:1: `environment.name` is missing'],
    ['environment: { name: x, prod: true }', 'landfall.yml:3:25: `environment.prod` is not known'],
    [
      'environment: { name: x, production: yes }',
      'landfall.yml:3:37: `environment.production` must be `true` or `false`, not text',
    ],
    ['environment: "a\\nb"', 'landfall.yml:3:14: `environment` must be one line'],
  ])('%s', (text, problem) => {
    expect(seen(`name: support\nsource: github\n${text}`)).toEqual([problem]);
  });

  test('what is said of pushes belongs to a repository', () => {
    expect(
      seen('name: a\nsource: external_docker\nimage-uri: x/y\npaths: { exclude: [x] }\nenvironment: live'),
    ).toEqual(['landfall.yml:4:1: `paths` belongs to the source `github`, not to `external_docker`']);
  });
});

describe('a file as pushes see it', () => {
  const read = (text: string) => {
    const result = readPushed(file(text));
    if (!result.ok) throw new Error(result.problems.map(formatProblem).join('\n'));
    return result.deployments.map(({ read: each, ...whom }) => ({
      ...whom,
      reported: each.ok ? 'fine' : each.problems.map(formatProblem),
    }));
  };

  test('need not say the source, for nothing else is pushed to', () => {
    expect(read('deployments: { support: { on-failure: rollback } }')).toEqual([
      { key: 'support', name: 'support', reported: 'fine' },
    ]);
  });

  test('a mistake in one deployment takes nothing from the others', () => {
    expect(
      read('deployments:\n  support:\n    on-failure: explode\n  billing:\n    name: Billing\n    source: github'),
    ).toEqual([
      {
        key: 'support',
        name: 'support',
        reported: ['landfall.yml:3:17: `on-failure` must be one of `rollback`, `keep`'],
      },
      { key: 'billing', name: 'Billing', reported: 'fine' },
    ]);
  });

  test('of two with one name the first counts', () => {
    expect(
      read('deployments:\n  a: { name: one }\n  b: { name: one }\n  c: { name: one }').map(({ reported }) => reported),
    ).toEqual([
      'fine',
      ['landfall.yml:3:8: another deployment of this file is named `one` too'],
      ['landfall.yml:4:8: another deployment of this file is named `one` too'],
    ]);
  });

  test('an id is returned in lower case, and an invalid one is an error', () => {
    expect(
      read('deployments: { a: { deployment-id: 6BA7B810-9DAD-41D1-80B4-00C04FD430C8 }, b: { deployment-id: x } }'),
    ).toEqual([
      { key: 'a', name: 'a', deploymentId: '6ba7b810-9dad-41d1-80b4-00c04fd430c8', reported: 'fine' },
      { key: 'b', name: 'b', deploymentId: 'x', reported: ['landfall.yml:1:96: `deployment-id` must be a uuid'] },
    ]);
  });

  test('an invalid file is reported as a whole', () => {
    expect(readPushed(file('- a'))).toMatchObject({ ok: false });
  });
});
