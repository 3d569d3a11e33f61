import { beforeEach, describe, expect, test } from 'vitest';
import { HubError, InstallationPaused } from '../../../app/github/hub.ts';
import { repository } from '../work/wishes.ts';
import { place, targetsOn, ToldWorld } from './told-world.ts';

let told: ToldWorld;
beforeEach(() => {
  told = new ToldWorld();
  told.branches.set('main', targetsOn('main', 'support'));
});

const asked = () =>
  told.intents().map(({ commit, deploymentId, cause }) => [commit, deploymentId, cause.kind, cause.key]);

describe('a push', () => {
  test('is a wish for its commit on each target', async () => {
    told.branches.set('main', targetsOn('main', 'support', 'sales'));
    const head = told.commit();
    await told.push(head);
    expect(asked()).toEqual([
      [head, 'd-support', 'push', 'guid-1'],
      [head, 'd-sales', 'push', 'guid-1'],
    ]);
    expect(told.intents()[0]).toMatchObject({ branch: 'main', sending: { kind: 'restate', repoRef: 'main' } });
    expect(told.jobs).toEqual(['lane d-support', 'lane d-sales']);
    expect(told.store.reports.size).toBe(0);
  });

  test('that comes again is the same cause', async () => {
    const head = told.commit();
    await told.push(head);
    await told.push(head);
    expect(asked()).toHaveLength(1);
    expect(told.decided.get('guid-1')).toMatchObject({
      kind: 'push',
      did: [`knew the wish for ${head.slice(0, 7)} on support`],
    });
  });

  test('whose branch has moved on is a wish for the head, and one for itself, so that its check is told', async () => {
    const older = told.commit();
    const head = told.commit();
    await told.push(older);
    expect(asked()).toEqual([
      [older, 'd-support', 'push', 'guid-1'],
      [head, 'd-support', 'push', 'guid-1'],
    ]);
  });

  test('that goes back to an older commit by force is a wish of its own', async () => {
    const [older, newer] = [told.commit(), told.commit()];
    await told.push(older, 'main', 'guid-1');
    await told.push(newer, 'main', 'guid-2');
    told.git.point('main', older);
    await told.push(older, 'main', 'guid-3');
    expect(asked().at(-1)).toEqual([older, 'd-support', 'push', 'guid-3']);
  });

  test('to a branch that nothing is built from says so, neutral, with what is refused and harmless', async () => {
    told.branches.set('next', {
      targets: [],
      refused: [{ deployment: 'sales', why: 'its repo_url is [another](https://x)' }],
    });
    const head = told.commit('next');
    await told.push(head, 'next');
    expect(asked()).toEqual([]);
    expect(await told.check(head)).toEqual({
      status: 'completed',
      conclusion: 'neutral',
      title: 'Nothing to deploy',
      summary: [
        'No deployment is built from next of acme/agents.',
        '',
        'A branch is deployed where the control service lists a deployment of source `github` with this repository as `repo_url`, this branch as `repo_ref`, and `build_on_push: true`.',
        '',
        'Not acted upon:',
        '',
        '- sales: its repo&#95;url is &#91;another&#93;&#40;https&#58;//x&#41;',
      ].join('\n'),
      completedAt: '2026-11-21T08:00:00.000Z',
    });
  });

  test('with refused deployments beside those that are built names them on the commit', async () => {
    told.branches.set('main', {
      ...targetsOn('main', 'support'),
      refused: [{ deployment: 'sales', why: 'it is not ours' }],
    });
    const head = told.commit();
    await told.push(head);
    expect(asked()).toHaveLength(1);
    expect(await told.check(head)).toMatchObject({
      conclusion: 'neutral',
      title: 'Some deployments are not acted upon',
    });
  });

  test('of a long list of refused deployments shows a part, and how many more there are', async () => {
    const refused = Array.from({ length: 400 }, (_, at) => ({ deployment: `d${at}`, why: 'x'.repeat(900) }));
    told.branches.set('main', { targets: [], refused });
    const head = told.commit();
    await told.push(head);
    const summary = (await told.check(head))?.summary ?? '';
    expect(summary).toMatch(/- and 350 more$/);
    expect(Buffer.byteLength(summary)).toBeLessThan(65_535);
  });

  test('whose branch is gone by now wakes what is open for it, and says so on the commit', async () => {
    const head = told.commit();
    await told.push(head);
    told.git.point('main', undefined);
    told.jobs.length = 0;
    await told.push(head, 'main', 'guid-2');
    expect(asked()).toHaveLength(1);
    expect(told.decided.get('guid-2')).toMatchObject({ did: ['the branch main is gone', 'woke deployment d-support'] });
    expect(await told.check(head)).toMatchObject({ conclusion: 'neutral', summary: 'The branch main is gone.' });
  });

  test('that GitHub cannot be asked about now fails as a whole, with what was decided kept', async () => {
    const paused = new InstallationPaused(11, told.clock.now() + 60_000, 'secondary rate limit');
    told.hub.head = () => Promise.reject(paused);
    await expect(told.push(told.commit())).rejects.toBe(paused);
    expect(asked()).toEqual([]);
    expect(told.decided.get('guid-1')).toMatchObject({ kind: 'push', branch: 'main' });
  });

  test('that failed in the middle is whole when it comes again', async () => {
    told.branches.set('main', targetsOn('main', 'support', 'sales'));
    const head = told.commit();
    const wish = told.store.wish.bind(told.store);
    let calls = 0;
    told.store.wish = (each) => {
      calls += 1;
      return calls === 2 ? Promise.reject(new HubError('cut', 502, 'unknown')) : wish(each);
    };
    await expect(told.push(head)).rejects.toThrow('cut');
    await told.push(head);
    expect(asked()).toEqual([
      [head, 'd-support', 'push', 'guid-1'],
      [head, 'd-sales', 'push', 'guid-1'],
    ]);
  });

  test('to a fork is told as nothing to build', async () => {
    const head = told.commit();
    const payload = { ref: 'refs/heads/main', before: 'b'.repeat(40), after: head };
    await told.receive('push', { ...payload, repository: { ...place.repository, fork: true } });
    expect(asked()).toEqual([]);
    expect(await told.check(head)).toMatchObject({ conclusion: 'neutral' });
  });

  test.each([
    ['a push', 'push', { ref: 'refs/heads/main', before: 'b'.repeat(40), after: '0'.repeat(40), deleted: true }],
    ['its own event', 'delete', { ref: 'main', ref_type: 'branch' }],
  ])('the end of a branch, told by %s, wakes what is open for it and nothing else', async (_, name, payload) => {
    told.branches.set('next', targetsOn('next', 'preview'));
    await told.push(told.commit());
    await told.push(told.commit('next'), 'next');
    told.jobs.length = 0;
    const lease = await told.store.takeLease('d-support', 'lane', 1_000);
    if (!lease) throw new Error('no lease');
    await told.store.leaveLease(lease, undefined);
    await told.receive(name, payload, 'guid-9');
    expect(told.jobs).toEqual(['lane d-support']);
    expect(told.decided.get('guid-9')).toMatchObject({ did: ['woke deployment d-support'] });
  });
});

