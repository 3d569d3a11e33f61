import { beforeEach, describe, expect, test } from 'vitest';
import { readDeployFile } from '../../../app/targets/file-entries.ts';
import { DeploymentBusy } from '../../../app/reconcile/with-lease.ts';
import { targetsOn } from '../events/handler-fixture.ts';
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

describe('/promote of what waits for a reviewer', () => {
  const waits = async (...users: string[]) => {
    live();
    await fixture.push(fixture.head);
    const [intent] = fixture.intents();
    if (!intent) throw new Error('nothing was requested');
    const of = { environment: 'production', names: users, count: users.length };
    await fixture.save({ ...intent, state: 'waiting', decision: { kind: 'await', code: 'reviewers', ...of } });
    const protection = { waitMinutes: 0, unknown: [], reviewers: { users, teams: [], preventsSelfReview: false } };
    fixture.githubApi.protection = { kind: 'protected', protection };
  };

  test('approves it, once', async () => {
    await waits('octocat');
    await fixture.comment('/promote', { id: 600 });
    await fixture.comment('/promote', { id: 600, delivery: 'guid-again' });
    expect(fixture.intents()).toMatchObject([{ state: 'waiting', approvals: [{ by: 'octocat' }] }]);
    expect(await fixture.said()).toContain(`Approved commit ${fixture.head.slice(0, 7)} of support`);
  });

  test('is refused to others', async () => {
    await waits('mona');
    await fixture.comment('/promote');
    expect(fixture.intents()[0]).not.toHaveProperty('approvals');
    expect(await fixture.said()).toContain('octocat is not a reviewer');
  });

  test('is refused where it was requested after the comment', async () => {
    await waits('octocat');
    const [intent] = fixture.intents();
    if (!intent) throw new Error('nothing was requested');
    await fixture.save({ ...intent, createdAt: fixture.clock.now() + 60_000 });
    await fixture.comment('/promote');
    expect(fixture.intents()[0]).not.toHaveProperty('approvals');
    expect(await fixture.said()).toContain('was requested of support since the comment was written');
  });
});

