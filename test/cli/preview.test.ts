import { expect, test, vi } from 'vitest';
import { runHere } from './run-cli.ts';

const named = ['--name', 'support', '--image-uri', 'x/y', '--pull-request', '12', '--repository-id', '4711'];
const sha = 'a'.repeat(40);

test.each<[sentence: string, args: string[], problems: string[]]>([
  [
    'a closed pull request without its number',
    ['--closed'],
    [
      '--pull-request: give the number of the pull request',
      '--repository-id: give the number of the repository at its host',
    ],
  ],
  [
    'an open one without its head',
    [...named, '--approved-commit', 'a1b2c3d'],
    [
      '--commit: give the full SHA of the head, of 40 characters',
      '--head-ref: give the branch of the head',
      '--approved-commit: give the full SHA of a commit, of 40 characters',
    ],
  ],
  [
    'a journal, which a preview does not need',
    [...named, '--commit', sha, '--head-ref', 'topic', '--journal', 'x'],
    ['--journal: journal is for deploys and rollbacks: a preview is found by its mark'],
  ],
])('refuses %s', async (_, args, problems) => {
  for (const name of ['GITHUB_REPOSITORY_ID', 'CI_PROJECT_ID']) vi.stubEnv(name, '');
  const { code, err } = await runHere(['preview', '--base-url', 'https://host.test', '--api-key', 'key', ...args]);
  expect([code, err.trim().split('\n')]).toEqual([2, problems]);
  vi.unstubAllEnvs();
});

test('explains the options of pull requests', async () => {
  const { out } = await runHere(['preview', '--help']);
  for (const name of ['pull-request', 'repository-id', 'head-ref', 'head-url', 'commit', 'approved-commit', 'closed']) {
    expect(out).toContain(`--${name} `);
  }
  expect(out).toContain('--label <label>');
});
