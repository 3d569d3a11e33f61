import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ProbotOctokit } from 'probot';
import * as z from 'zod';
import { testGitHub, type Clone, type TestGitHub } from './github.ts';

import { probotOf } from './octokit.ts';

const at = { owner: 'acme', repo: 'agents' };
const all = {
  metadata: 'read',
  contents: 'read',
  checks: 'write',
  deployments: 'write',
  pull_requests: 'write',
  issues: 'write',
  statuses: 'write',
};

let demo: TestGitHub;
let clone: Clone;
let app: InstanceType<typeof ProbotOctokit>;
let octokit: InstanceType<typeof ProbotOctokit>;
let first: string;
let second: string;
let pull: number;

beforeAll(async () => {
  demo = await testGitHub({ people: ['mona', 'writer', 'stranger'], permissions: all });
  const { github } = demo;
  const from = await demo.files({ 'README.md': '# Agents\n', 'src/graph.ts': 'one\ntwo\n' });
  first = (await github.createRepository('acme/agents', { from, writers: ['writer'] })).head ?? '';
  await github.install('acme');
  clone = await demo.clone('acme/agents');
  await clone.git('mv', 'README.md', 'READ ME.md');
  second = await clone.commit('Change\n\nand why', {
    'src/graph.ts': 'one\nthree\n',
    '.github/landfall.yml': 'a: 1\n',
  });
  await clone.push();
  await clone.git('checkout', '--quiet', '-b', 'feature/x');
  await clone.commit('Feature', { 'feature.txt': 'f\n' });
  await clone.push();
  pull = await github.openPullRequest('acme/agents', {
    title: 'Feature',
    head: 'feature/x',
    base: 'main',
    by: 'writer',
  });
  const probot = probotOf(github);
  app = await probot.auth();
  octokit = await probot.auth(github.installationId('acme'));
});

afterAll(async () => {
  await demo.stop();
});

/** The response of one operation, which must match GitHub's OpenAPI document. */
async function ask<T>(asking: Promise<{ data: T }>): Promise<T> {
  const before = demo.problems.length;
  const { data } = await asking;
  if (demo.problems.length > before) throw new Error(demo.problems.slice(before).join('\n'));
  return data;
}

/** The id of what one operation created. */
const idOf = async (asking: Promise<{ data: unknown }>): Promise<number> =>
  z.object({ id: z.number() }).parse(await ask(asking)).id;

/** The error status of one operation. */
const refusalOf = (asking: Promise<unknown>): Promise<unknown> =>
  asking.then(
    () => 'was done',
    (error: unknown) => (error instanceof Error && 'status' in error ? error.status : error),
  );

describe('the App itself', () => {
  test('reads its own data and installations', async () => {
    expect(await ask(app.request('GET /app'))).toMatchObject({ id: demo.github.app.id, slug: 'landfall' });
    const installation_id = demo.github.installationId('acme');
    expect(await ask(app.request('GET /app/installations'))).toMatchObject([{ id: installation_id }]);
    expect(await ask(app.request('GET /app/installations/{installation_id}', { installation_id }))).toMatchObject({
      account: { login: 'acme' },
    });
    expect(await ask(app.request('GET /repos/{owner}/{repo}/installation', at))).toMatchObject({ id: installation_id });
  });

  test('reads its hook and its deliveries, which other tokens cannot', async () => {
    expect(await ask(app.request('GET /app/hook/config'))).toMatchObject({ content_type: 'json' });
    expect(await ask(app.request('GET /app/hook/deliveries'))).toEqual([]);
    expect(
      await refusalOf(
        fetch(`${demo.github.url}/app`).then(({ status }) =>
          Promise.reject(Object.assign(new Error('refused'), { status })),
        ),
      ),
    ).toBe(401);
  });

  test('gets tokens for its own installations only', async () => {
    const call = app.request('POST /app/installations/{installation_id}/access_tokens', { installation_id: 7 });
    expect(await refusalOf(call)).toBe(404);
  });
});