describe('the checks that GitHub expects of a commit', () => {
  const suite = (headSha: string, branch: string | null) =>
    told.receive(
      'check_suite',
      { action: 'requested', check_suite: { head_sha: headSha, head_branch: branch } },
      'guid-2',
    );

  test('are wished for where no push came', async () => {
    const head = told.commit();
    await suite(head, 'main');
    expect(asked()).toEqual([[head, 'd-support', 'push', 'guid-2']]);
  });

  test('are there where the push came first', async () => {
    const head = told.commit();
    await told.push(head);
    await suite(head, 'main');
    expect(asked()).toEqual([[head, 'd-support', 'push', 'guid-1']]);
    expect(told.decided.get('guid-2')).toMatchObject({ did: ['the commit has its checks'] });
  });

  test('cost GitHub nothing where the push came first', async () => {
    const head = told.commit();
    await told.push(head);
    told.hub.head = () => Promise.reject(new Error('asked'));
    told.world.targets.targetsOf = () => Promise.reject(new Error('asked'));
    await suite(head, 'main');
    expect(asked()).toHaveLength(1);
  });

  test('of a commit whose push never came are told, and the head that has them is asked for no more', async () => {
    const older = told.commit();
    const head = told.commit();
    await told.push(head);
    await suite(older, 'main');
    expect(asked()).toEqual([
      [head, 'd-support', 'push', 'guid-1'],
      [older, 'd-support', 'push', 'guid-2'],
    ]);
  });

  test('are neutral for a commit on no branch here', async () => {
    const head = told.commit();
    await suite(head, null);
    expect(await told.check(head)).toMatchObject({
      conclusion: 'neutral',
      summary: 'The commit is on no branch of this repository.',
    });
  });

  test('are written once, whichever event comes first', async () => {
    const head = told.commit('next');
    await told.push(head, 'next');
    await suite(head, 'next');
    expect([...told.store.reports.values()].map(({ version }) => version)).toEqual([1]);
  });
});

describe('what is not deployed yet', () => {
  const pull = { number: 7, action: 'opened' };
  const opened = (headSha: string, repoId: number) =>
    told.receive('pull_request', {
      ...pull,
      pull_request: { head: { sha: headSha, repo: { id: repoId } }, base: { ref: 'main' } },
    });

  test.each([
    ['a pull request', 22, 'A pull request deploys nothing by itself; what it becomes on main is deployed from there.'],
    [
      'a pull request from a fork',
      33,
      'A pull request from a fork deploys nothing by itself; what it becomes on main is deployed from there.',
    ],
  ])('%s gets its check', async (_, repoId, summary) => {
    const head = told.commit('next');
    await opened(head, repoId);
    expect(await told.check(head)).toMatchObject({ conclusion: 'neutral', summary });
  });

  test('a merge group gets its check', async () => {
    const head = told.commit('queue');
    await told.receive('merge_group', {
      action: 'checks_requested',
      merge_group: { head_sha: head, base_ref: 'refs/heads/main' },
    });
    expect(await told.check(head)).toMatchObject({ conclusion: 'neutral', title: 'Nothing to deploy' });
  });

  test('what was found out about a pull request is not overwritten by the push of its branch', async () => {
    const head = told.commit('next');
    const examine = async () => {
      const content = { status: 'completed', conclusion: 'failure', title: '2 problems', summary: 'Look.' } as const;
      await told.store.putReport({
        kind: 'check',
        repository,
        headSha: head,
        name: 'Landfall',
        wanted: { kind: 'check', content },
      });
    };
    await told.receive(
      'pull_request',
      { ...pull, pull_request: { head: { sha: head, repo: { id: 22 } }, base: { ref: 'main' } } },
      'guid-1',
      {
        pullRequests: { examine },
      },
    );
    await told.push(head, 'next', 'guid-2');
    expect(await told.check(head)).toMatchObject({ conclusion: 'failure', title: '2 problems' });
  });
});
