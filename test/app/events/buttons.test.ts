import { beforeEach, describe, expect, test } from 'vitest';
import { withNote } from '../../../app/events/commit-check.ts';
import type { Intent } from '../../../app/reconcile/intent.ts';
import { checkName } from '../../../app/reconcile/report.ts';
import { repository } from '../reconcile/requests.ts';
import { requestOf } from '../previews/a-preview.ts';
import { targetsOn, HandlerFixture, noExaminer } from './handler-fixture.ts';

let fixture: HandlerFixture;
let head: string;
beforeEach(async () => {
  fixture = new HandlerFixture();
  fixture.branches.set('main', targetsOn('main', 'support'));
  head = fixture.commit();
});

const requestedAction = (
  action: 'rerequested' | 'requested_action',
  name: string,
  extra: object = {},
  delivery = 'guid-press',
) =>
  fixture.receive(
    'check_run',
    { action, check_run: { name, head_sha: head, external_id: 'x', check_suite: { head_branch: 'main' } }, ...extra },
    delivery,
  );
const rerun = (name = checkName('support')) => requestedAction('rerequested', name);
const press = (identifier: string, delivery?: string) =>
  requestedAction('requested_action', checkName('support'), { requested_action: { identifier } }, delivery);
const rerunAll = () =>
  fixture.receive(
    'check_suite',
    { action: 'rerequested', check_suite: { head_sha: head, head_branch: 'main' } },
    'guid-press',
  );
const last = () => fixture.intents().at(-1);
const did = (delivery = 'guid-press') => fixture.decided.get(delivery)?.['did'];

async function pushed(name = 'support'): Promise<Intent> {
  await fixture.push(head);
  const intent = fixture.intents().find(({ terms }) => terms.deploymentName === name);
  if (!intent) throw new Error('nothing was requested');
  return intent;
}

/** The check of the deployment stands completed on GitHub. */
const completed = (summary = 'It is live.') =>
  fixture.store.putReport({
    kind: 'check',
    repository,
    headSha: head,
    name: checkName('support'),
    wanted: { kind: 'check', content: { status: 'completed', conclusion: 'success', title: 'Live', summary } },
  });

describe('Re-run of the check of a preview', () => {
  const noted: unknown[] = [];
  beforeEach(() => {
    noted.length = 0;
    fixture.context.previews = {
      notify: async (...notified) => void noted.push(notified),
      renotify: async (...notified) => void noted.push(notified),
      openPulls: async () => [],
      moved: async () => undefined,
      preview: async (key) => {
        const { name, wanted } = requestOf(7, head);
        return key.entry === 'support' ? { ...key, name, wanted, version: 1, known: {} } : undefined;
      },
    };
  });

  test('requests its preview again, and no deployment', async () => {
    await rerun('Landfall preview: support (#7)');
    expect(noted).toMatchObject([[{ owner: 'acme' }, 7, { approval: { commit: head, by: 'octocat' } }]]);
    expect(fixture.intents()).toEqual([]);
  });

  test('of none that is there looks at the pull request again', async () => {
    await rerun('Landfall preview: sales (#7)');
    expect(noted).toMatchObject([[{ number: 7 }]]);
  });

  test('by a person who may not write does nothing', async () => {
    fixture.allow('read');
    await rerun('Landfall preview: support (#7)');
    expect([noted, String(did())]).toEqual([[], expect.stringContaining('Not run again')]);
  });
});

