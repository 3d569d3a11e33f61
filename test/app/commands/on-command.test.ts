import { loggerTo } from '../../logger.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import { GitHubApiError, InstallationPaused } from '../../../app/github/github-api.ts';
import { shortCommit } from '../../../src/contract/control/repo-ref.ts';
import { serviceError } from '../../deploy/machine/control-model.ts';
import { targetsOn } from '../events/handler-fixture.ts';
import { CommentFixture } from './commenting.ts';

let fixture: CommentFixture;
beforeEach(() => {
  fixture = new CommentFixture();
});

const intents = () =>
  fixture.intents().map(({ deploymentId, commit, cause: { kind, key, by, isPinned }, sending }) => ({
    deploymentId,
    commit,
    cause: { kind, key, by, ...(isPinned ? { isPinned } : {}) },
    sending,
  }));
const live = () =>
  fixture.control.still.set('d-support', {
    active: 'r3',
    revisions: [
      { id: 'r3', status: 'DEPLOYED', commit: fixture.head },
      { id: 'r1', status: 'DEPLOYED', commit: 'f'.repeat(40) },
    ],
  });

describe('/help', () => {
  test('lists the commands, with a reaction at once and one at the end', async () => {
    const id = await fixture.comment('/help');
    expect(await fixture.answer()).toContain('/deploy [deployment] [commit]');
    expect(fixture.reactionsTo(id)).toBe('eyes +1');
  });

  test('names who gave it without a mention', async () => {
    await fixture.comment('/help', { login: 'mona' });
    expect(await fixture.answer()).toContain('<code>/help</code> by <code>mona</code>, 2026-11-21 08:00 UTC');
  });
});

describe('/deploy', () => {
  test('requests the head of the branch, pinned, once for each comment', async () => {
    await fixture.comment('/deploy', { id: 600 });
    expect(intents()).toEqual([
      {
        deploymentId: 'd-support',
        commit: fixture.head,
        cause: { kind: 'redeploy', key: 'comment-600', by: 'octocat', isPinned: true },
        sending: { kind: 'restate', repoRef: 'main' },
      },
    ]);
    expect(await fixture.answer()).toContain(`Its check on ${fixture.head} shows the progress.`);
  });

  test('that is delivered three times at once is one', async () => {
    await Promise.all(['one', 'two', 'three'].map((delivery) => fixture.comment('/deploy', { id: 600, delivery })));
    expect(intents()).toHaveLength(1);
  });

  test('that is delivered again after a push stays what it was', async () => {
    await fixture.comment('/deploy', { id: 600 });
    const before = await fixture.answer();
    fixture.commit('main');
    await fixture.comment('/deploy', { id: 600, delivery: 'again' });
    expect(intents()).toMatchObject([{ commit: fixture.head }]);
    expect(await fixture.answer()).toBe(before);
  });

  test('takes the commit that was read, if it is killed before it is requested', async () => {
    const request = fixture.store.request.bind(fixture.store);
    fixture.store.request = () => Promise.reject(new Error('killed'));
    await expect(fixture.comment('/deploy', { id: 600 })).rejects.toThrow('killed');
    fixture.store.request = request;
    const newer = fixture.commit('main');
    await fixture.comment('/deploy', { id: 600, delivery: 'again' });
    expect(newer).not.toBe(fixture.head);
    expect(intents()).toMatchObject([{ commit: fixture.head, cause: { isPinned: true } }]);
  });

  test('takes the commit that a person confirms', async () => {
    await fixture.comment(`/deploy support ${shortCommit(fixture.head)}`);
    expect(intents()).toHaveLength(1);
  });

  test('chooses among deployments by name, also of the branch of the pull request', async () => {
    fixture.branches.set('next', targetsOn('next', 'staging'));
    await fixture.comment('/deploy staging');
    expect(intents()).toMatchObject([{ deploymentId: 'd-staging', commit: fixture.pull.headSha }]);
  });

  test('takes nothing of the branch of a fork', async () => {
    const { headBranch: _, ...fork } = fixture.pull;
    fixture.githubApi.pulls.set(7, fork);
    fixture.branches.set('next', targetsOn('next', 'staging'));
    await fixture.comment('/deploy staging');
    expect(await fixture.said()).toContain('staging is not a deployment of the branches of this pull request');
    expect(intents()).toEqual([]);
  });

  test('on a merged pull request is taken', async () => {
    fixture.githubApi.pulls.set(7, { ...fixture.pull, isOpen: false, isMerged: true });
    await fixture.comment('/deploy');
    expect(intents()).toHaveLength(1);
  });
});

