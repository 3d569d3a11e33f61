import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { examplesOf } from '../../app/events/examples.ts';
import { git } from '../../../src/demo/github/git/commits.ts';
import { testGitHub, type TestGitHub } from './github.ts';
import { startReceiver, type Receiver } from './receiver.ts';

const zeros = '0'.repeat(40);

let demo: TestGitHub;
let app: Receiver;
let first: string;

beforeAll(async () => {
  demo = await testGitHub({
    people: ['mona', 'writer', 'stranger'],
    events: ['push', 'delete', 'pull_request', 'merge_group', 'check_suite'],
  });
  const from = await demo.files({ 'README.md': '# Agents\n' });
  first = (await demo.github.createRepository('acme/agents', { from, writers: ['writer'] })).head ?? '';
  await demo.github.createRepository('acme/secret', { from, isPrivate: true });
  app = await startReceiver(demo.github.app.webhookSecret);
  demo.github.sendWebhooksTo(app.url);
  await demo.github.install('acme');
});

afterAll(async () => {
  await demo.github.settled();
  await app.close();
  await demo.stop();
});

/** The pushes since the last call. */
async function pushes(): Promise<Record<string, unknown>[]> {
  await demo.github.settled();
  if (app.received.some(({ isSigned }) => !isSigned)) throw new Error('a webhook is not signed');
  const reported = app.of('push').map(({ payload }) => payload);
  app.received.length = 0;
  return reported;
}

