import { expect, test, vi } from 'vitest';
import { withHostsOwn } from '../../src/cli/preview-command.ts';
import { runHere } from './run-cli.ts';

const named = [
  '--name',
  'support',
  '--image-uri',
  'x/y',
  '--pull-request',
  '12',
  '--repository-id',
  '4711',
  '--repository-url',
  'https://git.test/acme/agents',
];
const sha = 'a'.repeat(40);

test.each<[sentence: string, args: string[], problems: string[]]>([
  [
    'a closed pull request without its number',
    ['--closed'],
    [
      '--pull-request: give the number of the pull request',
      '--repository-id: give the number of the repository at its host',
      '--repository-url: give the address of the repository that it is to',
    ],
  ],
  [
    'an open one without its head',
    [...named, '--approved-commit', 'a1b2c3d'],
    [
      '--head-url: give the address of the repository that the commit comes from: that of a fork needs an approval',
      '--commit: give the full SHA of the head, of 40 characters',
      '--head-ref: give the branch of the head',
      '--approved-commit: give the full SHA of a commit, of 40 characters',
    ],
  ],
  [
    'a repository whose address is that of no remote',
    ['--closed', '--pull-request', '12', '--repository-id', '4711', '--repository-url', 'agents'],
    ['--repository-url: give the address of the repository that it is to'],
  ],
  [
    "an open one without its head, of remotes in git's short form",
    [...named, '--repository-url', 'git@gitlab.com:acme/agents.git', '--head-url', 'git@gitlab.com:eve/agents'],
    ['--commit: give the full SHA of the head, of 40 characters', '--head-ref: give the branch of the head'],
  ],
  [
    'a journal, which a preview does not need',
    [...named, '--head-url', 'https://git.test/eve/agents', '--commit', sha, '--head-ref', 'topic', '--journal', 'x'],
    ['--journal: journal is for deploys and rollbacks: a preview is found by its mark'],
  ],
])('refuses %s', async (_, args, problems) => {
  for (const name of ['GITHUB_REPOSITORY_ID', 'CI_PROJECT_ID', 'GITHUB_REPOSITORY', 'CI_PROJECT_URL'])
    vi.stubEnv(name, '');
  const { code, err } = await runHere(['preview', '--base-url', 'https://host.test', '--api-key', 'key', ...args]);
  expect([code, err.trim().split('\n')]).toEqual([2, problems]);
  vi.unstubAllEnvs();
});

test('explains the options of pull requests', async () => {
  const { out } = await runHere(['preview', '--help']);
  for (const name of [
    'pull-request',
    'repository-id',
    'repository-url',
    'head-ref',
    'head-url',
    'commit',
    'approved-commit',
    'closed',
  ]) {
    expect(out).toContain(`--${name} `);
  }
  expect(out).toContain('--label <label>');
});

test.each<[host: string, env: Record<string, string>, read: object]>([
  [
    'GitHub',
    { GITHUB_REPOSITORY_ID: '1', GITHUB_SERVER_URL: 'https://github.com', GITHUB_REPOSITORY: 'acme/agents' },
    { 'repository-id': '1', 'repository-url': 'https://github.com/acme/agents', 'head-url': undefined },
  ],
  [
    'GitLab, of a fork',
    {
      CI_PROJECT_ID: '2',
      CI_PROJECT_URL: 'https://gitlab.com/eve/agents',
      CI_MERGE_REQUEST_PROJECT_URL: 'https://gitlab.com/acme/agents',
      CI_MERGE_REQUEST_SOURCE_PROJECT_URL: 'https://gitlab.com/eve/agents',
    },
    {
      'repository-id': '2',
      'repository-url': 'https://gitlab.com/acme/agents',
      'head-url': 'https://gitlab.com/eve/agents',
    },
  ],
])('knows what jobs of %s say of their repositories', (_, env, read) => {
  expect(withHostsOwn({ 'pull-request': '12' }, env)).toEqual({ 'pull-request': '12', ...read });
  expect(withHostsOwn({ 'head-url': 'https://x.test/y' }, env)['head-url']).toBe('https://x.test/y');
});
