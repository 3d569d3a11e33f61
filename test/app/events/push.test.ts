import { beforeEach, describe, expect, test } from 'vitest';
import { GitHubApiError, InstallationPaused } from '../../../app/github/github-api.ts';
import { repository } from '../reconcile/requests.ts';
import { place, targetsOn, HandlerFixture, noExaminer } from './handler-fixture.ts';

let fixture: HandlerFixture;
beforeEach(() => {
  fixture = new HandlerFixture();
  fixture.branches.set('main', targetsOn('main', 'support'));
});

const requested = () =>
  fixture.intents().map(({ commit, deploymentId, cause }) => [commit, deploymentId, cause.kind, cause.key]);

describe('a push', () => {
  test('requests its commit on each target', async () => {
    fixture.branches.set('main', targetsOn('main', 'support', 'sales'));
    const head = fixture.commit();
    await fixture.push(head);
    expect(requested()).toEqual([
      [head, 'd-support', 'push', 'guid-1'],
      [head, 'd-sales', 'push', 'guid-1'],
    ]);
    expect(fixture.intents()[0]).toMatchObject({ branch: 'main', sending: { kind: 'restate', repoRef: 'main' } });
    expect(fixture.jobs).toEqual(['lane d-support', 'lane d-sales']);
    expect(fixture.store.reports.size).toBe(0);
  });

  test('that is redelivered is the same cause', async () => {
    const head = fixture.commit();
    await fixture.push(head);
    await fixture.push(head);
    expect(requested()).toHaveLength(1);
    expect(fixture.decided.get('guid-1')).toMatchObject({
      kind: 'push',
      did: [`already requested ${head.slice(0, 7)} on support`],
    });
  });

  test('whose branch has moved on requests the head and itself, for its check', async () => {
    const older = fixture.commit();
    const head = fixture.commit();
    await fixture.push(older);
    expect(requested()).toEqual([
      [older, 'd-support', 'push', 'guid-1'],
      [head, 'd-support', 'push', 'guid-1'],
    ]);
  });

  test('that is forced back to an older commit makes its own request', async () => {
    const [older, newer] = [fixture.commit(), fixture.commit()];
    await fixture.push(older, 'main', 'guid-1');
    await fixture.push(newer, 'main', 'guid-2');
    fixture.git.point('main', older);
    await fixture.push(older, 'main', 'guid-3');
    expect(requested().at(-1)).toEqual([older, 'd-support', 'push', 'guid-3']);
  });

  test('to a branch without a target says so, neutral and escaped, with the refusals', async () => {
    fixture.branches.set('next', {
      targets: [],
      refused: [{ deployment: 'sales', why: 'its repo_url is [another](https://x)' }],
    });
    const head = fixture.commit('next');
    await fixture.push(head, 'next');
    expect(requested()).toEqual([]);
    expect(await fixture.check(head)).toEqual({
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

  test('names refused deployments on the commit, besides those that are built', async () => {
    fixture.branches.set('main', {
      ...targetsOn('main', 'support'),
      refused: [{ deployment: 'sales', why: 'it is not ours' }],
    });
    const head = fixture.commit();
    await fixture.push(head);
    expect(requested()).toHaveLength(1);
    expect(await fixture.check(head)).toMatchObject({
      conclusion: 'neutral',
      title: 'Some deployments are not acted upon',
    });
  });

  test('shortens a long list of refused deployments, and counts the rest', async () => {
    const refused = Array.from({ length: 400 }, (_, at) => ({ deployment: `d${at}`, why: 'x'.repeat(900) }));
    fixture.branches.set('main', { targets: [], refused });
    const head = fixture.commit();
    await fixture.push(head);
    const summary = (await fixture.check(head))?.summary ?? '';
    expect(summary).toMatch(/- and 350 more$/);
    expect(Buffer.byteLength(summary)).toBeLessThan(65_535);
  });

  test('whose branch is deleted notifies its open work, and says so on the commit', async () => {
    const head = fixture.commit();
    await fixture.push(head);
    fixture.git.point('main', undefined);
    fixture.jobs.length = 0;
    await fixture.push(head, 'main', 'guid-2');
    expect(requested()).toHaveLength(1);
    expect(fixture.decided.get('guid-2')).toMatchObject({
      did: ['the branch main is gone', 'woke deployment d-support'],
    });
    expect(await fixture.check(head)).toMatchObject({ conclusion: 'neutral', summary: 'The branch main is gone.' });
  });

  test('fails as a whole while GitHub is not available', async () => {
    const paused = new InstallationPaused(11, fixture.clock.now() + 60_000, 'secondary rate limit');
    fixture.githubApi.head = () => Promise.reject(paused);
    await expect(fixture.push(fixture.commit())).rejects.toBe(paused);
    expect(requested()).toEqual([]);
  });

  test('completes on redelivery after a partial failure', async () => {
    fixture.branches.set('main', targetsOn('main', 'support', 'sales'));
    const head = fixture.commit();
    const request = fixture.store.request.bind(fixture.store);
    let calls = 0;
    fixture.store.request = (each) => {
      calls += 1;
      return calls === 2 ? Promise.reject(new GitHubApiError('cut', 502, 'unknown')) : request(each);
    };
    await expect(fixture.push(head)).rejects.toThrow('cut');
    await fixture.push(head);
    expect(requested()).toEqual([
      [head, 'd-support', 'push', 'guid-1'],
      [head, 'd-sales', 'push', 'guid-1'],
    ]);
  });

  test('to a fork is reported as nothing to build', async () => {
    const head = fixture.commit();
    const payload = { ref: 'refs/heads/main', before: 'b'.repeat(40), after: head };
    await fixture.receive('push', { ...payload, repository: { ...place.repository, fork: true } });
    expect(requested()).toEqual([]);
    expect(await fixture.check(head)).toMatchObject({ conclusion: 'neutral' });
  });

  test.each([
    ['a push', 'push', { ref: 'refs/heads/main', before: 'b'.repeat(40), after: '0'.repeat(40), deleted: true }],
    ['its own event', 'delete', { ref: 'main', ref_type: 'branch' }],
  ])('the deletion of a branch, by %s, notifies only its open work', async (_, name, payload) => {
    fixture.branches.set('next', targetsOn('next', 'preview'));
    await fixture.push(fixture.commit());
    await fixture.push(fixture.commit('next'), 'next');
    fixture.jobs.length = 0;
    const lease = await fixture.store.takeLease('d-support', 'worker', 1_000);
    if (!lease) throw new Error('no lease');
    await fixture.store.leaveLease(lease, undefined);
    await fixture.receive(name, payload, 'guid-9');
    expect(fixture.jobs).toEqual(['lane d-support']);
    expect(fixture.decided.get('guid-9')).toMatchObject({ did: ['woke deployment d-support'] });
  });
});

describe('the checks that GitHub expects of a commit', () => {
  const suite = (headSha: string, branch: string | null) =>
    fixture.receive(
      'check_suite',
      { action: 'requested', check_suite: { head_sha: headSha, head_branch: branch } },
      'guid-2',
    );

  test('are requested without a push', async () => {
    const head = fixture.commit();
    await suite(head, 'main');
    expect(requested()).toEqual([[head, 'd-support', 'push', 'guid-2']]);
  });

  test('exist if the push was handled first', async () => {
    const head = fixture.commit();
    await fixture.push(head);
    await suite(head, 'main');
    expect(requested()).toEqual([[head, 'd-support', 'push', 'guid-1']]);
    expect(fixture.decided.get('guid-2')).toMatchObject({ did: ['the commit has its checks'] });
  });

  test('cost no request to GitHub if the push was handled first', async () => {
    const head = fixture.commit();
    await fixture.push(head);
    fixture.githubApi.head = () => Promise.reject(new Error('started'));
    fixture.context.targets.targetsOf = () => Promise.reject(new Error('started'));
    await suite(head, 'main');
    expect(requested()).toHaveLength(1);
  });

  test('of a commit without a push are reported; a head with checks is not repeated', async () => {
    const older = fixture.commit();
    const head = fixture.commit();
    await fixture.push(head);
    await suite(older, 'main');
    expect(requested()).toEqual([
      [head, 'd-support', 'push', 'guid-1'],
      [older, 'd-support', 'push', 'guid-2'],
    ]);
  });

  test('are neutral for a commit on no branch here', async () => {
    const head = fixture.commit();
    await suite(head, null);
    expect(await fixture.check(head)).toMatchObject({
      conclusion: 'neutral',
      summary: 'The commit is on no branch of this repository.',
    });
  });

  test('are written once, whichever event comes first', async () => {
    const head = fixture.commit('next');
    await fixture.push(head, 'next');
    await suite(head, 'next');
    expect([...fixture.store.reports.values()].map(({ version }) => version)).toEqual([1]);
  });
});

describe('what is not deployed yet', () => {
  const pull = { number: 7, action: 'opened' };

  test('a merge group gets its check', async () => {
    const head = fixture.commit('queue');
    await fixture.receive('merge_group', {
      action: 'checks_requested',
      merge_group: { head_sha: head, base_ref: 'refs/heads/main' },
    });
    expect(await fixture.check(head)).toMatchObject({ conclusion: 'neutral', title: 'Nothing to deploy' });
  });

  test('a push does not overwrite the report on its pull request', async () => {
    const head = fixture.commit('next');
    const examine = async () => {
      const content = { status: 'completed', conclusion: 'failure', title: '2 problems', summary: 'Look.' } as const;
      await fixture.store.putReport({
        kind: 'check',
        repository,
        headSha: head,
        name: 'Landfall',
        wanted: { kind: 'check', content },
      });
    };
    await fixture.receive(
      'pull_request',
      { ...pull, pull_request: { head: { sha: head, repo: { id: 22 } }, base: { ref: 'main' } } },
      'guid-1',
      { ...noExaminer, examine },
    );
    await fixture.push(head, 'next', 'guid-2');
    expect(await fixture.check(head)).toMatchObject({ conclusion: 'failure', title: '2 problems' });
  });
});
