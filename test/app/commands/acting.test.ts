import { beforeEach, describe, expect, test } from 'vitest';
import type { AppContext } from '../../../app/context.ts';
import { preview } from '../../../app/commands/look.ts';
import { DeploymentBusy } from '../../../app/reconcile/with-lease.ts';
import { targetsOn, noExaminer } from '../events/handler-fixture.ts';
import { repository, tested } from '../reconcile/requests.ts';
import { aPullRequest } from '../github/a-pull-request.ts';
import { CommentFixture } from './commenting.ts';

let fixture: CommentFixture;
beforeEach(() => {
  fixture = new CommentFixture();
});

const live = (hold?: 'open' | 'promoted') =>
  fixture.control.still.set('d-support', {
    active: 'r1',
    revisions: [
      { id: 'r2', status: hold === 'open' ? 'DEPLOYING' : 'DEPLOYED', ...(hold ? { hold } : {}) },
      { id: 'r1', status: 'DEPLOYED', commit: fixture.head },
    ],
  });

describe('/cancel', () => {
  test('ends what waits, and says which commits', async () => {
    await fixture.push(fixture.head);
    await fixture.comment('/cancel');
    expect(fixture.intents()).toMatchObject([{ state: 'ended', end: { kind: 'skipped' } }]);
    expect(await fixture.said()).toContain(`Cancelled what was not sent of support: ${fixture.head.slice(0, 7)}`);
  });

  test('that is carried out again leaves what was requested since', async () => {
    await fixture.push(fixture.head);
    const end = fixture.store.endCommand.bind(fixture.store);
    fixture.store.endCommand = async () => {
      throw new Error('killed');
    };
    await expect(fixture.comment('/cancel', { id: 600 })).rejects.toThrow('killed');
    fixture.store.endCommand = end;
    const newer = fixture.commit('main');
    await fixture.push(newer, 'main', 'guid-newer');
    await fixture.comment('/cancel', { id: 600, delivery: 'again' });
    expect(await fixture.said()).toContain('Cancelled what was not sent of support');
    expect(fixture.intents().map(({ commit, state }) => [commit, state])).toEqual([
      [fixture.head, 'ended'],
      [newer, 'requested'],
    ]);
  });

  test('of what was sent says that it is too late', async () => {
    await fixture.push(fixture.head);
    const [intent] = fixture.intents();
    if (!intent) throw new Error('nothing was requested');
    const sent = { former: {}, sentAt: 1, sends: 1, deadline: 1, state: 'sending' } as const;
    await fixture.save({ ...intent, ...sent });
    await fixture.comment('/cancel');
    expect(await fixture.said()).toContain("was sent to the service of support already, and can't be cancelled");
  });

  test('of nothing says so', async () => {
    await fixture.comment('/cancel');
    expect(await fixture.said()).toContain('nothing of support is waiting');
  });

  test('is tried again while the deployment is worked on', async () => {
    await fixture.push(fixture.head);
    await fixture.store.takeLease('d-support', 'worker', 60_000);
    await expect(fixture.comment('/cancel')).rejects.toBeInstanceOf(DeploymentBusy);
    expect(await fixture.answer()).toBe('');
  });
});

describe('/promote', () => {
  test('promotes what is held, once', async () => {
    live('open');
    const promoted: string[] = [];
    fixture.control.promoteRevision = async (_, id) => {
      promoted.push(id);
      live('promoted');
      return fixture.control.getRevision('d-support', id);
    };
    await fixture.comment('/promote', { id: 600 });
    expect(promoted).toEqual(['r2']);
    expect(await fixture.said()).toContain('Revision r2 of support is promoted');
  });

  test('of nothing that is held says so', async () => {
    live();
    await fixture.comment('/promote');
    expect(await fixture.said()).toContain('no revision of support is held before traffic');
  });
});