describe('Re-run', () => {
  test('of one check requests its deployment, and no other', async () => {
    fixture.branches.set('main', targetsOn('main', 'support', 'sales'));
    await pushed();
    await rerun();
    expect(fixture.intents()).toHaveLength(3);
    expect(last()).toMatchObject({
      deploymentId: 'd-support',
      commit: head,
      cause: { kind: 'rerun', key: 'guid-press', by: 'octocat' },
    });
  });

  test('of all checks requests every deployment of the commit', async () => {
    fixture.branches.set('main', targetsOn('main', 'support', 'sales'));
    await pushed();
    await rerunAll();
    expect(
      fixture
        .intents()
        .slice(2)
        .map(({ deploymentId, cause }) => [deploymentId, cause.kind]),
    ).toEqual([
      ['d-support', 'rerun'],
      ['d-sales', 'rerun'],
    ]);
  });

  test('that is redelivered is the same cause', async () => {
    await pushed();
    await rerun();
    await rerun();
    expect(fixture.intents()).toHaveLength(2);
  });

  test('finds the commit if another branch had it first', async () => {
    await pushed();
    fixture.branches.set('next', { targets: [], refused: [] });
    await fixture.receive(
      'check_run',
      {
        action: 'rerequested',
        check_run: { name: checkName('support'), head_sha: head, check_suite: { head_branch: 'next' } },
      },
      'guid-press',
    );
    expect(last()).toMatchObject({ branch: 'main', cause: { kind: 'rerun' } });
  });

  test('uses the current terms', async () => {
    await pushed();
    const [target] = targetsOn('main', 'support').targets;
    if (!target) throw new Error('no target');
    fixture.branches.set('main', { targets: [{ ...target, terms: { ...target.terms, timeoutMs: 1 } }], refused: [] });
    await rerun();
    expect(last()?.terms.timeoutMs).toBe(1);
  });

  test('of a deployment that is no longer allowed says why, on the check', async () => {
    await pushed();
    await completed();
    fixture.branches.set('main', {
      targets: [],
      refused: [{ deployment: 'support', why: 'its repo_url is of another repository' }],
    });
    await rerun();
    expect(fixture.intents()).toHaveLength(1);
    expect((await fixture.check(head, 'support'))?.summary).toBe(
      withNote('It is live.', 'Not run again: its repo_url is of another repository'),
    );
  });

  test('of an unknown check examines the branch', async () => {
    await rerun();
    expect(last()).toMatchObject({ deploymentId: 'd-support', commit: head, cause: { kind: 'rerun' } });
  });

  test('of the check of the whole commit reports it again, from the current state', async () => {
    fixture.branches.set('main', { targets: [], refused: [{ deployment: 'sales', why: 'one reason' }] });
    await fixture.push(head);
    await fixture.clock.sleep(5_000);
    fixture.branches.set('main', { targets: [], refused: [{ deployment: 'sales', why: 'another reason' }] });
    await rerun('Landfall');
    const check = await fixture.check(head);
    expect(check?.summary).toContain('another reason');
    expect(check?.completedAt).toBe('2026-11-21T08:00:05.000Z');
  });

  test('of the check of the whole commit finds new deployments', async () => {
    fixture.branches.set('main', { targets: [], refused: [] });
    await fixture.push(head);
    fixture.branches.set('main', targetsOn('main', 'support'));
    await rerun('Landfall');
    expect(last()).toMatchObject({ deploymentId: 'd-support', commit: head, cause: { kind: 'rerun' } });
  });

  test('examines a pull request again', async () => {
    const examined: number[] = [];
    const check_run = {
      name: 'Landfall',
      head_sha: head,
      check_suite: { head_branch: 'next' },
      pull_requests: [{ number: 7, head: { sha: head, repo: { id: 22 } }, base: { ref: 'main', repo: { id: 22 } } }],
    };
    await fixture.receive('check_run', { action: 'rerequested', check_run }, 'guid-press', {
      ...noExaminer,
      examine: async ({ number }) => void examined.push(number),
    });
    expect(examined).toEqual([7]);
  });
});

describe('Redeploy', () => {
  test('requests the head of the branch, whichever commit the button is on', async () => {
    await pushed();
    const newer = fixture.commit();
    await press('redeploy');
    expect(last()).toMatchObject({
      commit: newer,
      cause: { kind: 'redeploy', key: 'guid-press', by: 'octocat' },
      sending: { kind: 'restate', repoRef: 'main' },
    });
  });

  test('of a frozen environment is refused with the end and the reason', async () => {
    await pushed();
    const [target] = targetsOn('main', 'support').targets;
    if (!target) throw new Error('no target');
    const from = fixture.clock.now();
    const freeze = [{ kind: 'once', from, until: from + 3_600_000, reason: 'Launch' } as const];
    const terms = { ...target.terms, gate: { environment: 'production', hold: false, freeze } };
    fixture.branches.set('main', { targets: [{ ...target, terms }], refused: [] });
    await press('redeploy');
    expect(fixture.intents()).toHaveLength(1);
    const refusal = /^Redeploy was not done: \S+ is frozen until .* UTC: Launch\. Wait for the end, or give \/deploy/;
    expect(did()).toEqual([expect.stringMatching(refusal)]);
  });

  test('of a deleted branch is refused', async () => {
    await pushed();
    fixture.git.point('main', undefined);
    await press('redeploy');
    expect(fixture.intents()).toHaveLength(1);
    expect(did()).toEqual(['Redeploy was not done: the branch main is gone']);
  });
});

