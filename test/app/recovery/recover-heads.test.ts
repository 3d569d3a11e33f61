import { beforeEach, describe, expect, test } from 'vitest';
import { GitHubApiError, InstallationPaused, type InstallationRepository } from '../../../app/github/github-api.ts';
import { branchesOf, deployedBranches, type BranchDeployment } from '../../../app/recovery/deployed-branches.ts';
import { recoverHeads } from '../../../app/recovery/recover-heads.ts';
import { serviceError } from '../../deploy/machine/control-model.ts';
import { targetsOn, HandlerFixture } from '../events/handler-fixture.ts';
import { repository } from '../reconcile/requests.ts';

const minute = 60_000;
const old = 'e'.repeat(40);
let fixture: HandlerFixture;
let head: string;

const live = (commit: string, more: object = {}) => ({
  active: 'r1',
  revisions: [{ id: 'r1', status: 'DEPLOYED', commit }],
  ...more,
});
const look = async (repositories: readonly InstallationRepository[] = [repository]) =>
  recoverHeads(fixture.context, repositories, await deployedBranches(fixture.control));
const recovered = () => fixture.intents().map(({ deploymentId, commit, cause }) => [deploymentId, commit, cause.kind]);

beforeEach(async () => {
  fixture = new HandlerFixture();
  fixture.branches.set('main', targetsOn('main', 'support'));
  fixture.control.still.set('d-support', live(old));
  head = fixture.commit();
  await fixture.clock.sleep(17 * minute);
});

describe('the heads of deployed branches', () => {
  test('that were missed are requested once, with the delay', async () => {
    expect(await look()).toEqual({ branches: 1, recovered: 1, failed: 0, paused: 0 });
    expect(fixture.intents()).toMatchObject([
      {
        deploymentId: 'd-support',
        commit: head,
        branch: 'main',
        cause: { kind: 'recovery', key: `${head}:r1`, lateMs: 17 * minute },
        sending: { kind: 'restate', repoRef: 'main' },
      },
    ]);
    await fixture.clock.sleep(10 * minute);
    expect(await look()).toMatchObject({ branches: 1, recovered: 0 });
    expect(fixture.intents()).toHaveLength(1);
  });

  test('of two copies that look at the same time make one request', async () => {
    const both = await Promise.all([look(), look()]);
    expect(both.reduce((sum, each) => sum + each.recovered, 0)).toBe(1);
    expect(fixture.intents()).toHaveLength(1);
  });

  test('that are live, or whose push was delivered, are left alone', async () => {
    fixture.branches.set('main', targetsOn('main', 'support', 'sales'));
    fixture.control.still.set('d-support', live(head));
    fixture.control.still.set('d-sales', live(old));
    await fixture.push(head);
    const before = fixture.intents().length;
    expect(await look()).toMatchObject({ branches: 1, recovered: 0 });
    expect(fixture.intents()).toHaveLength(before);
  });

  test('are compared for each deployment separately', async () => {
    fixture.branches.set('main', targetsOn('main', 'support', 'sales', 'legal'));
    fixture.control.still.set('d-sales', live(head));
    fixture.control.still.set('d-legal', { revisions: [{ id: 'r7', status: 'BUILDING', commit: head }] });
    await look();
    expect(recovered()).toEqual([['d-support', head, 'recovery']]);
  });

  test('are examined if the service no longer returns the live revision', async () => {
    fixture.control.still.set('d-support', {
      active: 'r0',
      revisions: [{ id: 'r1', status: 'BUILD_FAILED', commit: old }],
    });
    await look();
    expect(recovered()).toEqual([['d-support', head, 'recovery']]);
  });

  test('do not exist for a deleted branch', async () => {
    fixture.git.point('main', undefined);
    expect(await look()).toEqual({ branches: 1, recovered: 0, failed: 0, paused: 0 });
  });

  test('that were rolled back stay so, and get a check if they have none', async () => {
    await fixture.store.wake('d-support');
    const lease = await fixture.store.takeLease('d-support', 'worker', 1_000);
    if (!lease) throw new Error('no lease');
    await fixture.store.save(lease, { rolledBackCommit: head });
    await look();
    expect(recovered()).toEqual([['d-support', head, 'recovery']]);
    await fixture.clock.sleep(10 * minute);
    await look();
    expect(recovered()).toHaveLength(1);
  });

  test('are found on the default branch if the service lists no deployments', async () => {
    fixture.control.listsDeployments = false;
    await look();
    expect(recovered()).toEqual([['d-support', head, 'recovery']]);
  });
});

