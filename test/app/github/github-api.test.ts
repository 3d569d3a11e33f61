import { loggerTo } from '../../logger.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createGitHubApi, createRepositoryClient } from '../../../app/github/github-client.ts';
import { createDeliveryClient, nextCursor } from '../../../app/github/deliveries.ts';
import type { GitHubApi } from '../../../app/github/github-api.ts';
import { AppOctokit, createInstallationClients } from '../../../app/github/installation-clients.ts';
import { commentTopic } from '../../../app/github/pull-requests.ts';
import { commentMark } from '../../../src/github/comment.ts';
import { LittleGitHub, type ReceivedRequest } from '../../github/little-github.ts';
import { SteppingClock } from './stepping-clock.ts';

const repository = { installationId: 7, repositoryId: 70, owner: 'acme', name: 'agents' };
const commit = 'c0ffee0000000000000000000000000000000001';
const newer = 'decade0000000000000000000000000000000002';

let github: LittleGitHub;
let githubApi: GitHubApi;
let baseUrl: string;
let clientOf: ReturnType<typeof createInstallationClients>;

beforeEach(async () => {
  github = new LittleGitHub();
  baseUrl = await github.start();
  const octokitFor = async () => new AppOctokit({ auth: { token: 'secret-token' }, baseUrl });
  clientOf = createInstallationClients({ octokitFor, clock: new SteppingClock(), random: () => 0 });
  githubApi = createGitHubApi(clientOf);
});
afterEach(() => github.stop());

const answer = (body: unknown, status = 200, headers: Record<string, string> = {}) => {
  github.before = () => ({ status, body, headers });
};
const missing = () => answer({ message: 'Not Found' }, 404);

describe('the head of a branch', () => {
  const branch = (name: string) => ({
    name,
    commit: { sha: commit, commit: { message: 'Mend it', committer: { date: '2026-01-05T08:00:00Z' } } },
  });

  test('is its newest commit with message and time', async () => {
    answer(branch('feature/x#1'));
    expect(await githubApi.head(repository, 'feature/x#1')).toEqual({
      sha: commit,
      message: 'Mend it',
      committedAt: Date.parse('2026-01-05T08:00:00Z'),
    });
    expect(decodeURIComponent(github.requests[0]?.path ?? '')).toBe('/repos/acme/agents/branches/feature/x#1');
  });

  test('of a missing branch is a value', async () => {
    missing();
    expect(await githubApi.head(repository, 'gone')).toBeUndefined();
  });

  test('of a renamed branch is not that of the new name', async () => {
    answer(branch('main'));
    expect(await githubApi.head(repository, 'master')).toBeUndefined();
  });

  test('that cannot be read is an error, not a missing branch', async () => {
    answer({}, 500);
    await expect(githubApi.head(repository, 'main')).rejects.toMatchObject({ name: 'GitHubApiError', status: 500 });
  });
});

describe('a comparison of two commits', () => {
  const files = (count: number) => Array.from({ length: count }, (_, n) => ({ filename: `f${n}` }));
  test.each([
    ['ahead: its paths', { status: 'ahead', files: files(2) }, { kind: 'ahead', paths: ['f0', 'f1'] }],
    [
      'a rename counts with both names',
      { status: 'ahead', files: [{ filename: 'new', previous_filename: 'old' }] },
      { kind: 'ahead', paths: ['new', 'old'] },
    ],
    ['nothing', { status: 'ahead', files: [] }, { kind: 'ahead', paths: [] }],
    ['identical', { status: 'identical', files: [] }, { kind: 'identical' }],
    ['299 files are a whole list', { status: 'ahead', files: files(299) }, expect.objectContaining({ kind: 'ahead' })],
    [
      '300 files may be a cut one',
      { status: 'ahead', files: files(300) },
      expect.objectContaining({ kind: 'unavailable', contains: true }),
    ],
    ['no list', { status: 'ahead' }, expect.objectContaining({ kind: 'unavailable', contains: true })],
    [
      'a forced push back',
      { status: 'behind', files: [] },
      expect.objectContaining({ kind: 'unavailable', contains: false }),
    ],
    [
      'a rewritten branch',
      { status: 'diverged', files: files(1) },
      expect.objectContaining({ kind: 'unavailable', contains: false }),
    ],
  ])('%s', async (_, body, expected) => {
    answer(body);
    expect(await githubApi.compare(repository, commit, newer)).toEqual(expected);
  });

  test('is unavailable for a commit that GitHub does not know', async () => {
    missing();
    const unreported = await githubApi.compare(repository, commit, newer);
    expect(unreported).toEqual({ kind: 'unavailable', why: expect.stringContaining('does not know') });
  });

  test('of a commit with itself needs no request', async () => {
    expect(await githubApi.compare(repository, commit, commit)).toEqual({ kind: 'identical' });
    expect(github.requests).toEqual([]);
  });
});

