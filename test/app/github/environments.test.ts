import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createGitHubApi } from '../../../app/github/github-client.ts';
import type { GitHubApi, ProtectionRead } from '../../../app/github/github-api.ts';
import { AppOctokit, createInstallationClients } from '../../../app/github/installation-clients.ts';
import { LittleGitHub } from '../../github/little-github.ts';
import { SteppingClock } from './stepping-clock.ts';

const repository = { installationId: 7, repositoryId: 70, owner: 'acme', name: 'agents' };

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

const has = (rules: readonly object[], policy: object | null = null): void => {
  answers['/environments/production%2Feu'] = {
    body: { id: 1, name: 'production/eu', protection_rules: rules, deployment_branch_policy: policy },
  };
};
const read = (): Promise<ProtectionRead> => githubApi.environmentProtection(repository, 'production/eu', 'main');
const found = (protection: object): object => ({
  kind: 'protected',
  protection: { waitMinutes: 0, unknown: [], ...protection },
});
const notAccessible = { status: 403, body: { message: 'Resource not accessible by integration' } };

describe('the protection of an environment', () => {
  test('that is not there is none', async () => {
    expect(await read()).toEqual({ kind: 'none' });
  });

  test('that restricts branches and does not say how is unknown', async () => {
    has([{ id: 1, type: 'branch_policy' }]);
    expect(await read()).toEqual(found({ unknown: ['branch_policy'] }));
  });

  test('that the App may not read is unread', async () => {
    answers['/environments/production%2Feu'] = notAccessible;
    expect(await read()).toEqual({ kind: 'unread' });
  });

  test.each([
    ['a part may not be read', '/deployment_protection_rules', notAccessible],
    [
      'GitHub refuses by the address',
      '/environments/production%2Feu',
      { status: 403, body: { message: 'IP allow list' } },
    ],
  ])('fails where %s: what holds is not known', async (_, path, answer) => {
    has([]);
    answers[path] = answer;
    await expect(read()).rejects.toMatchObject({ name: 'GitHubApiError', status: 403 });
  });

  test('fails where GitHub fails', async () => {
    answers['/environments/production%2Feu'] = { status: 500, body: { message: 'away' } };
    await expect(read()).rejects.toMatchObject({ name: 'GitHubApiError', status: 500 });
  });

  test('without rules requires nothing', async () => {
    has([]);
    expect(await read()).toEqual(found({}));
  });

  test('has a timer and reviewers', async () => {
    has([
      { id: 1, type: 'wait_timer', wait_timer: 30 },
      {
        id: 2,
        type: 'required_reviewers',
        prevent_self_review: true,
        reviewers: [
          { type: 'User', reviewer: { login: 'octocat', id: 1 } },
          { type: 'Team', reviewer: { slug: 'ops', id: 2 } },
          { type: 'Robot', reviewer: { login: 'r2', id: 3 } },
        ],
      },
    ]);
    const reviewers = {
      users: ['octocat'],
      teams: [{ organisation: 'acme', slug: 'ops' }],
      preventsSelfReview: true,
    };
    expect(await read()).toEqual(found({ waitMinutes: 30, reviewers }));
  });

  test('has rules of Apps, where they are enabled, and such that are not known', async () => {
    has([{ id: 1, type: 'moon_phase' }]);
    const custom = [
      { id: 1, enabled: true, app: { slug: 'datadog' } },
      { id: 2, enabled: false, app: { slug: 'off' } },
    ];
    answers['/deployment_protection_rules'] = { body: { total_count: 2, custom_deployment_protection_rules: custom } };
    expect(await read()).toEqual(found({ unknown: ['datadog', 'moon_phase'] }));
  });

  test.each([true, false])('for protected branches, of a branch for which that is %s', async (isProtected) => {
    has([{ id: 1, type: 'branch_policy' }], { protected_branches: true, custom_branch_policies: false });
    answers['/branches/main'] = { body: { name: 'main', protected: isProtected } };
    answers['/branches'] = { body: [{ name: 'release', protected: true }] };
    expect(await read()).toEqual(found({ branches: { kind: 'protected', isProtected } }));
  });

  test('for protected branches, where none is: every branch counts as one', async () => {
    has([{ id: 1, type: 'branch_policy' }], { protected_branches: true, custom_branch_policies: false });
    answers['/branches/main'] = { body: { name: 'main', protected: false } };
    answers['/branches'] = { body: [] };
    expect(await read()).toEqual(found({ branches: { kind: 'protected', isProtected: true } }));
  });

  test('for patterns of branches, without those of tags', async () => {
    has([{ id: 1, type: 'branch_policy' }], { protected_branches: false, custom_branch_policies: true });
    const policies = [
      { id: 1, name: 'main', type: 'branch' },
      { id: 2, name: 'release/*' },
      { id: 3, name: 'v*', type: 'tag' },
    ];
    answers['/deployment-branch-policies'] = { body: { total_count: 3, branch_policies: policies } };
    expect(await read()).toEqual(found({ branches: { kind: 'patterns', patterns: ['main', 'release/*'] } }));
  });
});

test.each([
  ['an active member', { body: { state: 'active' } }, 'member'],
  ['one who is invited', { body: { state: 'pending' } }, 'other'],
  ['another person', { status: 404, body: { message: 'Not Found' } }, 'other'],
  ['one whom the App may not look up', notAccessible, 'unread'],
])('%s of a team', async (_, answer, is) => {
  answers['/orgs/acme/teams/ops/memberships/mona'] = answer;
  expect(await githubApi.membershipOf(repository, { organisation: 'acme', slug: 'ops' }, 'mona')).toBe(is);
});

test('the people of a commit are its author and its committer, as far as they are known', async () => {
  answers['/commits/c0ffee'] = { body: { sha: 'c0ffee', author: { login: 'mona' }, committer: null } };
  expect(await githubApi.peopleOf(repository, 'c0ffee')).toEqual(['mona']);
});