describe('repositories and what is in them', () => {
  test('a repository, and those of the installation', async () => {
    const repository = await ask(octokit.request('GET /repos/{owner}/{repo}', at));
    expect(repository).toMatchObject({ full_name: 'acme/agents', clone_url: demo.github.gitUrl('acme/agents') });
    expect(await ask(octokit.request('GET /installation/repositories'))).toMatchObject({ total_count: 1 });
    expect(await refusalOf(octokit.request('GET /repos/{owner}/{repo}', { ...at, repo: 'nothing' }))).toBe(404);
  });

  test('branches and refs are those of git', async () => {
    expect((await ask(octokit.request('GET /repos/{owner}/{repo}/branches', at))).map(({ name }) => name)).toEqual([
      'feature/x',
      'main',
    ]);
    const branch = await ask(octokit.request('GET /repos/{owner}/{repo}/branches/{branch}', { ...at, branch: 'main' }));
    expect(branch.commit).toMatchObject({ sha: second, commit: { message: 'Change\n\nand why' } });
    const slashed = await ask(
      octokit.request('GET /repos/{owner}/{repo}/branches/{branch}', { ...at, branch: 'feature/x' }),
    );
    expect(slashed.name).toBe('feature/x');
    expect(
      await refusalOf(octokit.request('GET /repos/{owner}/{repo}/branches/{branch}', { ...at, branch: 'gone' })),
    ).toBe(404);
    const ref = await ask(octokit.request('GET /repos/{owner}/{repo}/git/ref/{ref}', { ...at, ref: 'heads/main' }));
    expect(ref.object).toMatchObject({ sha: second, type: 'commit' });
    const refs = await ask(
      octokit.request('GET /repos/{owner}/{repo}/git/matching-refs/{ref}', { ...at, ref: 'heads/f' }),
    );
    expect(refs.map((each) => each.ref)).toEqual(['refs/heads/feature/x']);
  });

  test('commits are those of git', async () => {
    const commit = await ask(octokit.request('GET /repos/{owner}/{repo}/commits/{ref}', { ...at, ref: 'main' }));
    expect(commit.files?.map(({ filename, status }) => [filename, status])).toEqual([
      ['.github/landfall.yml', 'added'],
      ['READ ME.md', 'renamed'],
      ['src/graph.ts', 'modified'],
    ]);
    expect(commit.stats).toEqual({ additions: 2, deletions: 1, total: 3 });
    expect(commit.files?.[2]?.patch).toContain('-two\n+three');
    const [newest] = await ask(octokit.request('GET /repos/{owner}/{repo}/commits', { ...at, per_page: 1 }));
    expect(newest?.sha).toBe(second);
    const raw = await ask(
      octokit.request('GET /repos/{owner}/{repo}/git/commits/{commit_sha}', { ...at, commit_sha: second }),
    );
    expect(raw.parents.map(({ sha }) => sha)).toEqual([first]);
  });

  test.each([
    ['ahead', () => `${first}...main`, { status: 'ahead', ahead_by: 1, behind_by: 0 }],
    ['behind', () => `main...${first}`, { status: 'behind', ahead_by: 0, behind_by: 1 }],
    ['identical', () => `${second}...main`, { status: 'identical', total_commits: 0, files: [] }],
  ])('a comparison reports what is %s', async (_, basehead, wanted) => {
    const reported = await ask(
      octokit.request('GET /repos/{owner}/{repo}/compare/{basehead}', { ...at, basehead: basehead() }),
    );
    expect(reported).toMatchObject(wanted);
  });

  test('a comparison has both names of renamed files', async () => {
    const basehead = `${first}...main`;
    const { files } = await ask(octokit.request('GET /repos/{owner}/{repo}/compare/{basehead}', { ...at, basehead }));
    expect(files).toContainEqual(expect.objectContaining({ filename: 'READ ME.md', previous_filename: 'README.md' }));
  });

  test('reads files and folders, and rejects missing ones', async () => {
    const file = await ask(
      octokit.request('GET /repos/{owner}/{repo}/contents/{path}', { ...at, path: 'src/graph.ts', ref: first }),
    );
    expect('content' in file && Buffer.from(file.content, 'base64').toString()).toBe('one\ntwo\n');
    const folder = await ask(octokit.request('GET /repos/{owner}/{repo}/contents/{path}', { ...at, path: '' }));
    expect(Array.isArray(folder) && folder.map(({ name, type }) => `${name} ${type}`)).toEqual([
      '.github dir',
      'READ ME.md file',
      'src dir',
    ]);
    const raw = await ask(
      octokit.request('GET /repos/{owner}/{repo}/contents/{path}', {
        ...at,
        path: 'READ ME.md',
        mediaType: { format: 'raw' },
      }),
    );
    expect(raw).toBe('# Agents\n');
    const gone = { ...at, path: 'src/gone.ts' };
    expect(await refusalOf(octokit.request('GET /repos/{owner}/{repo}/contents/{path}', gone))).toBe(404);
  });
});