describe('a file', () => {
  const file = (text: string, over: object = {}) => ({
    type: 'file',
    encoding: 'base64',
    size: Buffer.byteLength(text),
    content: Buffer.from(text)
      .toString('base64')
      .replace(/(.{60})/g, '$1\n'),
    ...over,
  });

  test('is its text at a commit or branch', async () => {
    const text = 'name: écho\n'.repeat(30);
    answer(file(text));
    expect(await githubApi.file(repository, '.github/landfall.yml', commit)).toBe(text);
    expect(decodeURIComponent(github.requests[0]?.path ?? '')).toBe('/repos/acme/agents/contents/.github/landfall.yml');
    expect(github.requests[0]?.query.get('ref')).toBe(commit);
  });

  test.each([
    ['a folder', [{ type: 'file', name: 'a' }]],
    ['a submodule', { type: 'submodule', size: 0 }],
  ])('%s is none', async (_, body) => {
    answer(body);
    expect(await githubApi.file(repository, 'x', 'main')).toBeUndefined();
  });

  test('that is not there is a value', async () => {
    missing();
    expect(await githubApi.file(repository, 'x', 'main')).toBeUndefined();
  });

  test.each([
    ['larger than 1 MB', file('x', { size: 1_000_001 })],
    ['so large that GitHub leaves its text out', file('', { size: 3_000_000, encoding: 'none' })],
  ])('%s is refused with its size', async (_, body) => {
    answer(body);
    await expect(githubApi.file(repository, 'x', 'main')).rejects.toMatchObject({
      name: 'FileTooLarge',
      effect: 'none',
      message: expect.stringContaining('too large'),
    });
  });
});

describe("a person's permission", () => {
  test.each([
    ['admin', 'admin'],
    ['write', 'write'],
    ['read', 'read'],
    ['none', 'none'],
    ['a word of tomorrow', 'none'],
  ])('%s is %s', async (permission, expected) => {
    answer({ permission, role_name: 'maintain', user: null });
    expect(await githubApi.permissionOf(repository, 'alice')).toBe(expected);
  });

  test.each([
    ['the same person', { id: 5 }, 'write'],
    ['another person, who took the login', { id: 6 }, 'none'],
    ['nobody that GitHub names', null, 'none'],
  ])('of %s', async (_, user, expected) => {
    answer({ permission: 'write', role_name: 'write', user });
    expect(await githubApi.permissionOf(repository, 'alice', 5)).toBe(expected);
  });

  test('is none for a stranger', async () => {
    missing();
    expect(await githubApi.permissionOf(repository, 'mallory[bot]')).toBe('none');
  });
});

describe('a pull request', () => {
  const [own, fork] = ['https://github.com/acme/agents', 'https://github.com/mallory/agents'];
  const pull = (repo: { id: number; html_url: string } | null, more: object = {}) => ({
    head: { sha: commit, ref: 'next', repo },
    base: { ref: 'main', repo: { id: 70, html_url: own } },
    state: 'open',
    merged: false,
    labels: [{ name: 'preview' }],
    ...more,
  });
  const open = {
    headSha: commit,
    baseBranch: 'main',
    isOpen: true,
    isMerged: false,
    labels: ['preview'],
    headRef: 'next',
    isFork: true,
    repositoryUrl: own,
  };

  test.each([
    [
      'of the repository',
      pull({ id: 70, html_url: own }),
      { ...open, headBranch: 'next', isFork: false, headUrl: own },
    ],
    ['of a fork', pull({ id: 71, html_url: fork }), { ...open, headUrl: fork }],
    ['of a deleted fork', pull(null), open],
    ['that was merged', pull(null, { state: 'closed', merged: true }), { ...open, isOpen: false, isMerged: true }],
  ])('%s', async (_, body, expected) => {
    answer(body);
    expect(await githubApi.pullRequest({ repository, number: 7 })).toEqual(expected);
    expect(github.lines).toEqual(['GET /repos/acme/agents/pulls/7']);
  });

  test('of a repository that took the name is none of it', async () => {
    answer(pull(null, { base: { ref: 'main', repo: { id: 72 } } }));
    await expect(githubApi.pullRequest({ repository, number: 7 })).rejects.toThrow('is another repository by now');
  });

  test('that is not there is a value', async () => {
    missing();
    expect(await githubApi.pullRequest({ repository, number: 7 })).toBeUndefined();
  });
});

