import { beforeEach, describe, expect, test } from 'vitest';
import { HubError, InstallationPaused } from '../../../app/github/hub.ts';
import { branchesOf, deployedBranches, type ListedDeployment } from '../../../app/recovery/deployed-branches.ts';
import { recoverHeads } from '../../../app/recovery/recover-heads.ts';
import type { RepositoryAt } from '../../../app/repository.ts';
import { serviceError } from '../../deploy/control-model.ts';
import { targetsOn, ToldWorld } from '../handlers/told-world.ts';
import { repository } from '../work/wishes.ts';

const minute = 60_000;
const old = 'e'.repeat(40);
let told: ToldWorld;
let head: string;

const live = (commit: string, more: object = {}) => ({
  active: 'r1',
  revisions: [{ id: 'r1', status: 'DEPLOYED', commit }],
  ...more,
});
const look = async (repositories: readonly RepositoryAt[] = [repository]) =>
  recoverHeads(told.world, repositories, await deployedBranches(told.control));
const recovered = () => told.intents().map(({ deploymentId, commit, cause }) => [deploymentId, commit, cause.kind]);

beforeEach(async () => {
  told = new ToldWorld();
  told.branches.set('main', targetsOn('main', 'support'));
  told.control.still.set('d-support', live(old));
  head = told.commit();
  await told.clock.sleep(17 * minute);
});

describe('the heads of deployed branches', () => {
  test('that were missed are wished for once, with how late we are', async () => {
    expect(await look()).toEqual({ branches: 1, recovered: 1, failed: 0, paused: 0 });
    expect(told.intents()).toMatchObject([
      {
        deploymentId: 'd-support',
        commit: head,
        branch: 'main',
        cause: { kind: 'recovery', key: `${head}:r1`, lateMs: 17 * minute },
        sending: { kind: 'restate', repoRef: 'main' },
      },
    ]);
    await told.clock.sleep(10 * minute);
    expect(await look()).toMatchObject({ branches: 1, recovered: 0 });
    expect(told.intents()).toHaveLength(1);
  });

  test('of two copies that look at the same time make one wish', async () => {
    const both = await Promise.all([look(), look()]);
    expect(both.reduce((sum, each) => sum + each.recovered, 0)).toBe(1);
    expect(told.intents()).toHaveLength(1);
  });

  test('that are live, or were pushed in the usual way, are left alone', async () => {
    told.branches.set('main', targetsOn('main', 'support', 'sales'));
    told.control.still.set('d-support', live(head));
    told.control.still.set('d-sales', live(old));
    await told.push(head);
    const before = told.intents().length;
    expect(await look()).toMatchObject({ branches: 1, recovered: 0 });
    expect(told.intents()).toHaveLength(before);
  });

  test('are looked at on each deployment by itself', async () => {
    told.branches.set('main', targetsOn('main', 'support', 'sales', 'legal'));
    told.control.still.set('d-sales', live(head));
    told.control.still.set('d-legal', { revisions: [{ id: 'r7', status: 'BUILDING', commit: head }] });
    await look();
    expect(recovered()).toEqual([['d-support', head, 'recovery']]);
  });

  test('are looked at where the service tells nothing any more of the revision that serves', async () => {
    told.control.still.set('d-support', {
      active: 'r0',
      revisions: [{ id: 'r1', status: 'BUILD_FAILED', commit: old }],
    });
    await look();
    expect(recovered()).toEqual([['d-support', head, 'recovery']]);
  });

  test('of a branch that is gone are none', async () => {
    told.git.point('main', undefined);
    expect(await look()).toEqual({ branches: 1, recovered: 0, failed: 0, paused: 0 });
  });

  test('that were rolled back stay so where a check says it, and get one where none does', async () => {
    await told.store.wake('d-support');
    const lease = await told.store.takeLease('d-support', 'lane', 1_000);
    if (!lease) throw new Error('no lease');
    await told.store.save(lease, { rolledBackCommit: head });
    await look();
    expect(recovered()).toEqual([['d-support', head, 'recovery']]);
    await told.clock.sleep(10 * minute);
    await look();
    expect(recovered()).toHaveLength(1);
  });

  test('are found on the default branch where the service does not list its deployments', async () => {
    told.control.listsDeployments = false;
    await look();
    expect(recovered()).toEqual([['d-support', head, 'recovery']]);
  });
});

describe('what fails does not keep the others from it', () => {
  const other: RepositoryAt = { installationId: 12, repositoryId: 33, owner: 'acme', name: 'robots' };
  beforeEach(() => {
    told.control.still.set('d-sales', live(old, { repoUrl: 'git@github.test:acme/robots.git' }));
    told.branches.set('main', targetsOn('main', 'support', 'sales'));
    // Each repository has one of the two deployments.
    told.world.targets.targetsOf = async ({ repositoryId }) =>
      targetsOn('main', repositoryId === 22 ? 'support' : 'sales');
  });

  test('an installation that has to wait waits, and is not asked again in this run', async () => {
    const readHead = told.hub.head.bind(told.hub);
    let asked = 0;
    told.hub.head = async (at, branch) => {
      if (at.installationId !== 11) return readHead(at, branch);
      asked += 1;
      throw new InstallationPaused(11, told.clock.now() + minute, 'primary rate limit');
    };
    const twin = { ...repository, repositoryId: 23 };
    expect(await look([repository, twin, other])).toEqual({ branches: 2, recovered: 1, failed: 0, paused: 1 });
    expect(asked).toBe(1);
    expect(recovered()).toEqual([['d-sales', head, 'recovery']]);
  });

  test('a repository that GitHub does not answer for is left for the next run', async () => {
    const readHead = told.hub.head.bind(told.hub);
    told.hub.head = async (at, branch) => {
      if (at.repositoryId === 22) throw new HubError('get branch: answered 502', 502, 'none');
      return readHead(at, branch);
    };
    expect(await look([repository, other])).toMatchObject({ recovered: 1, failed: 1 });
    expect(told.log).toContain('Heads of acme/agents could not be compared: get branch: answered 502');
  });

  test('a deployment that the service does not answer for is left for the next run', async () => {
    told.control.failing.set('d-support', serviceError('busy', 'get deployment', { status: 503 }));
    expect(await look([repository, other])).toMatchObject({ recovered: 1, failed: 0 });
    expect(recovered()).toEqual([['d-sales', head, 'recovery']]);
  });

  test('a mistake of our own is not passed over', async () => {
    told.hub.head = async () => {
      throw new TypeError('undefined is not a function');
    };
    await expect(look([repository, other])).rejects.toThrow(TypeError);
  });
});

describe('branches that something is deployed from', () => {
  const listed = (
    name: string,
    repoUrl: string | null,
    repoRef: string | null,
    source = 'github',
  ): ListedDeployment => ({
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
    for (let at = 0; at < 230; at += 1) told.control.still.set(`d-${at}`, { repoRef: `branch-${at % 115}` });
    expect((await deployedBranches(told.control))?.(repository)).toHaveLength(116);
  });
});
