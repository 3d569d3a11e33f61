import { describe, expect, test } from 'vitest';
import { isPullRequestClosed, readPullRequest } from '../../src/action/pull-request.ts';
import type { RunEvent } from '../../src/action/run-event.ts';
import type { GitHubClient } from '../../src/github/client.ts';
import { LittleGitHub } from '../github/little-github.ts';
import { connectGitHub } from '../../src/action/github-connection.ts';

const [older, newer] = ['a'.repeat(40), 'b'.repeat(40)];
const own = { id: 4711, html_url: 'https://github.com/acme/agents' };
const fork = { id: 99, html_url: 'https://github.com/eve/agents' };
const pull = (sha = older, repo: unknown = own) => ({
  number: 12,
  state: 'open',
  labels: [{ name: 'preview' }, { name: 3 }],
  head: { ref: 'topic', sha, repo },
  base: { repo: own },
});

const event = (payload: Record<string, unknown>, eventName = 'pull_request'): RunEvent => ({
  eventName,
  repository: 'acme/agents',
  sha: 'f'.repeat(40),
  ref: 'refs/pull/12/merge',
  actor: 'octocat',
  apiUrl: '',
  serverUrl: 'https://github.com',
  runId: '900',
  runAttempt: 1,
  payload,
});

const warnings: string[] = [];
const reader = (client?: GitHubClient) => ({
  client,
  repository: { owner: 'acme', name: 'agents' },
  warn: (message: string) => warnings.push(message),
});

/** Does something with a GitHub that has these pull requests. */
async function withGitHub<T>(pulls: readonly object[], work: (client: GitHubClient) => Promise<T>): Promise<T> {
  const github = new LittleGitHub();
  for (const each of pulls) github.pulls.set(12, each);
  const client = connectGitHub(await github.start(), 'token', { userAgent: 'test' });
  try {
    return await work(client);
  } finally {
    await client.close();
    await github.stop();
  }
}

describe('the pull request of a run', () => {
  test('is that of the event, without a token', async () => {
    expect(await readPullRequest(event({ pull_request: pull() }), undefined, reader())).toEqual({
      pull: {
        repositoryId: 4711,
        number: 12,
        repositoryUrl: 'https://github.com/acme/agents',
        headUrl: 'https://github.com/acme/agents',
        headRef: 'topic',
        headSha: older,
        isFork: false,
        isOpen: true,
        labels: ['preview'],
      },
      isRequested: false,
      eventSha: older,
    });
  });

  test('is as GitHub has it now, and the event says of which commit the run is', async () => {
    const now = { ...pull(newer), state: 'closed' };
    const read = await withGitHub([now], (client) =>
      readPullRequest(event({ pull_request: pull() }), undefined, reader(client)),
    );
    expect(read).toMatchObject({ pull: { headSha: newer, isOpen: false }, eventSha: older });
  });

  test.each([
    ['a fork', fork, { isFork: true, headUrl: fork.html_url }],
    ['a fork that was deleted', null, { isFork: true, headUrl: undefined }],
  ])('knows %s', async (_, repo, expected) => {
    const read = await readPullRequest(event({ pull_request: pull(older, repo) }), undefined, reader());
    expect(read?.pull).toMatchObject(expected);
  });

  test('of a run that a person started is the one that its input names', async () => {
    const started = event({ inputs: {} }, 'workflow_dispatch');
    expect(await withGitHub([pull()], (client) => readPullRequest(started, 12, reader(client)))).toMatchObject({
      pull: { number: 12 },
      isRequested: true,
    });
    expect(await readPullRequest(started, 12, reader())).toBeUndefined();
  });

  test('is never another one than the input names', async () => {
    expect(await readPullRequest(event({ pull_request: pull() }), 13, reader())).toBeUndefined();
  });

  test('that can not be read is that of the event, with a warning', async () => {
    const read = await withGitHub([], (client) =>
      readPullRequest(event({ pull_request: pull() }), undefined, reader(client)),
    );
    expect(read).toMatchObject({ pull: { number: 12 } });
    expect(warnings.at(-1)).toContain('Pull request 12 was not read');
  });

  test.each([
    ['a push', {}],
    ['a payload of another form', { pull_request: { number: 12, head: 'topic' } }],
  ])('is none for %s', async (_, payload) => {
    expect(await readPullRequest(event(payload), undefined, reader())).toBeUndefined();
  });
});

test.each([
  ['open', [pull()], false],
  ['closed', [{ ...pull(), state: 'closed' }], true],
  ['unknown', [], undefined],
])('another pull request is %s', async (_, pulls, isClosed) => {
  expect(await withGitHub(pulls, (client) => isPullRequestClosed(12, reader(client)))).toBe(isClosed);
});