describe('git over HTTP', () => {
  test('public repositories can be cloned with their initial content', async () => {
    const files = await demo.files({});
    await git(files, 'clone', '--quiet', demo.github.gitUrl('acme/agents'), 'copy');
    expect(await git(`${files}/copy`, 'rev-parse', 'HEAD')).toBe(first);
    // As our control service clones: one commit, by its id.
    await git(files, 'init', '--quiet', 'one');
    await git(
      `${files}/one`,
      'fetch',
      '--quiet',
      '--depth',
      '1',
      '--no-tags',
      '--',
      demo.github.gitUrl('acme/agents'),
      first,
    );
    expect(await git(`${files}/one`, 'rev-parse', 'FETCH_HEAD')).toBe(first);
  });

  test('a push is sent complete, signed, with a GUID', async () => {
    const clone = await demo.clone('acme/agents', 'writer');
    const commit = await clone.commit('Add a graph', { 'src/graph.ts': 'x\n' });
    await clone.push();
    await demo.github.settled();
    const [push] = app.of('push');
    expect(push?.isSigned).toBe(true);
    expect(push?.guid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    expect(push?.payload).toMatchObject({
      ref: 'refs/heads/main',
      before: first,
      after: commit,
      created: false,
      deleted: false,
      forced: false,
      commits: [
        { id: commit, message: 'Add a graph', added: ['src/graph.ts'], removed: [], modified: [], distinct: true },
      ],
      head_commit: { id: commit },
      repository: { full_name: 'acme/agents', default_branch: 'main', private: false },
      pusher: { name: 'writer' },
      sender: { login: 'writer', type: 'User' },
      installation: { id: demo.github.installationId('acme') },
    });
    expect(await demo.github.headOf('acme/agents')).toBe(commit);
    expect(app.of('check_suite.requested')).toHaveLength(1);
    await pushes();
  });

  test('a push that goes back is forced, and five commits are one push', async () => {
    const clone = await demo.clone('acme/agents');
    for (const number of [1, 2, 3, 4, 5]) await clone.commit(`Number ${number}`, { 'n.txt': `${number}` });
    await clone.push();
    await clone.git('reset', '--quiet', '--hard', 'HEAD~6');
    await clone.push('--force', 'origin', 'HEAD:main');
    const [five, back] = await pushes();
    expect(five?.['commits']).toHaveLength(5);
    expect(back).toMatchObject({ forced: true, after: first, commits: [] });
    // A commit without a ref can still be fetched.
    expect(await demo.github.headOf('acme/agents')).toBe(first);
  });

  test('a new branch lists its new commits, and a deleted one is marked deleted', async () => {
    const clone = await demo.clone('acme/agents');
    await clone.push('origin', 'HEAD:refs/heads/same');
    const commit = await clone.commit('Other', { 'o.txt': 'o' });
    await clone.push('origin', 'HEAD:refs/heads/other');
    await clone.push('origin', '--delete', 'other');
    await demo.github.settled();
    expect(app.of('delete').map(({ payload }) => payload)).toMatchObject([{ ref: 'other', ref_type: 'branch' }]);
    const [same, other, gone] = await pushes();
    expect(same).toMatchObject({
      ref: 'refs/heads/same',
      created: true,
      before: zeros,
      commits: [],
      head_commit: { id: first },
    });
    expect(other).toMatchObject({ created: true, after: commit, commits: [{ id: commit }] });
    expect(gone).toMatchObject({ deleted: true, after: zeros, head_commit: null, commits: [] });
  });

  test('up to three tags are sent, more are not', async () => {
    const clone = await demo.clone('acme/agents');
    await clone.git('tag', 'v1');
    await clone.push('--tags');
    for (const tag of ['v2', 'v3', 'v4', 'v5']) await clone.git('tag', tag);
    await clone.push('--tags');
    expect((await pushes()).map(({ ref }) => ref)).toEqual(['refs/tags/v1']);
  });

  test.each([
    ['a stranger pushes to it', 'acme/agents', 'stranger'],
    ['a stranger pushes to what is private', 'acme/secret', 'stranger'],
    ['the token is unknown', 'acme/agents', undefined],
  ])('git is refused when %s', async (_, fullName, login) => {
    const clone = await demo.clone('acme/agents');
    const wrong = `${demo.github.url.replace('://', '://x:wrong@')}/${fullName}.git`;
    const url = login === undefined ? wrong : demo.github.pushUrl(fullName, login);
    await expect(clone.git('push', url, 'HEAD:refs/heads/never')).rejects.toThrow(/403|Authentication failed/);
  });

  test.each(['push', 'delete', 'check_suite', 'installation'])(
    "%s has all fields of GitHub's payload",
    async (name) => {
      const of = (event: string) => demo.github.deliveries().find((each) => each.event === event)?.payload ?? {};
      const known = examplesOf('api.github.com')
        .filter((each) => each.name === name)
        .map(({ payload }) => payload);
      const inAll = Object.keys(known[0] ?? {}).filter((key) => known.every((each) => key in each));
      expect(Object.keys(of(name))).toEqual(expect.arrayContaining(inAll));
    },
  );
});

describe('pull requests', () => {
  test('updates and merge of a branch are sent', async () => {
    const clone = await demo.clone('acme/agents', 'writer');
    await clone.git('checkout', '--quiet', '-b', 'feature');
    await clone.commit('Feature', { 'f.txt': 'f' });
    await clone.push();
    const number = await demo.github.openPullRequest('acme/agents', {
      title: 'F',
      head: 'feature',
      base: 'main',
      by: 'writer',
    });
    const head = await clone.commit('More', { 'f.txt': 'g' });
    await clone.push();
    const queued = await demo.github.queue('acme/agents', number);
    await demo.github.settled();
    expect(app.of('pull_request').map(({ payload }) => payload['action'])).toEqual(['opened', 'synchronize']);
    expect(app.of('pull_request.synchronize')[0]?.payload).toMatchObject({
      after: head,
      pull_request: { head: { sha: head } },
    });
    expect(app.of('merge_group')[0]?.payload).toMatchObject({
      action: 'checks_requested',
      merge_group: { head_sha: queued },
    });
    app.received.length = 0;
  });

  test("a fork's pull request has its commit, and no event of the fork", async () => {
    const fork = await demo.github.fork('acme/agents', 'stranger');
    const clone = await demo.clone(fork, 'stranger');
    await clone.git('checkout', '--quiet', '-b', 'idea');
    const commit = await clone.commit('Idea', { 'i.txt': 'i' });
    await clone.push();
    const number = await demo.github.openPullRequest('acme/agents', {
      title: 'I',
      head: 'stranger:idea',
      base: 'main',
      by: 'stranger',
    });
    await demo.github.settled();
    expect(app.of('push')).toEqual([]);
    expect(app.of('pull_request.opened')[0]?.payload).toMatchObject({
      number,
      pull_request: { head: { sha: commit, repo: { fork: true, full_name: 'stranger/agents' } } },
    });
    expect(await demo.github.checkRuns('acme/agents', commit)).toEqual([]);
  });
});