describe('comments', () => {
  const at = { repository, number: 12 };
  const by = (login: string) => ({
    id: github.nextId(),
    body: `${commentMark(commentTopic)}\ntheirs`,
    user: { login, type: 'Bot' },
  });
  beforeEach(() => {
    github.before = ({ path }) => (path === '/app' ? { status: 200, body: { slug: 'landfall' } } : undefined);
  });

  test('are found by the mark and by the App as their author, which is read once', async () => {
    github.comments.push(by('other[bot]'));
    const id = await githubApi.writeComment(at, undefined, 'first');
    expect(await githubApi.writeComment(at, undefined, 'second')).toBe(id);
    expect(github.comments.map(({ body }) => body)).toEqual([
      `${commentMark(commentTopic)}\ntheirs`,
      `${commentMark(commentTopic)}\nsecond`,
    ]);
    expect(github.lines.filter((line) => line === 'GET /app')).toHaveLength(1);
  });

  test('are made once even if the first response is lost', async () => {
    github.after = ({ method }, answered) => (method === 'POST' ? { ...answered, drop: true } : answered);
    await expect(githubApi.writeComment(at, undefined, 'first')).rejects.toMatchObject({ effect: 'unknown' });
    github.after = (_, answered) => answered;
    await githubApi.writeComment(at, undefined, 'first');
    expect(github.comments).toHaveLength(1);
  });

  test('are written after the name of the App could not be read once', async () => {
    github.before = () => ({ status: 404, body: {} });
    await expect(githubApi.writeComment(at, undefined, 'first')).rejects.toMatchObject({ status: 404 });
    github.before = ({ path }) => (path === '/app' ? { status: 200, body: { slug: 'landfall' } } : undefined);
    await githubApi.writeComment(at, undefined, 'first');
    expect(github.comments).toHaveLength(1);
  });

  test('of people get reactions', async () => {
    answer({ id: 1 }, 201);
    await githubApi.react(repository, 99, 'eyes');
    expect(github.requests).toMatchObject([
      { method: 'POST', path: '/repos/acme/agents/issues/comments/99/reactions', body: { content: 'eyes' } },
    ]);
  });
});

