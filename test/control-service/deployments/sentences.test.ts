import { describe, expect, test } from 'vitest';
import { reservedNames } from '../../../src/contract/control/field-values.ts';
import {
  commandProblem,
  customUrlProblem,
  graphConfigPathProblem,
  imageProblem,
  nameProblem,
} from '../../../src/control-service/deployments/validation/value-problems.ts';
import {
  environmentProblems,
  longestValue,
} from '../../../src/control-service/deployments/validation/requested-deployment.ts';

describe('commands', () => {
  test.each(['npm ci', 'npm ci && npm run build', 'pnpm install --frozen-lockfile', 'make -C agents/a'])(
    '%j is taken',
    (command) => expect(commandProblem('build_command', command)).toBeUndefined(),
  );
  test.each([
    ["npm run 'a b'", 'a quote'],
    ['npm run "a"', 'a quote'],
    ['echo `id`', 'a quote'],
    ["npm run 'a'; b", 'a quote or one of'],
    ['a\\b', 'a backslash'],
    ['a\nb', 'a line break'],
    ['a\tb', 'a tab'],
    ['a | b', 'one of | ; $ < >'],
    ['a; b', 'one of'],
    ['echo $HOME', 'one of'],
    ['a > b', 'one of'],
    ['a < b', 'one of'],
    ['a & b', 'a single &'],
    ['a &&& b', 'a single &'],
    ['a &', 'a single &'],
    ['   ', 'may not be blank'],
  ])('%j is refused for %s', (command, why) =>
    expect(commandProblem('build_command', command)).toMatch(
      new RegExp(`^build_command .*${why.replace('|', '\\|').replace('$', '\\$')}`),
    ),
  );
});

describe('names', () => {
  test.each(['a', 'my-agent-2', 'a'.repeat(63)])('%s is taken', (name) =>
    expect(nameProblem(name, 'any')).toBeUndefined(),
  );
  test.each(['A', 'my_agent', 'my agent', 'ä', '-a', 'a-', '../a', 'a'.repeat(64)])('%s is refused', (name) =>
    expect(nameProblem(name, 'any')).toMatch(/^name .*\.$/),
  );
});

describe('the path of the graph configuration file', () => {
  test.each(['graph.json', './graph.json', 'agents/a/graph.json', '.config/graph.json'])('%s is taken', (path) =>
    expect(graphConfigPathProblem(path)).toBeUndefined(),
  );
  test.each(['/etc/passwd', '../graph.json', 'a/../../graph.json', 'C:/x.json', 'a\\b', 'a/', '.', 'a\nb'])(
    '%j is refused',
    (path) => expect(graphConfigPathProblem(path)).toContain('graph_config_path'),
  );
});

describe('images', () => {
  test.each(['a:2', 'team/agent', 'localhost:5000/a:1', `registry.example.com/team/a@sha256:${'0'.repeat(64)}`])(
    '%s is taken',
    (uri) => expect(imageProblem(uri)).toBeUndefined(),
  );
  test.each(['-v', 'a b', 'https://example.com/a', 'a:', 'a@sha256:1', 'a;b'])('%s is refused', (uri) =>
    expect(imageProblem(uri)).toContain('image_uri'),
  );
});

test('an address that is not a web page is no custom_url', () => {
  expect(customUrlProblem('https://agent.example.com/x')).toBeUndefined();
  for (const address of ['agent', 'javascript:alert(1)', 'https://u:p@example.com'])
    expect(customUrlProblem(address)).toContain('custom_url');
});

describe('the environment', () => {
  const reference = (name: string) => ({ name, secret_name: 's', secret_key: 'k' });

  test('accepts environment names, also those that the agent itself reads', () => {
    const names = ['TOKEN', '_x', 'OPENAI_API_KEY', 'DATABASE_URL', 'LG_WEBHOOK_TOKEN'];
    expect(
      environmentProblems(
        names.map((name) => ({ name, value: '' })),
        null,
      ),
    ).toEqual([]);
  });

  test.each([...reservedNames, 'NODE_OPTIONS', 'LD_PRELOAD', 'HOME', 'LANDFALL_X'])(
    '%s is refused as a secret and as a reference',
    (name) => {
      expect(environmentProblems([{ name, value: 'secret-value' }], null)).toEqual([
        `secrets: "${name}" is set by the platform itself; choose another name.`,
      ]);
      expect(environmentProblems([], [reference(name)])).toHaveLength(1);
    },
  );

  test.each(['HOST', 'NODE_PATH', 'LD_LIBRARY_PATH', 'LANGSMITH_TRACING', 'LANGSERVE_GRAPHS'])(
    '%s is refused as well',
    (name) => expect(environmentProblems([{ name, value: '' }], null)).toHaveLength(1),
  );

  test.each(['MY_LANDFALL_X', 'a1', 'A'.repeat(200)])('%s is taken', (name) =>
    expect(environmentProblems([{ name, value: '' }], [])).toEqual([]),
  );

  test('reports every problem at once, and never a value', () => {
    const long = `A${'B'.repeat(100)}-`;
    const reported = environmentProblems(
      [
        { name: '1st', value: 'secret-value' },
        { name: 'A=B', value: 'secret-value' },
        { name: 'TWICE', value: 'é'.repeat(longestValue / 2) },
        { name: 'LONG', value: `${'é'.repeat(longestValue / 2)}s` },
        { name: long, value: 'secret-value'.repeat(longestValue) },
      ],
      [reference('TWICE'), reference('LANDFALL_X')],
    );
    const unknown = 'is no name of an environment variable; use letters, digits and underscores.';
    expect(reported).toEqual([
      `secrets: "1st" ${unknown}`,
      `secrets: "A=B" ${unknown}`,
      `secrets: "${long.slice(0, 80)}" ${unknown}`,
      'secret_references: "TWICE" is given more than once.',
      'secret_references: "LANDFALL_X" is set by the platform itself; choose another name.',
      'secrets: the value of "LONG" is longer than 120000 bytes.',
      `secrets: the value of "${long.slice(0, 80)}" is longer than 120000 bytes.`,
    ]);
  });
});
