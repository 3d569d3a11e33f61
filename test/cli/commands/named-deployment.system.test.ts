import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { deploymentId, firstRevision, startControlStub, type ControlStub } from '../../action/control-stub.ts';
import { folderOf, runHere } from '../run-cli.ts';

// The stub has the operations of the public API alone: no summaries, no history of revisions.
let stub: ControlStub;
beforeAll(async () => {
  stub = await startControlStub({ status: 'DEPLOYED', secrets: [{ name: 'TOKEN', value: 'canary-of-the-service' }] });
});
afterAll(() => stub?.close());

const file = (names: readonly string[]): string =>
  `deployments:\n${names.map((name) => `  ${name}: { source: external_docker, image-uri: 'echo:1' }\n`).join('')}`;

function run(args: readonly string[], files: Record<string, string> = {}) {
  const { path, remove } = folderOf(files);
  onTestFinished(remove);
  return runHere(args, { cwd: path, env: { LANDFALL_BASE_URL: stub.url, LANDFALL_API_KEY: 'key-of-the-service' } });
}

describe('the deployment of a command', () => {
  test.each([
    ['its name', ['echo'], {}],
    ['its id', [deploymentId], {}],
    ['the only one of the deploy file', [], { '.github/landfall.yml': file(['echo']) }],
    ['the only one of the service', [], {}],
  ])('is found by %s', async (_, args, files) => {
    const { code, out, err } = await run(['status', ...args], files);
    expect(err).toBe('');
    expect(code).toBe(0);
    expect(out).toContain('Deployment  echo (live)');
    expect(out).toContain(firstRevision);
  });

  test.each([
    [
      'a mistyped name',
      ['ehco'],
      {},
      'The service has no deployment ehco.',
      'Did you mean echo? landfall list shows all.',
    ],
    ['another id', [firstRevision], {}, `no deployment with the id ${firstRevision}`, 'landfall list shows all.'],
    [
      'several in the file',
      [],
      { '.github/landfall.yml': file(['one', 'two']) },
      '.github/landfall.yml has more than one deployment.',
      'Give the name of one: one, two.',
    ],
    [
      'a file with mistakes',
      [],
      { '.github/landfall.yml': 'deployments: [' },
      'The deploy file has mistakes: .github/landfall.yml:1:',
      'give the name of the deployment',
    ],
  ])('is refused for %s, with what to do', async (_, args, files, reason, advice) => {
    const { code, out, err } = await run(['status', ...args], files);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(reason);
    expect(err).toContain(`What to do: `);
    expect(err).toContain(advice);
  });
});

describe('a service with the public API alone', () => {
  test('lists its deployments', async () => {
    const { code, out } = await run(['list', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({
      deployments: [
        {
          name: 'echo',
          id: deploymentId,
          state: 'live',
          live_commit: null,
          verdict: null,
          changed_at: '2026-01-01T00:00:00Z',
          url: 'https://agent.invalid',
        },
      ],
    });
  });

  test('lists the revisions of one', async () => {
    const { code, out } = await run(['revisions', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ revisions: [{ id: firstRevision, state: 'live', cause: null }] });
  });

  test('prints a log, in which a runner finds no command', async () => {
    const { code, out } = await run(['logs', '--agent']);
    expect({ code, out }).toEqual({ code: 0, out: '| ::error::line of a log\n' });
  });

  test('has no console to open', async () => {
    const { code, err } = await run(['open']);
    expect(code).toBe(1);
    expect(err).toContain('The service has no console.');
  });
});

test.each([
  [['logs', '--since', 'soon'], 'Give a number with s, m, h or d, as in 10m.'],
  [['logs', '--revision', '33333333'], 'Give the whole id, as the lists print it.'],
  [['logs', '--build', '--agent'], '--build and --agent are two logs. Give one of them.'],
  [['revisions', '--limit', '0'], 'Give a number from 1 to 100.'],
  [['list', 'echo'], 'too many arguments'],
])('%j is refused as invalid input', async (args, said) => {
  const { code, err } = await run(args);
  expect(code).toBe(2);
  expect(err).toContain(said);
});