describe('writes', () => {
  const at = { repository, headSha: commit, name: 'Landfall: echo', externalId: 'report-1' };
  const place = { repository, commit, externalId: 'report-2' };
  const content = { status: 'queued', title: 'Waits', summary: 'It waits.' } as const;
  const shown = {
    environment: 'production',
    production: true,
    transient: false,
    state: 'queued',
    description: 'x',
  } as const;

  test('a check run is made once even if the first response is lost', async () => {
    github.after = ({ method }, answered) => (method === 'POST' ? { ...answered, drop: true } : answered);
    await expect(githubApi.writeCheck(at, undefined, content)).rejects.toMatchObject({ effect: 'unknown' });
    github.after = (_, answered) => answered;
    const id = await githubApi.writeCheck(at, undefined, content);
    expect(github.checks).toMatchObject([{ id, external_id: 'report-1' }]);
  });

  test('a write without a turn soon causes no reads', async () => {
    const limits = { betweenWritesMs: 20_000, maxCreatedPerMinute: 80, maxCreatedPerHour: 500 };
    const octokitFor = async () => new AppOctokit({ auth: { token: 'secret-token' }, baseUrl });
    const slow = createGitHubApi(createInstallationClients({ octokitFor, clock: new SteppingClock(), limits }));
    await slow.writeCheck(at, undefined, content);
    github.requests.length = 0;
    await expect(slow.writeCheck({ ...at, externalId: 'other' }, undefined, content)).rejects.toMatchObject({
      name: 'InstallationPaused',
    });
    await expect(slow.makeDeployment(place, shown)).rejects.toMatchObject({ name: 'InstallationPaused' });
    expect(github.requests).toEqual([]);
  });

  test('a deployment too', async () => {
    github.after = ({ method }, answered) => (method === 'POST' ? { status: 502 } : answered);
    await expect(githubApi.makeDeployment(place, shown)).rejects.toMatchObject({ effect: 'unknown' });
    github.after = (_, answered) => answered;
    const id = await githubApi.makeDeployment(place, shown);
    expect(github.deployments).toMatchObject([{ id }]);
  });

  test('a status too', async () => {
    const id = await githubApi.makeDeployment(place, shown);
    github.after = ({ method }, answered) => (method === 'POST' ? { status: 502 } : answered);
    await expect(githubApi.writeDeploymentStatus(place, id, shown)).rejects.toMatchObject({ effect: 'unknown' });
    github.after = (_, answered) => answered;
    await githubApi.writeDeploymentStatus(place, id, shown);
    expect(github.statuses).toHaveLength(1);
  });

  test.each([202, 409])('a deployment that GitHub did not make (%i) is a refusal with its sentence', async (status) => {
    github.before = ({ method }) => (method === 'POST' ? { status, body: { message: 'because' } } : undefined);
    await expect(githubApi.makeDeployment(place, shown)).rejects.toMatchObject({
      name: 'GitHubApiError',
      status,
      effect: 'none',
      message: expect.stringContaining('because'),
    });
  });
});

describe('for recovery', () => {
  test('deliveries are paged, newest first, with a cursor', async () => {
    const row = {
      id: 5,
      guid: 'g',
      event: 'push',
      redelivery: true,
      delivered_at: '2026-01-05T08:00:00Z',
      status_code: 502,
    };
    answer([row], 200, {
      link: '<https://api.test/app/hook/deliveries?per_page=100&cursor=v1_12>; rel="next", <x>; rel="last"',
    });
    expect(await createDeliveryClient(clientOf(undefined)).page('v1_1')).toEqual({
      deliveries: [
        {
          id: 5,
          guid: 'g',
          event: 'push',
          redelivery: true,
          deliveredAt: Date.parse('2026-01-05T08:00:00Z'),
          statusCode: 502,
        },
      ],
      next: 'v1_12',
    });
    expect(github.requests[0]?.query.get('cursor')).toBe('v1_1');
  });

  test('one is requested again', async () => {
    answer({}, 202);
    await createDeliveryClient(clientOf(undefined)).requestRedelivery(5);
    expect(github.lines).toEqual(['POST /app/hook/deliveries/5/attempts']);
  });

  test.each([
    ['none', undefined, undefined],
    ['another relation', '<https://api.test/x?cursor=a>; rel="prev"', undefined],
    ['no address', '<nothing>; rel="next"', undefined],
  ])('a page without a next one has no cursor: %s', (_, link, expected) => expect(nextCursor(link)).toBe(expected));

  test('repositories of every active installation are listed; a failing one is skipped', async () => {
    const log: string[] = [];
    github.before = ({ path, query }: ReceivedRequest) => {
      if (path === '/app/installations') {
        const first = Array.from({ length: 100 }, (_, n) => ({
          id: n + 1,
          suspended_at: n < 98 ? '2026-01-01T00:00:00Z' : null,
        }));
        return { status: 200, body: query.get('page') === '1' ? first : [{ id: 101, suspended_at: null }] };
      }
      const nth = github.requests.filter((each) => each.path === path).length;
      if (nth === 1) return { status: 403, body: { message: 'This installation has been suspended' } };
      return {
        status: 200,
        body: { total_count: 1, repositories: [{ id: nth, name: 'agents', owner: { login: 'acme' } }] },
      };
    };
    const found: unknown[] = [];
    for await (const each of createRepositoryClient(
      clientOf,
      loggerTo((line) => log.push(line)),
    ).repositories())
      found.push(each);
    expect(found).toEqual([
      { installationId: 100, repositoryId: 2, owner: 'acme', name: 'agents' },
      { installationId: 101, repositoryId: 3, owner: 'acme', name: 'agents' },
    ]);
    expect(log).toEqual([expect.stringContaining('installation 99')]);
  });
});
