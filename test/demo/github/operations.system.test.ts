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
    const [installation] = await ask(app.request('GET /app/installations'));
    expect(installation).toMatchObject({ id: demo.github.installationId('acme'), account: { login: 'acme' } });
  });

  test('reads its deliveries, which other tokens cannot', async () => {
    expect(await ask(app.request('GET /app/hook/deliveries'))).toEqual([]);
    expect(
      await refusalOf(
        fetch(`${demo.github.url}/app/hook/deliveries`).then(({ status }) =>
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

  test('branches are those of git', async () => {
    const branch = await ask(octokit.request('GET /repos/{owner}/{repo}/branches/{branch}', { ...at, branch: 'main' }));
    expect(branch.commit).toMatchObject({ sha: second, commit: { message: 'Change\n\nand why' } });
    const slashed = await ask(
      octokit.request('GET /repos/{owner}/{repo}/branches/{branch}', { ...at, branch: 'feature/x' }),
    );
    expect(slashed.name).toBe('feature/x');
    expect(
      await refusalOf(octokit.request('GET /repos/{owner}/{repo}/branches/{branch}', { ...at, branch: 'gone' })),
    ).toBe(404);
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
    expect(files).toMatchObject([
      { filename: '.github/landfall.yml', status: 'added' },
      { filename: 'READ ME.md', status: 'renamed', previous_filename: 'README.md' },
      { filename: 'src/graph.ts', status: 'modified', additions: 1, deletions: 1 },
    ]);
  });

  test('reads files and folders, and rejects missing ones', async () => {
    const file = await ask(
      octokit.request('GET /repos/{owner}/{repo}/contents/{path}', { ...at, path: 'src/graph.ts', ref: first }),
    );
    expect('content' in file && Buffer.from(file.content, 'base64').toString()).toBe('one\ntwo\n');
    const folder = await ask(octokit.request('GET /repos/{owner}/{repo}/contents/{path}', { ...at, path: 'src' }));
    expect(folder).toMatchObject([{ name: 'graph.ts', path: 'src/graph.ts', type: 'file' }]);
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
    expect(await demo.github.checkRuns('acme/agents', 'main')).toMatchObject([
      { name: 'Landfall: echo', buttons: ['rollback'] },
    ]);
  });

  test('rejects a run on an unknown commit', async () => {
    const call = { ...at, name: 'Landfall', head_sha: 'a'.repeat(40) };
    expect(await refusalOf(octokit.request('POST /repos/{owner}/{repo}/check-runs', call))).toBe(422);
  });
});

test('a deployment gets statuses, and is found by its commit', async () => {
  const deployment = { ref: second, environment: 'staging', auto_merge: false, required_contexts: [] };
  const deployment_id = await idOf(
    octokit.request('POST /repos/{owner}/{repo}/deployments', { ...at, ...deployment, payload: { landfall: 'id' } }),
  );
  const one = { ...at, deployment_id };
  for (const state of ['in_progress', 'success'] as const) {
    const status = { ...one, state, environment_url: 'https://agent.example.com', description: 'live' };
    await ask(octokit.request('POST /repos/{owner}/{repo}/deployments/{deployment_id}/statuses', status));
  }
  const statuses = await ask(octokit.request('GET /repos/{owner}/{repo}/deployments/{deployment_id}/statuses', one));
  expect(statuses.map(({ state }) => state)).toEqual(['success', 'in_progress']);
  const listed = await ask(octokit.request('GET /repos/{owner}/{repo}/deployments', { ...at, sha: second }));
  expect(listed).toMatchObject([{ id: deployment_id, environment: 'staging', payload: { landfall: 'id' } }]);
  expect(await ask(octokit.request('GET /repos/{owner}/{repo}/deployments', { ...at, sha: first }))).toEqual([]);
});

describe('pull requests and people', () => {
  test('the files of a pull request are those of git', async () => {
    const one = { ...at, pull_number: pull };
    const files = await ask(octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}/files', one));
    expect(files).toMatchObject([{ filename: 'feature.txt', status: 'added', additions: 1 }]);
  });

  test('comments are made, changed and found', async () => {
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
  });

  test('a new comment counts as not edited', async () => {
    const issue = { ...at, issue_number: pull };
    for (const body of 'abcdefgh') {
      const { id: comment_id } = await ask(
        octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', { ...issue, body }),
      );
      const { created_at, updated_at } = await ask(
        octokit.request('GET /repos/{owner}/{repo}/issues/comments/{comment_id}', { ...at, comment_id }),
      );
      expect(updated_at).toBe(created_at);
    }
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
});