describe('/deploy to a frozen environment', () => {
  const freeze = () => {
    const [target] = targetsOn('main', 'support').targets;
    if (!target) throw new Error('no target');
    const now = fixture.clock.now();
    const windows = [{ kind: 'once', from: now, until: now + 3_600_000, reason: 'Launch' } as const];
    const terms = { ...target.terms, gate: { environment: 'production', hold: false, freeze: windows } };
    fixture.branches.set('main', { targets: [{ ...target, terms }], refused: [] });
  };

  test('is refused with the end and the reason', async () => {
    freeze();
    await fixture.comment('/deploy');
    expect(await fixture.said()).toMatch(/is frozen until 20\d\d-.* UTC: Launch.*ignore-freeze if it can't wait/);
    expect(fixture.intents()).toEqual([]);
  });

  test('is requested where the comment says that the freeze does not count', async () => {
    freeze();
    await fixture.comment('/deploy ignore-freeze', { id: 600 });
    await fixture.comment('/deploy ignore-freeze', { id: 600, delivery: 'again' });
    expect(fixture.intents()).toMatchObject([{ cause: { kind: 'redeploy', ignoresFreeze: true, isPinned: true } }]);
    expect(await fixture.answer()).toContain('/deploy ignore-freeze');
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
  const own = aPullRequest(head);
  const { headBranch: _, ...ofFork } = own;
  const fork = { ...ofFork, isFork: true };
  const withPreview =
    'name: support\nrepo-url: https://github.com/acme/agents\nrepo-ref: main\ngraph-config-path: x.json\n';
  let approved: unknown[];

  beforeEach(() => {
    approved = [];
    fixture.context.previews = {
      notify: async (...notified) => void approved.push(notified),
      openPulls: async () => [],
      renotify: async () => undefined,
      moved: async () => undefined,
      preview: async () => undefined,
    };
    file(`${withPreview}preview: {}`);
  });
  const file = (text: string | undefined) => {
    fixture.context.previewFile = async () => readDeployFile(text === undefined ? undefined : { text });
  };
  const approval = (at = fixture.clock.now()) => [
    repository,
    7,
    { isUnreachable: false, approval: { commit: head, by: 'octocat', at } },
  ];

  test.each([
    ['of the head', own, '', 'Requested the preview of commit a1b2c3d.'],
    ['of the head that is named', own, ' a1b2c3d', 'Requested the preview of commit a1b2c3d.'],
    ['of a commit of a fork', fork, ` ${head.toUpperCase()}`, 'another commit needs it again'],
  ])('%s is requested', async (_name, pull, argument, said) => {
    fixture.githubApi.pulls.set(7, pull);
    await fixture.comment(`/preview${argument}`);
    expect(await fixture.said()).toContain(said);
    expect(approved).toEqual([approval()]);
  });

  test.each([
    ['of another commit', own, ' 1234567', 'is not the head of the pull request'],
    ['of a fork', fork, '', `give /preview ${head}.`],
    ['of an abbreviated commit of a fork', fork, ` ${head.slice(0, 39)}`, `give /preview ${head}.`],
    ['of another commit of a fork', fork, ` ${'1'.repeat(40)}`, 'is not the head of the pull request'],
  ])('%s is refused', async (_name, pull, argument, why) => {
    fixture.githubApi.pulls.set(7, pull);
    await fixture.comment(`/preview${argument}`);
    expect(await fixture.said()).toContain(why);
    expect(approved).toEqual([]);
  });

  test.each([
    ['without a file', undefined, 'no preview is configured'],
    ['without an entry that has previews', withPreview, 'no preview is configured'],
    ['with a mistake in the file', `${withPreview}preview: { whenn: always }`, 'the deploy file has a mistake'],
    ['with an unreadable file', 'a: [', 'the deploy file has a mistake'],
    [
      'without the label',
      `${withPreview}preview: { when: { label: try } }`,
      'with the label try, which this one lacks',
    ],
    ['of an image', 'name: support\nimage-uri: x/y\npreview: {}', 'no preview is configured'],
  ])('%s is refused', async (_name, text, why) => {
    fixture.githubApi.pulls.set(7, own);
    file(text);
    await fixture.comment('/preview');
    expect(await fixture.said()).toContain(why);
    expect(approved).toEqual([]);
  });

  test('with the label is requested', async () => {
    fixture.githubApi.pulls.set(7, { ...own, labels: ['Try'] });
    file(`${withPreview}preview: { when: { label: try } }`);
    await fixture.comment('/preview');
    expect(approved).toHaveLength(1);
  });

  test('that is carried out again approves the same commit at the same time', async () => {
    fixture.githubApi.pulls.set(7, own);
    const end = fixture.store.endCommand.bind(fixture.store);
    fixture.store.endCommand = async () => {
      throw new Error('killed');
    };
    const at = fixture.clock.now();
    await expect(fixture.comment('/preview', { id: 600 })).rejects.toThrow('killed');
    fixture.store.endCommand = end;
    await fixture.clock.sleep(60 * 60_000);
    fixture.githubApi.pulls.set(7, aPullRequest('f'.repeat(40), { isOpen: false }));
    await fixture.comment('/preview', { id: 600, delivery: 'again' });
    expect(approved).toEqual([approval(at), approval(at)]);
    expect(await fixture.said()).toContain('Requested the preview of commit a1b2c3d');
  });

  test('of an App without previews is refused', async () => {
    delete fixture.context.previews;
    await fixture.comment('/preview');
    expect(await fixture.said()).toContain('no preview is configured');
  });
});

describe('a command that was carried out', () => {
  const changes = {
    late: () => fixture.clock.sleep(60 * 60_000),
    'after the permission was lost': () => fixture.allow('none'),
    'after the close': () => fixture.githubApi.pulls.set(7, aPullRequest(fixture.head, { isOpen: false })),
    'after the deployment was taken away': () => fixture.branches.clear(),
  };
  const cases = Object.entries(changes).flatMap(([when, change]) =>
    (
      [
        ['/deploy', 'Requested support at commit'],
        ['/rollback', 'Requested support to go back to revision r1'],
        ['/cancel', 'Cancelled what was not sent of support'],
        ['/promote', 'Revision r3 of support is promoted'],
      ] as const
    ).map(([body, said]) => [body, when, change, said] as const),
  );

  test.each(cases)('%s and is delivered again %s is not said to be refused', async (body, _when, change, said) => {
    fixture.control.still.set('d-support', {
      active: 'r2',
      revisions: [
        { id: 'r3', status: 'DEPLOYING', commit: fixture.head, hold: 'open' },
        { id: 'r2', status: 'DEPLOYED', commit: fixture.head },
        { id: 'r1', status: 'DEPLOYED', commit: fixture.head },
      ],
    });
    fixture.control.promoteRevision = async (_, id) => {
      const [, ...others] = fixture.control.still.get('d-support')?.revisions ?? [];
      const promoted = { id, status: 'DEPLOYED', hold: 'promoted' as const };
      fixture.control.still.set('d-support', { active: 'r2', revisions: [promoted, ...others] });
      return fixture.control.getRevision('d-support', id);
    };
    await fixture.push(fixture.head);
    const end = fixture.store.endCommand.bind(fixture.store);
    fixture.store.endCommand = async () => {
      throw new Error('killed');
    };
    const comment = { created_at: new Date(fixture.clock.now()).toISOString() };
    await expect(fixture.comment(body, { id: 600 })).rejects.toThrow('killed');
    fixture.store.endCommand = end;
    const made = fixture.intents().length;
    await change();
    await fixture.comment(body, { id: 600, delivery: 'again', comment });
    expect(await fixture.said()).toContain(said);
    expect(fixture.intents()).toHaveLength(made);
  });

  test('and was killed before anything came of it is refused as any other', async () => {
    const request = fixture.store.request.bind(fixture.store);
    fixture.store.request = async () => {
      throw new Error('killed');
    };
    await expect(fixture.comment('/deploy', { id: 600 })).rejects.toThrow('killed');
    fixture.store.request = request;
    fixture.allow('none');
    await fixture.comment('/deploy', { id: 600, delivery: 'again' });
    expect(await fixture.said()).toContain('has no access');
    expect(fixture.intents()).toEqual([]);
  });
});

describe('what has changed since the comment was written', () => {
  const before = { created_at: '2026-11-21T07:59:00Z' };
  const revisions = (more: object) => [
    { id: 'r3', status: 'DEPLOYED', commit: fixture.head, ...more },
    { id: 'r2', status: 'DEPLOYED', commit: 'f'.repeat(40) },
  ];

  test('is not rolled back: a revision that was made since', async () => {
    fixture.control.still.set('d-support', { active: 'r3', revisions: revisions({ madeAt: '2026-11-21T07:59:30Z' }) });
    await fixture.comment('/rollback', { comment: before });
    expect(await fixture.said()).toContain('revision r3 of support has taken its place since the comment was written');
    expect(fixture.intents()).toEqual([]);
  });

  test('is not rolled back: a revision that went live since', async () => {
    fixture.control.still.set('d-support', { active: 'r3', revisions: revisions({ madeAt: '2026-11-21T07:50:00Z' }) });
    await fixture.push(fixture.head);
    const [intent] = fixture.intents();
    if (!intent) throw new Error('nothing was requested');
    const end = { kind: 'deployed', reason: 'live', at: 1 } as const;
    const seen = [{ status: 'DEPLOYED', at: Date.parse('2026-11-21T07:59:30Z') }];
    const rollout = { kind: 'live', revisionId: 'r3', seen } as const;
    await fixture.save({ ...intent, state: 'ended', revisionId: 'r3', rollout, former: { live: 'r2' }, end });
    await fixture.comment('/rollback', { comment: before });
    expect(await fixture.said()).toContain('has taken its place since the comment was written');
  });

  test('is not promoted: a revision that was made since', async () => {
    const held = revisions({ madeAt: '2026-11-21T07:59:30Z', hold: 'open', status: 'DEPLOYING' });
    fixture.control.still.set('d-support', { active: 'r2', revisions: held });
    await fixture.comment('/promote', { comment: before });
    expect(await fixture.said()).toContain('has taken its place since the comment was written');
  });

  test('does not count within the difference of clocks', async () => {
    fixture.control.still.set('d-support', { active: 'r3', revisions: revisions({ madeAt: '2026-11-21T07:59:05Z' }) });
    await fixture.comment('/rollback', { comment: before });
    expect(fixture.intents()).toMatchObject([{ sending: { revisionId: 'r2' } }]);
  });
});

describe('a revision that reports no commit', () => {
  beforeEach(() =>
    fixture.control.still.set('d-support', {
      active: 'r2',
      revisions: [
        { id: 'r2', status: 'DEPLOYED' },
        { id: 'r1', status: 'DEPLOYED' },
      ],
    }),
  );

  test('is not rolled back to as another commit', async () => {
    await fixture.comment('/rollback');
    expect(await fixture.said()).toContain('it is unknown of which commit revision r1 of support is');
    expect(fixture.intents()).toEqual([]);
  });

  test('is of the commit that the App made it of', async () => {
    await fixture.push(fixture.head);
    const [intent] = fixture.intents();
    if (!intent) throw new Error('nothing was requested');
    const end = { kind: 'deployed', reason: 'live', at: 1 } as const;
    await fixture.save({ ...intent, state: 'ended', revisionId: 'r1', end });
    await fixture.comment('/rollback');
    expect(fixture.intents().at(-1)).toMatchObject({ commit: fixture.head, sending: { revisionId: 'r1' } });
  });
});