describe('/rollback', () => {
  const wayBack = {
    deploymentId: 'd-support',
    commit: 'f'.repeat(40),
    cause: { kind: 'rollback', key: 'comment-600', by: 'octocat' },
    sending: { kind: 'redeploy', revisionId: 'r1' },
  };

  test('restores the revision that was live before, whoever made the live one', async () => {
    live();
    await fixture.comment('/rollback support', { id: 600 });
    expect(intents()).toEqual([wayBack]);
  });

  test('goes back to the same revision if it is killed, whatever is live by then', async () => {
    live();
    const request = fixture.store.request.bind(fixture.store);
    fixture.store.request = () => Promise.reject(new Error('killed'));
    await expect(fixture.comment('/rollback', { id: 600 })).rejects.toThrow('killed');
    fixture.store.request = request;
    fixture.control.still.set('d-support', {
      active: 'r5',
      revisions: [
        { id: 'r5', status: 'DEPLOYED' },
        { id: 'r3', status: 'DEPLOYED' },
      ],
    });
    await fixture.comment('/rollback', { id: 600, delivery: 'again' });
    expect(intents()).toEqual([wayBack]);
  });

  test('that has nothing to go back to says why', async () => {
    fixture.control.still.set('d-support', { revisions: [] });
    await fixture.comment('/rollback');
    expect(await fixture.said()).toContain('Nothing was done: support has nothing to go back to: nothing is live');
  });
});

describe('/status', () => {
  test('says what is live, open and paused', async () => {
    live();
    await fixture.push(fixture.head);
    const lease = await fixture.store.takeLease('d-support', 'worker', 1_000);
    if (lease) await fixture.store.save(lease, { held: { since: fixture.clock.now() } });
    await fixture.comment('/status');
    const answer = await fixture.answer();
    expect(answer).toContain('live is revision <code>r3</code>');
    expect(answer).toContain('Recorded, to be decided');
    expect(answer).toContain('pushes are paused after a rollback');
  });
});

