import { silentLogger } from '../../../src/kit/logger.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createGitHubApi, createRepositoryClient } from '../../../app/github/github-client.ts';
import { createDeliveryClient } from '../../../app/github/deliveries.ts';
import type {
  CheckContent,
  DeploymentContent,
  GitHubApi,
  InstallationRepository,
} from '../../../app/github/github-api.ts';
import { createInstallationClients } from '../../../app/github/installation-clients.ts';
import { octokitsOf } from '../../../app/github/probot-octokits.ts';
import { systemClock } from '../../../src/kit/clock.ts';
import { writeComment } from '../../../src/github/comment.ts';
import { testGitHub, type TestGitHub } from '../../demo/github/github.ts';
import { probotOf } from '../../demo/github/octokit.ts';

let demo: TestGitHub;
let githubApi: GitHubApi;
let clientOf: ReturnType<typeof createInstallationClients>;
let at: InstallationRepository;
let first: string;
let second: string;

beforeAll(async () => {
  demo = await testGitHub({
    people: ['mona', 'writer', 'stranger'],
    permissions: {
      metadata: 'read',
      contents: 'read',
      checks: 'write',
      deployments: 'write',
      pull_requests: 'write',
      issues: 'write',
    },
  });
  const { github } = demo;
  const from = await demo.files({ 'README.md': '# Agents\n', '.github/landfall.yml': 'name: écho\n' });
  first = (await github.createRepository('acme/agents', { from, writers: ['writer'] })).head ?? '';
  await github.install('acme');
  const clone = await demo.clone('acme/agents');
  await clone.git('mv', 'README.md', 'READ ME.md');
  second = await clone.commit('Change', { 'src/graph.ts': 'two\n' });
  await clone.push();
  await clone.git('checkout', '--quiet', '-b', 'feature/x');
  await clone.commit('Feature', { 'feature.txt': 'f\n' });
  await clone.push();
  // Paced by the App's own rules, but not by a second between writes: the gateway counts none.
  const limits = { betweenWritesMs: 0, maxCreatedPerMinute: 80, maxCreatedPerHour: 500 };
  clientOf = createInstallationClients({
    octokitFor: octokitsOf(probotOf(github), systemClock),
    clock: systemClock,
    limits,
  });
  githubApi = createGitHubApi(clientOf);
  for await (const each of createRepositoryClient(clientOf, silentLogger).repositories()) at = each;
});

afterAll(async () => {
  await demo.stop();
});

describe("against GitHub's OpenAPI document", () => {
  test('lists the repositories of the installations', () => {
    expect(at).toMatchObject({ installationId: demo.github.installationId('acme'), owner: 'acme', name: 'agents' });
  });

  test('heads are read, with a slash in the branch; a missing branch is a value', async () => {
    expect(await githubApi.head(at, 'main')).toMatchObject({ sha: second, message: 'Change' });
    expect((await githubApi.head(at, 'feature/x'))?.sha).toMatch(/^[0-9a-f]{40}$/);
    expect(await githubApi.head(at, 'gone')).toBeUndefined();
    expect(await githubApi.defaultBranch(at)).toBe('main');
  });

  test('commits are compared', async () => {
    const ahead = await githubApi.compare(at, first, second);
    expect(ahead.kind === 'ahead' ? ahead.paths.toSorted() : ahead).toEqual([
      'READ ME.md',
      'README.md',
      'src/graph.ts',
    ]);
    expect(await githubApi.compare(at, second, first)).toMatchObject({ kind: 'unavailable', contains: false });
    expect(await githubApi.compare(at, 'f'.repeat(40), second)).toMatchObject({ kind: 'unavailable' });
  });

  test('files are read', async () => {
    expect(await githubApi.file(at, '.github/landfall.yml', 'main')).toBe('name: écho\n');
    expect(await githubApi.file(at, 'READ ME.md', second)).toBe('# Agents\n');
    expect(await githubApi.file(at, '.github', 'main')).toBeUndefined();
    expect(await githubApi.file(at, 'nothing.yml', 'main')).toBeUndefined();
  });

  test.each([
    ['mona', 'admin'],
    ['writer', 'write'],
    ['unknown-login', 'none'],
  ])('%s may %s', async (login, expected) => expect(await githubApi.permissionOf(at, login)).toBe(expected));

  test('makes a check run once, updates it, and sends every annotation once', async () => {
    const check = { repository: at, headSha: second, name: 'Landfall: echo', externalId: 'report-1' };
    const queued: CheckContent = { status: 'queued', title: 'Waits', summary: 'It waits.' };
    const id = await githubApi.writeCheck(check, undefined, queued);
    expect(
      await githubApi.writeCheck(check, undefined, {
        ...queued,
        status: 'in_progress',
        startedAt: '2026-01-05T08:00:00Z',
      }),
    ).toBe(id);
    const annotations = Array.from({ length: 60 }, (_, n) => {
      return {
        path: 'src/graph.ts',
        startLine: n + 1,
        endLine: n + 1,
        level: 'failure',
        title: 't',
        message: 'm',
      } as const;
    });
    const done: CheckContent = {
      ...queued,
      status: 'completed',
      conclusion: 'action_required',
      text: '### Plan',
      detailsUrl: 'https://echo.example/',
      startedAt: '2026-01-05T08:00:00Z',
      completedAt: '2026-01-05T08:01:00Z',
      actions: [{ label: 'Redeploy', description: 'Build again', identifier: 'redeploy' }],
      annotations,
    };
    await githubApi.writeCheck(check, id, done);
    await githubApi.writeCheck(check, id, done);
    const { data } = await clientOf(at.installationId).request('GET /repos/{owner}/{repo}/check-runs/{check_run_id}', {
      owner: at.owner,
      repo: at.name,
      check_run_id: id,
    });
    expect(data).toMatchObject({
      status: 'completed',
      conclusion: 'action_required',
      output: { annotations_count: 60 },
    });
    await githubApi.writeCheck(check, id, { ...queued, status: 'in_progress' });
  });

  test('makes a deployment once, and writes its states', async () => {
    const place = { repository: at, commit: second, externalId: 'report-2' };
    const shown: DeploymentContent = {
      environment: 'production',
      production: true,
      transient: false,
      state: 'queued',
      description: 'echo',
    };
    const id = await githubApi.makeDeployment(place, shown);
    expect(await githubApi.makeDeployment(place, shown)).toBe(id);
    for (const state of ['queued', 'in_progress', 'success', 'failure', 'error', 'inactive'] as const) {
      await githubApi.writeDeploymentStatus(place, id, { ...shown, state, environmentUrl: 'https://echo.example/' });
    }
  });

  test('a comment is kept', async () => {
    const { github } = demo;
    const pullRequest = await github.openPullRequest('acme/agents', {
      title: 'F',
      head: 'feature/x',
      base: 'main',
      by: 'writer',
    });
    const place = { repository: at, pullRequest, topic: 'echo' };
    const client = clientOf(at.installationId);
    const id = await writeComment(client, place, { kind: 'any-bot' }, 'first');
    expect(await writeComment(client, place, { kind: 'any-bot' }, 'second')).toBe(id);
  });

  test('deliveries are listed', async () => {
    const { deliveries } = await createDeliveryClient(clientOf(undefined)).page();
    expect(deliveries.every(({ guid }) => /^[0-9a-f-]{36}$/.test(guid))).toBe(true);
  });

  test('no request or response differs from the document', () => {
    expect(demo.problems).toEqual([]);
    expect(demo.errors).toEqual([]);
    expect(demo.github.requests.length).toBeGreaterThan(30);
  });
});
