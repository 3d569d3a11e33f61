import { afterAll, describe, expect, test } from 'vitest';
import { folderOf, runCli, runHere } from './run-cli.ts';

describe('the exit code', () => {
  test.each([
    ['0 for help', ['--help'], 0, 'Usage: landfall'],
    ['0 for the help of a command', ['plan', '--help'], 0, '--graph-config-path'],
    ['0 for the version', ['--version'], 0, '0.1.0'],
    ['2 without a command', [], 2, 'Commands:'],
    ['2 for a command that there is not', ['deplyo'], 2, "unknown command 'deplyo'"],
    ['2 for an option that there is not', ['plan', '--repo-uri', 'x'], 2, "unknown option '--repo-uri'"],
    ['2 for an option without its value', ['plan', '--name'], 2, 'argument missing'],
    ['2 for a word too many', ['smoke', 'it'], 2, 'too many arguments'],
  ])('is %s', async (_, args, code, said) => {
    const end = await runHere(args);
    expect(end.code).toBe(code);
    expect(end.out + end.err).toContain(said);
  });
});

test('has every command', async () => {
  const { out } = await runHere(['--help']);
  for (const name of ['local', 'demo', 'init', 'validate', 'plan', 'deploy', 'smoke', 'rollback'])
    expect(out).toContain(`  ${name} `);
});

test('reports a mistyped option without its value', async () => {
  const { err } = await runHere(['plan', '--api-kye=sk-12345']);
  expect(err).toContain('--api-kye=...');
  expect(err).not.toContain('sk-12345');
});

describe('invalid input', () => {
  const folder = folderOf({
    '.github/landfall.yml': 'deployments:\n  echo:\n    source: github\n    repo-urll: https://h/o/r\n',
    'two.yml': 'deployments:\n  a: { source: github }\n  b: { source: github }\n',
  });
  afterAll(folder.remove);
  const env = { LANDFALL_BASE_URL: 'http://127.0.0.1:9', LANDFALL_API_KEY: 'key-of-the-service' };

  test('is reported at once on stderr, each error with its place', async () => {
    const end = await runCli(
      [
        'deploy',
        '--smoke-tests',
        '[{name: a,\n  assistant: b}]',
        '--poll-seconds',
        'often',
        '--secrets',
        'UNSET_VARIABLE',
      ],
      { cwd: folder.path },
    );
    expect(end).toMatchObject({ code: 2, out: '' });
    const lines = end.err.trimEnd().split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        '.github/landfall.yml:4:5: `repo-urll` is not a field of a deployment; did you mean `repo-url`?',
        '--base-url: missing: set it, or LANDFALL_BASE_URL, or log in with landfall login',
        '--poll-seconds: poll-seconds is a number from 0.1 to 600',
        '--smoke-tests:1:2: `smoke-tests[0].input` is missing',
        '--secrets: `secrets[0]` takes its value from the environment variable UNSET_VARIABLE, which is not set',
        '--api-key: the key of the control service is missing: set LANDFALL_API_KEY or LANDFALL_OIDC_TOKEN, or log in with landfall login',
      ]),
    );
    for (const line of lines) expect(line).toMatch(/^(--[a-z-]+|\S+:\d+:\d+): \S/);
  });

  test('is reported as one line of JSON with --json', async () => {
    const end = await runHere(['plan', '--json'], { cwd: folder.path, env });
    expect(end.code).toBe(2);
    expect(end.out.trimEnd().split('\n')).toHaveLength(1);
    expect(JSON.parse(end.out)).toMatchObject({
      outcome: 'refused',
      passes: false,
      changed: false,
      problems: [{ file: '.github/landfall.yml', line: 4, column: 5, suggestion: 'repo-url' }],
    });
  });

  const none = folderOf({});
  afterAll(none.remove);

  test.each([
    [
      'nothing at all',
      [],
      /^--name: nothing says which deployment is meant: .* or give options, for example `--name support`/,
    ],
    ['a deployment without a source', ['--name', 'a'], /^--source: `source` is missing: write one of/],
  ])('is reported by its option without a deploy file: %s', async (_, args, said) => {
    const end = await runHere(['plan', ...args], { cwd: none.path, env });
    expect(end).toMatchObject({ code: 2, err: expect.stringMatching(said) });
  });

  test.each([
    ['a deploy file that is not there', ['--config', 'none.yml'], /^--config: there is no file at the path/m],
    ['a folder in the place of the deploy file', ['--config', '.github'], /^\.github: this is a folder/m],
    ['several deployments and none chosen', ['--config', 'two.yml'], /^--deployment: .*choose one/m],
    ['a commit that is none', ['--commit', 'main'], /^--commit: a commit is given by its sha/m],
  ])('may be %s', async (_, args, said) => {
    const end = await runHere(['plan', ...args], { cwd: folder.path, env });
    expect(end.code).toBe(2);
    expect(end.err).toMatch(said);
  });
});