describe('a refusal', () => {
  const refusedBy = async (body: string, more: Parameters<CommentFixture['comment']>[1] = {}) => {
    const id = await fixture.comment(body, more);
    expect(intents()).toEqual([]);
    expect(fixture.reactionsTo(id)).toBe('eyes confused');
    return fixture.said();
  };

  test.each([
    ['read', 'octocat has only read access to this repository, and it takes write.'],
    ['none', 'octocat has no access to this repository, and it takes write.'],
  ] as const)('is for a person with the permission %s', async (permission, why) => {
    fixture.allow(permission);
    expect((await refusedBy('/deploy')).toLowerCase()).toContain(why);
  });

  test('is for a person who lost the permission before the job ran', async () => {
    const take = fixture.store.takeCommand.bind(fixture.store);
    fixture.store.takeCommand = async (command) => {
      fixture.allow('none');
      return take(command);
    };
    expect(await refusedBy('/deploy')).toContain('no access');
  });

  test('is for a person whose login belongs to another one by now', async () => {
    fixture.githubApi.permissionOf = async (_at, _login, userId) => (userId === 5 ? 'none' : 'admin');
    expect(await refusedBy('/deploy')).toContain('no access');
  });

  test('is for a deployment in production whose admins are others', async () => {
    const [target] = targetsOn('main', 'support').targets;
    if (!target) throw new Error('no target');
    fixture.branches.set('main', {
      targets: [{ ...target, terms: { ...target.terms, admins: ['Mona'] } }],
      refused: [],
    });
    expect(await refusedBy('/deploy')).toContain('octocat is not one of the admins');
    await fixture.comment('/deploy', { login: 'mona' });
    expect(intents()).toHaveLength(1);
  });

  test.each([
    ['/deploy suport', 'suport is not a deployment of the branches of this pull request; did you mean support?'],
    ['/deploy ѕupport', 'did you mean support?'],
    ['/deploy 1234567', '1234567 is not the head of main'],
    ['/deplyo', '/deplyo is not a command; did you mean /deploy?'],
    ['/deploy a b c', '/deploy does not take b'],
    ['/status d-other', 'd-other is not a deployment'],
  ])('is for %s', async (body, why) => {
    expect(await refusedBy(body)).toContain(why);
  });

  test('is for one of several deployments without its name', async () => {
    fixture.branches.set('main', targetsOn('main', 'support', 'sales'));
    expect(await refusedBy('/deploy')).toContain('Name one of these: support, sales.');
  });

  test('is for a deployment of another repository', async () => {
    fixture.branches.set('main', {
      targets: [],
      refused: [{ deployment: 'payroll', why: 'its repo_url is not this repository' }],
    });
    expect(await refusedBy('/deploy payroll')).toContain("can't be acted upon: its repo_url is not this repository");
  });

  test.each([
    ['a locked conversation', { issue: { locked: true } }, 'the conversation is locked'],
    [
      'a comment that arrives late',
      { comment: { created_at: '2026-11-21T07:00:00Z' } },
      'the comment is 60 minutes old',
    ],
  ])('is for %s', async (_, more, why) => {
    expect((await refusedBy('/deploy', more)).toLowerCase()).toContain(why);
  });

  test('is for a pull request that was closed without being merged', async () => {
    fixture.githubApi.pulls.set(7, { ...fixture.pull, isOpen: false });
    expect(await refusedBy('/deploy')).toContain('closed without being merged');
  });
});

describe('passes over', () => {
  test.each([
    ['a sentence', 'Please deploy', {}],
    ['a bot', '/deploy', { comment: { user: { login: 'x[bot]', id: 5, type: 'Bot' } } }],
    ['an App that acts for a person', '/deploy', { comment: { performed_via_github_app: { id: 1 } } }],
    [
      'a comment of another person than its sender',
      '/deploy',
      { comment: { user: { login: 'a', id: 6, type: 'User' } } },
    ],
    ['a comment whose author is gone', '/deploy', { comment: { user: null } }],
    ['an edit', '/deploy', { action: 'edited' }],
    ['a deletion', '/deploy', { action: 'deleted' }],
    ['an issue', '/deploy', { issue: { pull_request: undefined } }],
    ['an empty comment', '', { comment: { body: null } }],
  ])('%s', async (_, body, more) => {
    const id = await fixture.comment(body, more);
    expect(fixture.reactionsTo(id)).toBe('');
    expect(await fixture.answer()).toBe('');
    expect(intents()).toEqual([]);
  });
});

