import { describe, expect, test } from 'vitest';
import { reservedNames } from '../../../../src/contract/control/field-values.ts';
import {
  commandProblem,
  customUrlProblem,
  graphConfigPathProblem,
  imageProblem,
  nameProblem,
  tarballProblem,
  type NamedTarball,
} from '../../../../src/services/control/deployments/validation/value-problems.ts';
import {
  environmentProblems,
  maxValueLength,
  requestProblems,
  withEmptyValues,
} from '../../../../src/services/control/deployments/validation/requested-deployment.ts';

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
  for (const address of ['https://agent.example.com/x', 'http://agent.test'])
    expect(customUrlProblem(address)).toBeUndefined();
  for (const address of ['agent', 'javascript:alert(1)', 'https://u:p@example.com', 'xhttp://a', 'httpsx://a'])
    expect(customUrlProblem(address)).toContain('custom_url');
});

const path = 'source_revision_config.source_tarball_path';
test.each<[state: NamedTarball, problem: string | undefined]>([
  ['stored', undefined],
  [
    'issued',
    `${path}: nothing has been uploaded there yet. Upload the tarball to the upload_url that was returned with the path, and send this again.`,
  ],
  [
    'removed',
    `${path}: the tarball was removed for its age. Upload it again, at an address of POST /deployments/{deployment_id}/upload-url.`,
  ],
  ['unknown', `${path} was not issued by POST /deployments/{deployment_id}/upload-url for this deployment.`],
])('the path of a tarball that is %s: %s', (state, problem) => expect(tarballProblem(state)).toBe(problem));

test.each<[what: string, config: object, revision: object, problems: string[]]>([
  ['a tag that is not built on push', { build_on_push: false }, { repo_ref: 'refs/tags/v1' }, []],
  [
    'a tag that is built on push',
    { build_on_push: true },
    { repo_ref: 'refs/tags/v1' },
    [
      'source_config.build_on_push cannot be true while source_revision_config.repo_ref is the tag refs/tags/v1: a tag does not move.',
    ],
  ],
  [
    'blank commands',
    { install_command: ' ', build_command: ' ' },
    {},
    [
      'source_config.install_command may not be blank; leave it out to have it found.',
      'source_config.build_command may not be blank; leave it out to have it found.',
    ],
  ],
])('names each field that is wrong: %s', (_, source_config, source_revision_config, problems) =>
  expect(requestProblems({ source_config, source_revision_config, secrets: [], secret_references: null })).toEqual(
    problems,
  ),
);

test('gives a variable without a value an empty one, in every container', () => {
  const containers = (env: { name: string; value?: string }[]) => ({
    init_containers: [{ name: 'a', image: 'i', env }],
    sidecars: [
      { name: 'b', image: 'i', env },
      { name: 'c', image: 'i' },
    ],
  });
  expect(withEmptyValues(containers([{ name: 'E' }, { name: 'F', value: '1' }]))).toEqual(
    containers([
      { name: 'E', value: '' },
      { name: 'F', value: '1' },
    ]),
  );
  expect(withEmptyValues({ cpu: 1 })).toEqual({ cpu: 1 });
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
        { name: 'TWICE', value: 'é'.repeat(maxValueLength / 2) },
        { name: 'LONG', value: `${'é'.repeat(maxValueLength / 2)}s` },
        { name: long, value: 'secret-value'.repeat(maxValueLength) },
      ],
      [reference('TWICE'), reference('LANDFALL_X')],
    );
    const unknown = 'is no name of an environment variable; use letters, digits and underscores.';
    expect(reported).toEqual([
      `secrets: "1st" ${unknown}`,
      `secrets: "A=B" ${unknown}`,
      `secrets: "${long.slice(0, 80)}" ${unknown}`,
      'secret_references: "TWICE" is in secrets too; give it in one of the two lists.',
      'secret_references: "LANDFALL_X" is set by the platform itself; choose another name.',
      'secrets: the value of "LONG" is longer than 120000 bytes.',
      `secrets: the value of "${long.slice(0, 80)}" is longer than 120000 bytes.`,
    ]);
  });

  test.each<[what: string, secrets: string[], references: string[], problems: string[]]>([
    ['twice in one list', ['A', 'A'], [], ['secrets: "A" is given more than once.']],
    ['twice in the other', [], ['A', 'A'], ['secret_references: "A" is given more than once.']],
    ['in both', ['A'], ['A'], ['secret_references: "A" is in secrets too; give it in one of the two lists.']],
    ['once in each, differently', ['A'], ['B'], []],
  ])('tells where a name is repeated: %s', (_, secrets, references, problems) =>
    expect(
      environmentProblems(
        secrets.map((name) => ({ name, value: '' })),
        references.map(reference),
      ),
    ).toEqual(problems),
  );
});