describe('/test', () => {
  const target = (smokeTests = tested.smokeTests) => {
    const [first] = targetsOn('main', 'support').targets;
    if (!first) throw new Error('no target');
    fixture.branches.set('main', {
      targets: [{ ...first, terms: { ...first.terms, smokeTests, onFailure: 'rollback' } }],
      refused: [],
    });
  };

  test.each([
    ['/test', ['greets']],
    ['/test 3', ['greets (1 of 3)', 'greets (2 of 3)', 'greets (3 of 3)']],
  ])('%s requests the tests of what is live, and no rollback', async (body, names) => {
    target();
    live();
    await fixture.comment(body, { id: 600 });
    const [intent] = fixture.intents();
    expect(intent).toMatchObject({
      commit: fixture.head,
      cause: { kind: 'rerun', key: 'comment-600' },
      sending: { kind: 'test', revisionId: 'r1' },
      terms: { onFailure: 'keep' },
    });
    expect(intent?.terms.smokeTests.map(({ name }) => name)).toEqual(names);
  });

  test.each([
    ['without a test', [], '/test', 'the deploy file names no smoke test of support'],
    [
      'with tests against the live revision only',
      tested.smokeTests.map((each) => ({
        ...each,
        series: { kind: 'live' as const, atOnce: 4, tries: 30, drop: 0.3, decideBy: ['pass-rate' as const], tests: 1 },
      })),
      '/test',
      'the deploy file names no smoke test of support',
    ],
    [
      'with too many',
      Array.from({ length: 4 }, (_, at) => ({ ...tested.smokeTests[0]!, name: `t${at}` })),
      '/test 20',
      'it makes 80 tests, and at most 60 are run at once',
    ],
  ])('%s says why not', async (_, smokeTests, body, why) => {
    target(smokeTests);
    live();
    await fixture.comment(body);
    expect(await fixture.said()).toContain(why);
    expect(fixture.intents()).toEqual([]);
  });

  test('where nothing is live says so', async () => {
    target();
    fixture.control.still.set('d-support', { revisions: [] });
    await fixture.comment('/test');
    expect(await fixture.said()).toContain('nothing of support is live');
  });
});

test('/plan answers with the forecast of the pull request', async () => {
  await fixture.comment('/plan');
  expect(await fixture.said()).toBe('Would change nothing.');
  expect(await fixture.answer()).toContain('A plan.');
});

describe('/preview', () => {
  const head = 'a1b2c3d4e5'.repeat(4);
  const pull = aPullRequest(head);
  const { headBranch: _, ...ofFork } = pull;
  const fork = { ...ofFork, isFork: true };
  const given = { repository, number: 7, by: { login: 'octocat', id: 5 } };

  test.each([
    ['of the head', pull, undefined, 'previewed'],
    ['of the head that is named', pull, 'a1b2c3d', 'previewed'],
    ['of another commit', pull, '1234567', 'not-pull-head'],
    ['of a fork', fork, undefined, 'fork-commit'],
    ['of a commit of a fork', fork, head.toUpperCase(), 'previewed'],
    ['of an abbreviated commit of a fork', fork, head.slice(0, 39), 'fork-commit'],
    ['of another commit of a fork', fork, '1'.repeat(40), 'not-pull-head'],
  ])('%s', async (_name, at, commit, code) => {
    const approved: unknown[] = [];
    const previews: NonNullable<AppContext['previews']> = {
      notify: async (...notified) => void approved.push(notified),
      openPulls: async () => [],
      renotify: async () => undefined,
      moved: async () => undefined,
    };
    const command = { name: 'preview', ...(commit ? { commit } : {}) } as const;
    const context = { clock: fixture.clock, previews };
    expect(await preview({ command, given, pull: at, context, pullRequests: noExaminer })).toMatchObject({ code });
    const approval = { commit: head, by: 'octocat', at: fixture.clock.now() };
    expect(approved).toEqual(code === 'previewed' ? [[repository, 7, { isUnreachable: false, approval }]] : []);
  });

  test('without previews says so', async () => {
    await fixture.comment('/preview');
    expect(await fixture.said()).toContain('no preview is configured');
  });
});