describe('a failure does not stop the others', () => {
  const other: InstallationRepository = { installationId: 12, repositoryId: 33, owner: 'acme', name: 'robots' };
  beforeEach(() => {
    fixture.control.still.set('d-sales', live(old, { repoUrl: 'git@github.test:acme/robots.git' }));
    fixture.branches.set('main', targetsOn('main', 'support', 'sales'));
    // Each repository has one of the two deployments.
    fixture.context.targets.targetsOf = async ({ repositoryId }) =>
      targetsOn('main', repositoryId === 22 ? 'support' : 'sales');
  });

  test('a paused installation gets no further requests in this run', async () => {
    const readHead = fixture.githubApi.head.bind(fixture.githubApi);
    let requested = 0;
    fixture.githubApi.head = async (at, branch) => {
      if (at.installationId !== 11) return readHead(at, branch);
      requested += 1;
      throw new InstallationPaused(11, fixture.clock.now() + minute, 'primary rate limit');
    };
    const twin = { ...repository, repositoryId: 23 };
    expect(await look([repository, twin, other])).toEqual({ branches: 2, recovered: 1, failed: 0, paused: 1 });
    expect(requested).toBe(1);
    expect(recovered()).toEqual([['d-sales', head, 'recovery']]);
  });

  test('leaves a repository that GitHub fails on to the next run', async () => {
    const readHead = fixture.githubApi.head.bind(fixture.githubApi);
    fixture.githubApi.head = async (at, branch) => {
      if (at.repositoryId === 22) throw new GitHubApiError('get branch: answered 502', 502, 'none');
      return readHead(at, branch);
    };
    expect(await look([repository, other])).toMatchObject({ recovered: 1, failed: 1 });
    expect(fixture.log).toContain('Heads of acme/agents could not be compared: get branch: answered 502');
  });

  test('leaves a deployment that the service fails on to the next run', async () => {
    fixture.control.failing.set('d-support', serviceError('busy', 'get deployment', { status: 503 }));
    expect(await look([repository, other])).toMatchObject({ recovered: 1, failed: 0 });
    expect(recovered()).toEqual([['d-sales', head, 'recovery']]);
  });

  test('an internal error is rethrown', async () => {
    fixture.githubApi.head = async () => {
      throw new TypeError('undefined is not a function');
    };
    await expect(look([repository, other])).rejects.toThrow(TypeError);
  });
});

describe('deployed branches', () => {
  const listed = (
    name: string,
    repoUrl: string | null,
    repoRef: string | null,
    source = 'github',
  ): BranchDeployment => ({
    id: `id-${name}`,
    name,
    source,
    source_config: { repo_url: repoUrl },
    source_revision_config: { repo_ref: repoRef },
  });
  const all = [
    listed('support', 'https://github.com/Acme/Agents.git', 'main'),
    listed('sales', 'git@github.com:acme/agents.git', 'next'),
    listed('again', 'https://github.com/acme/agents', 'main'),
    listed('tagged', 'https://github.com/acme/agents', 'refs/tags/v1'),
    listed('image', 'https://github.com/acme/agents', 'image', 'external_docker'),
    listed('other', 'https://github.com/acme/robots', 'trunk'),
    listed('similar', 'https://github.com/not-acme/agents', 'similar'),
    listed('unknown', null, 'unknown'),
  ];

  test('are those of the repository, however its address is spelled, and no tags', () => {
    expect(branchesOf(repository, all)).toEqual(['main', 'next']);
  });

  test('are those of deployments that the operator bound to it, too', () => {
    const bound = [
      { repository: 'acme/agents', deployment: 'other' },
      { repository: 'acme/agents', deployment: 'id-unknown' },
      { repository: 'acme/robots', deployment: 'similar' },
    ];
    expect(branchesOf(repository, all, bound)).toEqual(['main', 'next', 'trunk', 'unknown']);
  });

  test('are read from every page of the list', async () => {
    for (let at = 0; at < 230; at += 1) fixture.control.still.set(`d-${at}`, { repoRef: `branch-${at % 115}` });
    expect((await deployedBranches(fixture.control))?.(repository)).toHaveLength(116);
  });
});