describe('the answer', () => {
  test.each([
    '/deploy @octocat/team',
    '/deploy [x](https://evil.test)',
    '/deploy </details><img/src=x>',
    '/deploy #1',
    '/deploy |x|',
    '/deploy ```',
    `/rollback ${'@a'.repeat(80)}`,
  ])('to %j neither mentions nor marks up', async (body) => {
    await fixture.comment(body);
    const answer = await fixture.answer();
    expect(answer).toContain('is not a deployment');
    expect(answer).not.toMatch(/@[a-z]/);
    expect(answer).not.toMatch(/\]\(|<img|(?<!&)#1|```/);
  });

  test('lists the commands before it, newest first, and at most four', async () => {
    for (const body of ['/help', '/status', '/help', '/deploy', '/help', '/status']) await fixture.comment(body);
    const earlier = [...(await fixture.answer()).matchAll(/^- <code>(\S+)<\/code>/gm)].map(([, command]) => command);
    expect(earlier).toEqual(['/help', '/deploy', '/help', '/status']);
  });

  test('to a stranger stands below the last answer', async () => {
    await fixture.comment('/help');
    fixture.allow('none');
    await fixture.comment('/deploy', { login: 'eve' });
    const answer = await fixture.answer();
    expect(answer).toMatch(/^### ✅ <code>\/help<\/code>/);
    expect(answer).toMatch(
      /\n\n- <code>\/deploy<\/code> by <code>eve<\/code>[^\n]*nothing was done: eve has no access[^\n]*$/,
    );
  });

  test('keeps the commands of others, however many strangers comment', async () => {
    await fixture.comment('/deploy');
    fixture.allow('read');
    for (let nth = 0; nth < 20; nth += 1) await fixture.comment('/deploy');
    expect((await fixture.answer()).match(/only read access/g)).toHaveLength(1);
    expect(await fixture.answer()).toContain('Requested support at commit');
  });

  test('answers a stranger without a line of the log for each attempt', async () => {
    const lines: Record<string, unknown>[] = [];
    fixture.context.log = loggerTo((_message, fields) => lines.push(fields));
    fixture.allow('read');
    for (let nth = 0; nth < 5; nth += 1) await fixture.comment('/deploy');
    const refusals = lines.filter(({ code }) => code === 'no-write');
    expect(refusals.map(({ level }) => level)).toEqual(['debug', 'debug', 'debug', 'debug', 'debug']);
    expect(await fixture.answer()).toContain('only read access');
  });

  test('says that only the first of several commands is taken', async () => {
    await fixture.comment('/status\n/deploy');
    expect(await fixture.answer()).toContain('Only the first command of a comment is taken.');
    expect(intents()).toEqual([]);
  });
});

describe('a failure of the service', () => {
  test.each(['/deploy', '/status'])('before %s is decided is said, too', async (body) => {
    fixture.context.targets.targetsOf = async () => {
      throw serviceError('unauthorized', 'list deployments', { status: 401 });
    };
    await fixture.comment(body);
    expect(await fixture.said()).toContain('the service refused it: list deployments');
  });

  test('that is for good is said', async () => {
    await fixture.comment('/rollback');
    expect(await fixture.said()).toContain('the service refused it: get deployment: answered 404');
  });

  test('that passes has the command carried out later', async () => {
    live();
    const read = fixture.control.getDeployment.bind(fixture.control);
    fixture.control.getDeployment = () => Promise.reject(serviceError('busy', 'get deployment', { status: 503 }));
    await expect(fixture.comment('/rollback', { id: 600 })).rejects.toThrow('get deployment');
    fixture.control.getDeployment = read;
    await fixture.comment('/rollback', { id: 600, delivery: 'again' });
    expect(intents()).toHaveLength(1);
  });
});

describe('a failure of GitHub', () => {
  test.each([
    new GitHubApiError('Resource not accessible by integration', 403, 'none'),
    new InstallationPaused(11, 5, 'slow down'),
  ])('at a reaction keeps no command from being carried out: $name', async (failure) => {
    fixture.githubApi.react = async () => {
      throw failure;
    };
    await fixture.comment('/deploy');
    expect(intents()).toHaveLength(1);
    expect(fixture.log).toContain(`No reaction: ${failure.message}`);
  });

  test('at a rate limit has the delivery wait, and nothing is done before', async () => {
    fixture.githubApi.permissionOf = () => Promise.reject(new InstallationPaused(11, 5, 'slow down'));
    await expect(fixture.comment('/deploy')).rejects.toBeInstanceOf(InstallationPaused);
    expect(intents()).toEqual([]);
    expect(await fixture.answer()).toBe('');
  });
});