describe('checks', () => {
  test('a run is created, changed and found, with its buttons and annotations', async () => {
    const annotation = {
      path: 'src/graph.ts',
      start_line: 1,
      end_line: 1,
      annotation_level: 'warning' as const,
      message: 'm',
    };
    const output = { title: 'Queued', summary: 's', annotations: [annotation] };
    const actions = [{ label: 'Rollback', description: 'To the former one', identifier: 'rollback' }];
    const made = await ask(
      octokit.request('POST /repos/{owner}/{repo}/check-runs', {
        ...at,
        name: 'Landfall: echo',
        head_sha: second,
        external_id: 'e',
        output,
        actions,
      }),
    );
    const run = { ...at, check_run_id: made.id };
    expect(made).toMatchObject({
      status: 'queued',
      conclusion: null,
      external_id: 'e',
      app: { id: demo.github.app.id },
    });
    const done = await ask(
      octokit.request('PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}', {
        ...run,
        conclusion: 'success',
        output,
      }),
    );
    expect(done).toMatchObject({ status: 'completed', conclusion: 'success', output: { annotations_count: 2 } });
    expect(await ask(octokit.request('GET /repos/{owner}/{repo}/check-runs/{check_run_id}', run))).toMatchObject({
      id: made.id,
    });
    expect(
      await ask(octokit.request('GET /repos/{owner}/{repo}/check-runs/{check_run_id}/annotations', run)),
    ).toHaveLength(2);
    const listed = { ...at, ref: second, check_name: 'Landfall: echo', app_id: demo.github.app.id };
    const found = await ask(octokit.request('GET /repos/{owner}/{repo}/commits/{ref}/check-runs', listed));
    expect(found).toMatchObject({ total_count: 1, check_runs: [{ id: made.id }] });
    const suites = await ask(
      octokit.request('GET /repos/{owner}/{repo}/commits/{ref}/check-suites', { ...at, ref: 'main' }),
    );
    const suite = { ...at, check_suite_id: Number(suites.check_suites[0]?.id) };
    expect(await ask(octokit.request('GET /repos/{owner}/{repo}/check-suites/{check_suite_id}', suite))).toMatchObject({
      head_branch: 'main',
    });
    expect(
      await ask(octokit.request('GET /repos/{owner}/{repo}/check-suites/{check_suite_id}/check-runs', suite)),
    ).toMatchObject({ total_count: 1 });
    await ask(octokit.request('POST /repos/{owner}/{repo}/check-runs/{check_run_id}/rerequest', run));
    await ask(octokit.request('POST /repos/{owner}/{repo}/check-suites/{check_suite_id}/rerequest', suite));
    await ask(octokit.request('POST /repos/{owner}/{repo}/check-suites', { ...at, head_sha: first }));
    expect(await demo.github.checkRuns('acme/agents', 'main')).toMatchObject([
      { name: 'Landfall: echo', buttons: ['rollback'] },
    ]);
  });

  test.each([
    ['on an unknown commit', { head_sha: 'a'.repeat(40) }],
    [
      'with four buttons',
      { actions: ['a', 'b', 'c', 'd'].map((name) => ({ label: name, description: name, identifier: name })) },
    ],
    ['with a text that is too long', { output: { title: 't', summary: 'x'.repeat(65_536) } }],
  ])('a run %s is refused', async (_, wrong) => {
    const before = demo.problems.length;
    const call = { ...at, name: 'Landfall', head_sha: second, ...wrong };
    expect(await refusalOf(octokit.request('POST /repos/{owner}/{repo}/check-runs', call))).toBe(422);
    // Some of these bounds are in the document itself.
    demo.problems.splice(before);
  });
});