describe('Approve', () => {
  const waits = async () => {
    const intent = await pushed();
    const decision = {
      kind: 'await',
      code: 'reviewers',
      environment: 'production',
      names: ['octocat'],
      count: 1,
    } as const;
    await fixture.save({ ...intent, state: 'waiting', decision });
    await completed();
  };
  const reviewers = (...users: string[]) => {
    const protection = { waitMinutes: 0, unknown: [], reviewers: { users, teams: [], preventsSelfReview: false } };
    fixture.githubApi.protection = { kind: 'protected', protection };
  };

  test('of a reviewer without write access is kept, once', async () => {
    await waits();
    reviewers('octocat');
    fixture.allow('read');
    await press('approve');
    await press('approve', 'guid-again');
    expect(last()).toMatchObject({ state: 'waiting', approvals: [{ by: 'octocat' }] });
    expect(did()).toEqual([`approved ${head.slice(0, 7)} on support`]);
  });

  test('of another person with write access is refused, and the check says so', async () => {
    await waits();
    reviewers('mona');
    await press('approve');
    expect(last()).not.toHaveProperty('approvals');
    expect(did()).toEqual([
      expect.stringMatching(/^Approve was not done: octocat is not a reviewer .* Ask one of these: mona$/),
    ]);
    expect((await fixture.check(head, 'support'))?.summary).toContain('Approve was not done');
  });

  test('of what does not wait is refused', async () => {
    await pushed();
    reviewers('octocat');
    await press('approve');
    expect(did()).toEqual([expect.stringContaining('does not wait for an approval of support')]);
  });
});

describe('Rollback', () => {
  const former = 'f'.repeat(40);
  beforeEach(async () => {
    fixture.control.still.set('d-support', {
      active: 'r3',
      revisions: [
        { id: 'r3', status: 'DEPLOYED', commit: head },
        { id: 'r2', status: 'BUILD_FAILED', commit: 'e'.repeat(40) },
        { id: 'r1', status: 'DEPLOYED', commit: former },
      ],
    });
    const intent = await pushed();
    await fixture.save({
      ...intent,
      state: 'ended',
      revisionId: 'r3',
      end: { kind: 'deployed', reason: 'live', at: fixture.clock.now() },
    });
  });

  const wayBackTo = (revisionId: string, commit: string) => ({
    commit,
    cause: { kind: 'rollback', key: 'guid-press', by: 'octocat' },
    sending: { kind: 'redeploy', revisionId },
  });

  test('restores the previously live revision, as the service lists it', async () => {
    await press('rollback');
    expect(last()).toMatchObject(wayBackTo('r1', former));
  });

  test('reports on the check of the restored commit, with a note on its own check', async () => {
    await completed();
    await press('rollback');
    const note =
      'octocat requested a rollback: revision r1 of commit fffffff is restored, and progress is on the check of that commit';
    expect((await fixture.check(head, 'support'))?.summary).toBe(withNote('It is live.', note));
  });

  test('restores the revision that was live when the commit was sent, if stored', async () => {
    const [intent] = fixture.intents();
    if (intent?.state !== 'ended') throw new Error('no intent');
    await fixture.save({ ...intent, former: { live: 'r1' } });
    fixture.control.listsRevisions = false;
    await press('rollback');
    expect(last()).toMatchObject(wayBackTo('r1', former));
  });

  test('requests the commit of the check if the service does not list the other', async () => {
    fixture.control.still.set('d-support', {
      active: 'r3',
      revisions: [
        { id: 'r3', status: 'DEPLOYED' },
        { id: 'r1', status: 'DEPLOYED' },
      ],
    });
    await press('rollback');
    expect(last()).toMatchObject(wayBackTo('r1', head));
  });

  test('that is redelivered rolls back once, whatever is live by then', async () => {
    await press('rollback');
    fixture.control.still.set('d-support', {
      active: 'r4',
      revisions: [
        { id: 'r4', status: 'DEPLOYED' },
        { id: 'r3', status: 'DEPLOYED' },
      ],
    });
    await press('rollback');
    expect(fixture.intents()).toHaveLength(2);
    expect(did()).toEqual(['knew the way back on support']);
  });

  test.each<[string, Parameters<HandlerFixture['control']['still']['set']>[1], boolean, string]>([
    [
      'another revision serves',
      { active: 'r9', revisions: [{ id: 'r9', status: 'DEPLOYED' }] },
      true,
      'revision r9 is live, and it is not the one that this check reports',
    ],
    ['nothing is live', { revisions: [] }, true, 'nothing is live, so there is nothing to go back from'],
    [
      'nothing was live before',
      {
        active: 'r3',
        revisions: [
          { id: 'r3', status: 'DEPLOYED' },
          { id: 'r2', status: 'BUILD_FAILED' },
        ],
      },
      true,
      'no revision was live before r3',
    ],
    [
      'the previous revision is unknown',
      { active: 'r3', revisions: [] },
      false,
      'this service does not list revisions, so the previously live one is unknown',
    ],
  ])('is not done where %s, and the check says so', async (_, still, lists, why) => {
    await completed();
    fixture.control.still.set('d-support', still);
    fixture.control.listsRevisions = lists;
    await press('rollback');
    expect(fixture.intents()).toHaveLength(1);
    expect(did()).toEqual([`Rollback was not done: ${why}`]);
    expect((await fixture.check(head, 'support'))?.summary).toBe(
      withNote('It is live.', `Rollback was not done: ${why}`),
    );
  });
});

