import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createGitHubApi } from '../../../app/github/github-client.ts';
import type { GitHubApi } from '../../../app/github/github-api.ts';
import { AppOctokit, createInstallationClients } from '../../../app/github/installation-clients.ts';
import { LittleGitHub } from '../../github/little-github.ts';
import { SteppingClock } from './stepping-clock.ts';

const repository = { installationId: 7, repositoryId: 70, owner: 'acme', name: 'agents' };
const commit = 'c0ffee0000000000000000000000000000000001';

let github: LittleGitHub;
let githubApi: GitHubApi;
/** What GitHub answers, by the last part of the path. */
let answers: Record<string, { status?: number; body: unknown }>;

beforeEach(async () => {
  github = new LittleGitHub();
  answers = {};
  github.before = ({ path }) => {
    const name = Object.keys(answers).find((each) => new URL(path, 'http://github.test').pathname.endsWith(each));
    const { status = 200, body } = answers[name ?? ''] ?? { status: 404, body: { message: 'Not Found' } };
    return { status, body, headers: {} };
  };
  const baseUrl = await github.start();
  const octokitFor = async () => new AppOctokit({ auth: { token: 'secret-token' }, baseUrl });
  githubApi = createGitHubApi(createInstallationClients({ octokitFor, clock: new SteppingClock(), random: () => 0 }));
});
afterEach(() => github.stop());

const run = (id: number, name: string, conclusion: string | null, appId = 15_368) => ({
  id,
  name,
  status: conclusion === null ? 'in_progress' : 'completed',
  conclusion,
  app: { id: appId },
});
const has = (runs: readonly object[], statuses: readonly object[] = []): void => {
  answers['/check-runs'] = { body: { total_count: runs.length, check_runs: runs } };
  answers['/status'] = { body: { state: 'pending', statuses } };
};

describe('the checks of a commit', () => {
  test.each([
    ['success', 'passed'],
    ['neutral', 'passed'],
    ['skipped', 'passed'],
    ['failure', 'failed'],
    ['cancelled', 'failed'],
    ['timed_out', 'failed'],
    ['action_required', 'failed'],
    ['stale', 'failed'],
    ['a word of tomorrow', 'failed'],
    [null, 'pending'],
  ])('%s is %s', async (conclusion, state) => {
    has([run(1, 'build', conclusion)]);
    expect(await githubApi.checksOf(repository, commit)).toEqual({ seen: [{ name: 'build', state, appId: 15_368 }] });
  });

  test.each([
    ['success', 'passed'],
    ['pending', 'pending'],
    ['failure', 'failed'],
    ['error', 'failed'],
  ])('the status %s is %s', async (said, state) => {
    has([], [{ context: 'ci/circleci', state: said }]);
    expect(await githubApi.checksOf(repository, commit)).toEqual({ seen: [{ name: 'ci/circleci', state }] });
  });

  test('of one name and App are the newest one, and another of each App', async () => {
    has([run(3, 'build', 'success'), run(9, 'build', 'success', 2), run(1, 'build', 'failure'), run(2, 'build', null)]);
    const { seen } = await githubApi.checksOf(repository, commit);
    expect(seen).toEqual([
      { name: 'build', state: 'passed', appId: 15_368 },
      { name: 'build', state: 'passed', appId: 2 },
    ]);
  });

  test('lack the statuses where the App may not read them', async () => {
    has([run(1, 'build', 'success')]);
    answers['/status'] = { status: 403, body: { message: 'Resource not accessible by integration' } };
    expect(await githubApi.checksOf(repository, commit)).toMatchObject({ seen: [{ name: 'build' }], isUnread: true });
  });

  test('are an error where GitHub fails', async () => {
    has([run(1, 'build', 'success')]);
    answers['/status'] = { status: 500, body: {} };
    await expect(githubApi.checksOf(repository, commit)).rejects.toMatchObject({ name: 'GitHubApiError', status: 500 });
  });

  test('have names that can be stored', async () => {
    has([run(1, 'a\0b\ud800', 'success')]);
    expect((await githubApi.checksOf(repository, commit)).seen[0]?.name).toBe('a\uFFFDb\uFFFD');
  });
});

describe('the checks that a branch requires', () => {
  const rule = { type: 'required_status_checks', parameters: { required_status_checks: [{ context: 'build' }] } };
  const ofApp = { ...rule, parameters: { required_status_checks: [{ context: 'lint', integration_id: 15_368 }] } };
  const branch = '/repos/acme/agents/branches/main';
  const protection = (required: object) => ({
    body: { name: 'main', protected: true, protection: { required_status_checks: required } },
  });
  const refused = { status: 403, body: { message: 'Upgrade to GitHub Pro or make this repository public' } };

  test('are those of its protection and of its rules', async () => {
    answers['/rules/branches/main'] = { body: [{ type: 'deletion' }, rule, ofApp] };
    const checks = [
      { context: 'e2e', app_id: 4 },
      { context: 'unit', app_id: -1 },
    ];
    answers[branch] = protection({ contexts: ['e2e', 'unit', 'old'], checks });
    expect(await githubApi.requiredChecks(repository, 'main')).toEqual([
      { name: 'e2e', appId: 4 },
      { name: 'unit' },
      { name: 'old' },
      { name: 'build' },
      { name: 'lint', appId: 15_368 },
    ]);
  });

  test.each([
    ['that the account does not have', refused],
    ['that the server does not know', { status: 404, body: { message: 'Not Found' } }],
  ])('are none of rules %s', async (_, rules) => {
    answers = { '/rules/branches/main': rules, [branch]: { body: { name: 'main', protected: false } } };
    expect(await githubApi.requiredChecks(repository, 'main')).toEqual([]);
  });

  test('are an error where the App may not read them: fewer would be waited for', async () => {
    answers = { '/rules/branches/main': refused, [branch]: protection({ contexts: ['e2e'] }) };
    await expect(githubApi.requiredChecks(repository, 'main')).rejects.toMatchObject({ status: 403 });
    answers = { '/rules/branches/main': { body: [rule] }, [branch]: refused };
    await expect(githubApi.requiredChecks(repository, 'main')).rejects.toMatchObject({ status: 403 });
  });

  test('are an error where GitHub fails', async () => {
    answers = {
      '/rules/branches/main': { status: 502, body: {} },
      [branch]: { body: { name: 'main', protected: false } },
    };
    await expect(githubApi.requiredChecks(repository, 'main')).rejects.toMatchObject({ status: 502 });
  });
});