describe('deployments and statuses', () => {
  test('a success makes the former deployment of its environment inactive', async () => {
    const make = async () =>
      idOf(
        octokit.request('POST /repos/{owner}/{repo}/deployments', {
          ...at,
          ref: second,
          environment: 'staging',
          auto_merge: false,
          required_contexts: [],
          payload: { landfall: 'id' },
        }),
      );
    const report = (deployment_id: number) =>
      ask(
        octokit.request('POST /repos/{owner}/{repo}/deployments/{deployment_id}/statuses', {
          ...at,
          deployment_id,
          state: 'success',
          environment_url: 'https://agent.example.com',
          description: 'live',
        }),
      );
    const former = await make();

    await report(former);
    const latter = await make();

    const status = await report(latter);
    const one = { ...at, deployment_id: former };
    const [newest] = await ask(octokit.request('GET /repos/{owner}/{repo}/deployments/{deployment_id}/statuses', one));
    expect(newest?.state).toBe('inactive');
    expect(await ask(octokit.request('GET /repos/{owner}/{repo}/deployments/{deployment_id}', one))).toMatchObject({
      sha: second,
    });
    const given = { ...at, deployment_id: latter, status_id: Number(status.id) };
    expect(
      await ask(octokit.request('GET /repos/{owner}/{repo}/deployments/{deployment_id}/statuses/{status_id}', given)),
    ).toMatchObject({ state: 'success' });
    const listed = await ask(
      octokit.request('GET /repos/{owner}/{repo}/deployments', { ...at, sha: second, environment: 'staging' }),
    );
    expect(listed.map(({ id }) => id)).toEqual([latter, former]);
  });

  test('a commit whose required checks failed is not deployed', async () => {
    const head_sha = first;
    await ask(
      octokit.request('POST /repos/{owner}/{repo}/check-runs', { ...at, name: 'ci', head_sha, conclusion: 'failure' }),
    );
    expect(await refusalOf(octokit.request('POST /repos/{owner}/{repo}/deployments', { ...at, ref: first }))).toBe(409);
  });

  test('reads statuses of a commit, and the combined one', async () => {
    const on = { ...at, sha: second, context: 'landfall' };
    await ask(octokit.request('POST /repos/{owner}/{repo}/statuses/{sha}', { ...on, state: 'pending' }));
    await ask(octokit.request('POST /repos/{owner}/{repo}/statuses/{sha}', { ...on, state: 'success' }));
    expect(
      await ask(octokit.request('GET /repos/{owner}/{repo}/commits/{ref}/statuses', { ...at, ref: 'main' })),
    ).toHaveLength(2);
    const together = await ask(
      octokit.request('GET /repos/{owner}/{repo}/commits/{ref}/status', { ...at, ref: 'main' }),
    );
    expect(together).toMatchObject({ state: 'success', total_count: 1 });
  });
});

describe('pull requests and people', () => {
  test('a pull request matches git', async () => {
    const one = { ...at, pull_number: pull };
    const reported = await ask(octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', one));
    expect(reported).toMatchObject({
      commits: 1,
      changed_files: 1,
      additions: 1,
      mergeable: true,
      head: { ref: 'feature/x' },
    });
    expect(await ask(octokit.request('GET /repos/{owner}/{repo}/pulls', { ...at, state: 'open' }))).toHaveLength(1);
    const files = await ask(octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}/files', one));
    expect(files.map(({ filename }) => filename)).toEqual(['feature.txt']);
    expect(await ask(octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}/commits', one))).toHaveLength(1);
    const commit_sha = reported.head.sha;
    expect(
      await ask(octokit.request('GET /repos/{owner}/{repo}/commits/{commit_sha}/pulls', { ...at, commit_sha })),
    ).toHaveLength(1);
    await ask(octokit.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', { ...one, title: 'Other' }));
  });

  test('comments are created, changed, found and removed', async () => {
    const issue = { ...at, issue_number: pull };
    const { id: comment_id } = await ask(
      octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', { ...issue, body: 'a' }),
    );
    await ask(
      octokit.request('PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}', { ...at, comment_id, body: 'b' }),
    );
    expect(await ask(octokit.request('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', issue))).toMatchObject(
      [{ body: 'b' }],
    );
    await ask(octokit.request('GET /repos/{owner}/{repo}/issues/comments/{comment_id}', { ...at, comment_id }));
    await ask(octokit.request('DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}', { ...at, comment_id }));
    expect(await demo.github.comments('acme/agents', pull)).toEqual([]);
  });

  test.each([
    ['mona', 'admin'],
    ['writer', 'write'],
    ['stranger', 'read'],
  ])('%s may %s', async (username, permission) => {
    const reported = await ask(
      octokit.request('GET /repos/{owner}/{repo}/collaborators/{username}/permission', { ...at, username }),
    );
    expect(reported.permission).toBe(permission);
  });

  test('an installation has no user, a person has', async () => {
    expect(await refusalOf(octokit.request('GET /user'))).toBe(403);
    const headers = { authorization: `token ${demo.github.tokenOf('mona')}` };
    expect(await (await fetch(`${demo.github.url}/user`, { headers })).json()).toMatchObject({ login: 'mona' });
    await ask(octokit.request('GET /users/{username}', { username: 'mona' }));
    await ask(octokit.request('GET /rate_limit'));
  });
});