describe('a requested action', () => {
  test.each([
    ['read', 'Redeploy was not done: octocat has only read access to this repository, and it takes write'],
    ['none', 'Redeploy was not done: octocat has no access to this repository, and it takes write'],
  ] as const)('with the permission %s only explains the refusal', async (permission, note) => {
    await pushed();
    await completed();
    fixture.allow(permission);
    await press('redeploy');
    expect(fixture.intents()).toHaveLength(1);
    expect(fixture.log).toContain(note);
    expect(await fixture.check(head, 'support')).toMatchObject({
      conclusion: 'success',
      summary: withNote('It is live.', note),
    });
  });

  test('of a person who is not one of the admins of production only explains the refusal', async () => {
    await pushed();
    const [target] = targetsOn('main', 'support').targets;
    if (!target) throw new Error('no target');
    fixture.branches.set('main', {
      targets: [{ ...target, terms: { ...target.terms, admins: ['mona'] } }],
      refused: [],
    });
    await press('redeploy');
    expect(fixture.intents()).toHaveLength(1);
    expect(did()).toEqual([expect.stringContaining('octocat is not one of the admins that the deploy file names')]);
  });

  test.each(['write', 'admin'] as const)('with the permission %s is carried out', async (permission) => {
    await pushed();
    fixture.allow(permission);
    await press('redeploy');
    expect(fixture.intents()).toHaveLength(2);
  });

  test('on an unknown check does nothing', async () => {
    await press('rollback');
    expect(fixture.intents()).toEqual([]);
    expect(did()).toEqual(['Rollback was not done: nothing is known of this check any more']);
  });

  test('on a deployment that the repository no longer controls does nothing', async () => {
    await pushed();
    fixture.branches.set('main', { targets: [], refused: [] });
    await press('redeploy');
    expect(fixture.intents()).toHaveLength(1);
    expect(did()).toEqual(['Redeploy was not done: main of acme/agents does not deploy support any more']);
  });
});

describe('a note on a check', () => {
  test('replaces the previous note, and is escaped', () => {
    const once = withNote('The summary.', 'No: @octocat <b>');
    expect(once).toContain('&#60;b&#62;');
    expect(withNote(once, 'other')).toBe(withNote('The summary.', 'other'));
  });

  test('is skipped while the check is open: its deploy rewrites it', async () => {
    await pushed();
    await fixture.store.putReport({
      kind: 'check',
      repository,
      headSha: head,
      name: checkName('support'),
      wanted: { kind: 'check', content: { status: 'in_progress', title: 'Building', summary: 'On its way.' } },
    });
    fixture.allow('read');
    await press('redeploy');
    expect(await fixture.check(head, 'support')).toMatchObject({ status: 'in_progress', summary: 'On its way.' });
  });

  test('is skipped if the check was written in the meantime', async () => {
    await pushed();
    await completed();
    fixture.allow('read');
    const put = fixture.store.putReport.bind(fixture.store);
    fixture.store.putReport = async (report, onlyAt) => {
      if (onlyAt !== undefined) await completed('Written since.');
      await put(report, onlyAt);
    };
    await press('redeploy');
    expect((await fixture.check(head, 'support'))?.summary).toBe('Written since.');
  });

  test.each([
    ['in letters', 'x'.repeat(60_000)],
    ['in bytes', '数'.repeat(21_800)],
  ])('is skipped if it does not fit %s', async (_, full) => {
    await pushed();
    await completed(full);
    fixture.allow('read');
    await press('redeploy');
    expect((await fixture.check(head, 'support'))?.summary).toBe(full);
  });
});
