import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Ended, Intent } from '../../../app/reconcile/intent.ts';
import { LeaseLost, type Lease, type WorkStore } from '../../../app/reconcile/store.ts';
import { commentReport } from '../../../app/reconcile/report.ts';
import { anIntent } from '../an-intent.ts';
import { checkSaying, commitOf, repository, start, requestOf } from './requests.ts';

/** An empty store, the jobs it sent, and its clock. */
export interface OpenedStore {
  store: WorkStore;
  jobs: { name: string; id: string; at: number }[];
  setNow: (now: number) => void;
  close: () => Promise<void>;
}

const [a, b, c] = [commitOf('a'), commitOf('b'), commitOf('c')];
const id = 'deployment-1';
const leaseMs = 60_000;

/** What every store of the App's work has to do, whatever it keeps the work in. */
export function storeContract(open: () => Promise<OpenedStore>): void {
  let opened: OpenedStore;
  let store: WorkStore;
  beforeEach(async () => {
    opened = await open();
    store = opened.store;
    opened.setNow(start);
  });
  afterEach(() => opened.close());

  const queues = () => opened.jobs.filter(({ name }) => name === 'lane').map(({ at }) => at - start);
  const requested = async (...given: Parameters<typeof requestOf>): Promise<Intent> => {
    const intent = await store.request(requestOf(...given));
    if (!intent) throw new Error('the request was known already');
    return intent;
  };
  const taken = async (holder = 'one'): Promise<Lease> => {
    const lease = await store.takeLease(id, holder, leaseMs);
    if (!lease) throw new Error('the lease was not given');
    return lease;
  };

  describe('a comment', () => {
    const pull = { repository, number: 7 };
    const { headSha, name } = commentReport(pull, {});
    const stored = () => store.reportOf(repository.repositoryId, headSha, name);

    test('keeps the parts that are not put', async () => {
      await store.putReport(commentReport(pull, { preview: 'Open it.' }));
      await store.putReport(commentReport(pull, { answer: 'Done.' }));
      await store.putReport(commentReport(pull, { preview: '' }));
      const content = { number: 7, preview: '', answer: 'Done.' };
      expect(await stored()).toMatchObject({ version: 3, wanted: { kind: 'comment', content } });
    });

    test('loses no part that is put at the same time', async () => {
      await Promise.all([
        store.putReport(commentReport(pull, { preview: 'Open it.' })),
        store.putReport(commentReport(pull, { answer: 'Done.' })),
      ]);
      expect((await stored())?.wanted.content).toEqual({ number: 7, preview: 'Open it.', answer: 'Done.' });
    });

    test('with an unchanged part is not sent again', async () => {
      await store.putReport(commentReport(pull, { preview: 'Open it.', answer: 'Done.' }));
      await store.putReport(commentReport(pull, { answer: 'Done.' }));
      expect(await stored()).toMatchObject({ version: 1 });
    });
  });

  describe('commands', () => {
    const key = { repositoryId: repository.repositoryId, commentId: 9_000_000_001 };
    const taken = { ...key, number: 7, by: 'octocat', text: '/deploy', takenAt: start };
    const of = { deploymentId: id, deployment: 'support', branch: 'main', isOfPull: false };
    const action = { kind: 'deploy', ...of, commit: a } as const;
    const done = { kind: 'done', code: 'helped' } as const;

    test('are recorded once for each comment', async () => {
      expect(await store.takeCommand(taken)).toEqual(taken);
      expect(await store.takeCommand({ ...taken, by: 'mona', takenAt: start + 1 })).toEqual(taken);
    });

    test('keep the first action and the first outcome, whoever stores them', async () => {
      await store.takeCommand(taken);
      const decided = await Promise.all([store.decideCommand(key, action), store.decideCommand(key, action)]);
      expect(decided).toEqual([action, action]);
      expect(await store.decideCommand(key, { ...action, commit: b })).toEqual(action);
      expect(await store.endCommand(key, done)).toEqual(done);
      expect(await store.endCommand(key, { kind: 'refused', code: 'locked' })).toEqual(done);
      expect(await store.takeCommand(taken)).toEqual({ ...taken, action, outcome: done });
    });

    test('are listed by pull request, newest first, without open ones and those of strangers', async () => {
      const stranger = { kind: 'refused', code: 'no-write', login: 'eve', permission: 'none' } as const;
      for (const [commentId, number, outcome] of [
        [1, 7, done],
        [2, 7, stranger],
        [3, 8, done],
        [4, 7, done],
        [5, 7, undefined],
        [6, 7, done],
      ] as const) {
        await store.takeCommand({ ...taken, commentId, number });
        if (outcome) await store.endCommand({ ...key, commentId }, outcome);
      }
      const listed = await store.lastCommands(key.repositoryId, 7, 2);
      expect(listed.map(({ commentId }) => commentId)).toEqual([6, 4]);
    });

    test('are forgotten after their time', async () => {
      await store.takeCommand(taken);
      expect(await store.forget(start, 1)).toBe(0);
      expect(await store.forget(start + 1, 1)).toBe(1);
    });
  });

  describe('requests', () => {
    test('records a request unchanged, and notifies its queue', async () => {
      const intent = await requested(a);
      expect(intent).toMatchObject({ ...requestOf(a), state: 'requested', createdAt: start, updatedAt: start });
      expect(await store.intent(intent.id)).toEqual(intent);
      expect(await store.openIntents(id)).toEqual([intent]);
      expect(queues()).toEqual([0]);
    });

    test('the same cause on the same commit and deployment is known', async () => {
      await requested(a);
      expect(await store.request(requestOf(a))).toBeUndefined();
      expect(await store.openIntents(id)).toHaveLength(1);
    });

    test.each([
      ['another commit', requestOf(b, { key: 'delivery-of-aaa' })],
      ['another delivery', requestOf(a, { key: 'other' })],
      ['another kind of cause', requestOf(a, { kind: 'rerun' })],
      ['another deployment', requestOf(a, { deploymentId: 'deployment-2' })],
    ])('%s makes another intent', async (_, request) => {
      await requested(a);
      expect(await store.request(request)).toMatchObject({ commit: request.commit });
    });

    test('records each of several concurrent requests once, in an order', async () => {
      const made = await Promise.all([a, b, a, c, b, a].map((commit) => store.request(requestOf(commit))));
      expect(made.filter(Boolean)).toHaveLength(3);
      const seqs = (await store.openIntents(id)).map(({ seq }) => seq);
      expect(seqs).toEqual(seqs.toSorted((one, other) => one - other));
      expect(new Set(seqs).size).toBe(3);
    });

    test('a burst of requests schedules one pass', async () => {
      for (const commit of [a, b, c]) await requested(commit);
      expect(queues()).toEqual([0]);
    });

    test('intents are found by commit, by repository, and newest first', async () => {
      const [one, two] = [await requested(a), await requested(b)];
      const three = await requested(a, { kind: 'rerun' });
      const otherHost = await requested(a, { deploymentId: 'deployment-2' });
      expect((await store.intentsOf(id, a)).map((each) => each.id)).toEqual([one.id, three.id]);
      expect((await store.intentsAt(22, a)).map((each) => each.id)).toEqual([one.id, three.id, otherHost.id]);
      expect((await store.lastIntents(id, 2)).map((each) => each.id)).toEqual([three.id, two.id]);
      expect((await store.busyDeployments()).toSorted()).toEqual(['deployment-1', 'deployment-2']);
    });

    test('finds intents with a revision behind any number without one', async () => {
      const one = await requested(a);
      const lease = await store.takeLease(id, 'holder', 60_000);
      if (!lease) throw new Error('the lease is held');
      await store.save(lease, { intents: [anIntent('following', { ...one, revisionId: 'r1' })] });
      for (const kind of ['rerun', 'redeploy', 'recovery'] as const) await requested(b, { kind });
      expect((await store.lastWithRevision(id, 2)).map((each) => each.id)).toEqual([one.id]);
    });
  });

  describe('the lease', () => {
    test('is held by one at a time, and a job is scheduled for its end', async () => {
      await requested(a);
      await taken('one');
      expect(await store.takeLease(id, 'two', leaseMs)).toBeUndefined();
      expect(queues()).toEqual([0, leaseMs]);
      opened.setNow(start + leaseMs + 1);
      expect(await store.takeLease(id, 'two', leaseMs)).toMatchObject({ holder: 'two' });
    });

    test('lasts no longer for a clock that is set back by a day', async () => {
      await requested(a);
      await taken('one');
      const setBack = start - 24 * 60 * 60_000;
      opened.setNow(setBack);
      expect(await store.takeLease(id, 'two', leaseMs)).toBeUndefined();
      opened.setNow(setBack + leaseMs + 1);
      expect(await store.takeLease(id, 'two', leaseMs)).toMatchObject({ holder: 'two' });
    });

    test('of many who ask at once, one gets it', async () => {
      await requested(a);
      const got = await Promise.all(['1', '2', '3', '4', '5'].map((holder) => store.takeLease(id, holder, leaseMs)));
      expect(got.filter(Boolean)).toHaveLength(1);
    });

    test('is not given if nothing is due', async () => {
      expect(await store.takeLease(id, 'one', leaseMs)).toBeUndefined();
    });

    test('is not given before the next pass, for which there is a job', async () => {
      await requested(a);
      expect(await store.leaveLease(await taken(), start + 5_000)).toBe(true);
      expect(await store.takeLease(id, 'two', leaseMs)).toBeUndefined();
      expect(queues()).toEqual([0, 5_000]);
      opened.setNow(start + 5_000);
      expect(await store.takeLease(id, 'two', leaseMs)).toMatchObject({ holder: 'two' });
    });

    test('a request before the next pass is due at once, and returns the scheduled time', async () => {
      await requested(a);
      await store.leaveLease(await taken(), start + 5_000);
      await requested(b);
      expect(await taken()).toMatchObject({ nextAt: start + 5_000 });
    });

    test('is kept after a new request, until that was processed', async () => {
      await requested(a);
      const lease = await taken();
      await requested(b);
      expect(await store.leaveLease(lease, undefined)).toBe(false);
      const renewed = await store.renewLease(lease, leaseMs);
      expect(await store.leaveLease(renewed, undefined)).toBe(true);
    });

    test('stays if renewed in time', async () => {
      await requested(a);
      const lease = await taken();
      opened.setNow(start + 50_000);
      await store.renewLease(lease, leaseMs);
      opened.setNow(start + 100_000);
      expect(await store.takeLease(id, 'two', leaseMs)).toBeUndefined();
    });

    test('of a dead holder expires, whatever was processed before', async () => {
      await requested(a);
      await taken('one');
      opened.setNow(start + leaseMs);
      expect(await store.takeLease(id, 'two', leaseMs)).toMatchObject({ holder: 'two' });
    });

    test('once lost, stores nothing any more', async () => {
      const intent = await requested(a);
      const lease = await taken('one');
      opened.setNow(start + leaseMs + 1);
      const newer = await taken('two');
      const late = store.save(lease, { intents: [{ ...intent, state: 'waiting' }], reports: [checkSaying('late', a)] });
      await expect(late).rejects.toBeInstanceOf(LeaseLost);
      await expect(store.renewLease(lease, leaseMs)).rejects.toBeInstanceOf(LeaseLost);
      expect(await store.leaveLease(lease, start)).toBe(true);
      expect(await store.intent(intent.id)).toMatchObject({ state: 'requested' });
      expect(await store.reportOf(22, a, 'Landfall: support')).toBeUndefined();
      await store.save(newer, { intents: [{ ...intent, state: 'paused' }] });
      expect(await store.intent(intent.id)).toMatchObject({ state: 'paused' });
    });

    test('leases of dead processes are freed at once', async () => {
      await requested(a);
      await taken('one');
      await store.freeLeases();
      expect(queues()).toEqual([0, 0]);
      expect(await store.takeLease(id, 'two', leaseMs)).toMatchObject({ holder: 'two' });
    });

    test('a queue can be notified for a later time, also while it is leased', async () => {
      await store.wake(id, start + 3_000);
      expect(queues()).toEqual([3_000]);
      expect(await store.takeLease(id, 'one', leaseMs)).toBeUndefined();
      await store.wake(id);
      const lease = await taken();
      await store.wake(id, start + 2_000);
      expect(await store.leaveLease(lease, undefined)).toBe(true);
      opened.setNow(start + 2_000);
      expect(await store.takeLease(id, 'two', leaseMs)).toBeDefined();
    });
  });

  describe('the changes of a step', () => {
    test('are stored completely and read back unchanged', async () => {
      const intent = await requested(a);
      const changed: Ended = {
        ...intent,
        state: 'ended',
        decision: { kind: 'trigger', code: 'not-live', commit: a },
        former: { latest: null, live: 'r0' },
        sentAt: start + 1,
        sends: 2,
        revisionId: 'r1',
        how: 'triggered',
        rollout: {
          kind: 'failed',
          status: 'BUILD_FAILED',
          revisionId: 'r1',
          seen: [{ status: 'BUILDING', at: start }],
          builtCommit: a,
        },
        smoke: { runs: [{ id: 'run-1', requested: true }] },
        verdict: { kind: 'none', tests: [] },
        agentUrl: 'https://agent.test/',
        end: {
          kind: 'failed',
          reason: 'Revision r1 ended.',
          at: start + 9,
          logs: [{ message: 'no "quotes" \u0000 kept' }],
        },
        updatedAt: start + 9,
      };
      await store.save(await taken(), { intents: [changed] });
      const logs = [{ message: 'no "quotes" \ufffd kept' }];
      const back = await store.intent(intent.id);
      expect([changed, { ...changed, end: { ...changed.end, logs } }]).toContainEqual(back);
    });

    test('an outcome removes the intent from the open ones', async () => {
      const intent = await requested(a);
      const end = { kind: 'deployed', reason: 'It is live.', at: start } as const;
      await store.save(await taken(), { intents: [{ ...intent, state: 'ended', end }] });
      expect(await store.openIntents(id)).toEqual([]);
      expect(await store.busyDeployments()).toEqual([]);
    });

    test('records our own requests once', async () => {
      await requested(a);
      const lease = await taken();
      await store.save(lease, { requests: [requestOf(b), requestOf(a)] });
      await store.save(lease, { requests: [requestOf(b)] });
      expect((await store.openIntents(id)).map(({ commit }) => commit)).toEqual([a, b]);
    });

    test('stores and clears the hold and the rolled-back commit of a queue', async () => {
      await requested(a);
      const lease = await taken();
      expect(await store.deploymentQueue(id)).toEqual({ deploymentId: id });
      const held = { since: start, commit: a };
      await store.save(lease, { held, rolledBackCommit: a });
      await store.save(lease, {});
      expect(await store.deploymentQueue(id)).toEqual({ deploymentId: id, held, rolledBackCommit: a });
      await store.save(lease, { held: null, rolledBackCommit: null });
      expect(await store.deploymentQueue(id)).toEqual({ deploymentId: id });
    });

    test('keeps what is to be promoted until it is cleared', async () => {
      const intent = await requested(a);
      const lease = await taken();
      await store.save(lease, { promotes: intent.id });
      await store.save(lease, { rolledBackCommit: b });
      expect(await store.deploymentQueue(id)).toEqual({ deploymentId: id, promotes: intent.id, rolledBackCommit: b });
      await store.save(lease, { promotes: null });
      expect(await store.deploymentQueue(id)).toEqual({ deploymentId: id, rolledBackCommit: b });
    });

    test('superseded commits wait for the one that contains them', async () => {
      const lease = await (async () => {
        for (const commit of [a, b, c]) await requested(commit);
        return taken();
      })();
      const [one, two, three] = await store.openIntents(id);
      if (!one || !two || !three) throw new Error('three requests were expected');
      const ended = (intent: Intent, end: Partial<Ended['end']>): Intent => ({
        ...intent,
        state: 'ended',
        end: { kind: 'superseded', reason: 'It was.', at: start, ...end },
      });
      const intents = [
        ended(one, { by: { commit: c, contains: true } }),
        ended(two, { kind: 'other-commit', by: { commit: c, contains: undefined } }),
        ended(three, { kind: 'skipped' }),
      ];
      await store.save(lease, { intents });
      expect((await store.notYetContained(id)).map(({ commit }) => commit)).toEqual([a, b]);
      await store.save(lease, { intents: [ended(one, { liveIn: c })] });
      expect((await store.notYetContained(id)).map(({ commit }) => commit)).toEqual([b]);
    });
  });

  describe('reports', () => {
    const name = 'Landfall: support';
    const reportJobs = () => opened.jobs.filter((job) => job.name === 'report').map((job) => job.id);

    test('a report has one id for its name and commit, and a version per content', async () => {
      await store.putReport(checkSaying('queued', a));
      const first = await store.reportOf(22, a, name);
      expect(first).toMatchObject({ ...checkSaying('queued', a), version: 1, reportedVersion: 0 });
      await store.putReport(checkSaying('building', a));
      await store.putReport(checkSaying('building', a));
      const second = await store.report(first?.id ?? '');
      expect(second).toMatchObject({ id: first?.id, version: 2 });
      expect(reportJobs()).toEqual([first?.id, first?.id]);
    });

    test('is stored with the work, or not at all', async () => {
      await requested(a);
      await store.save(await taken(), { reports: [checkSaying('queued', a), checkSaying('queued', b)] });
      expect(reportJobs()).toHaveLength(2);
      expect(await store.pendingReports()).toHaveLength(2);
    });

    test('is stored only if no newer version exists', async () => {
      await store.putReport(checkSaying('one', a), 0);
      await store.putReport(checkSaying('late', a), 0);
      expect(await store.reportOf(22, a, name)).toMatchObject({ version: 1, wanted: { content: { title: 'one' } } });
      await store.putReport(checkSaying('two', a), 1);
      expect(await store.reportOf(22, a, name)).toMatchObject({ version: 2 });
    });

    test('stores what was sent to GitHub, and ignores an older version', async () => {
      await store.putReport(checkSaying('one', a));
      const { id: reportId } = (await store.reportOf(22, a, name)) ?? { id: '' };
      await store.putReport(checkSaying('two', a));
      await store.reported(reportId, { version: 1, at: start + 1, githubId: 77, reported: { annotations: 3 } });
      expect(await store.pendingReports()).toEqual([reportId]);
      await store.reported(reportId, { version: 2, at: start + 2 });
      expect(await store.report(reportId)).toMatchObject({
        reportedVersion: 2,
        githubId: 77,
        reported: { annotations: 3 },
      });
      await store.reported(reportId, { version: 1, at: start + 3, githubId: 77, reported: { annotations: 1 } });
      expect(await store.report(reportId)).toMatchObject({ reportedVersion: 2, reported: { annotations: 3 } });
      expect(await store.pendingReports()).toEqual([]);
    });
  });

  describe('changes from outside', () => {
    test('a renamed repository keeps its new name, whatever a step stores', async () => {
      const intent = await requested(a);
      await store.putReport(checkSaying('queued', a));
      const moved = { ...repository, owner: 'new-owner', installationId: 12 };
      await store.moved(moved);
      expect(await store.intent(intent.id)).toMatchObject({ repository: moved });
      expect(await store.reportOf(22, a, 'Landfall: support')).toMatchObject({ repository: moved });
      await store.save(await taken(), { intents: [{ ...intent, state: 'waiting' }] });
      expect(await store.intent(intent.id)).toMatchObject({ repository: moved, state: 'waiting' });
    });

    test('drops pending reports of a repository that was removed', async () => {
      await store.putReport(checkSaying('queued', a));
      await store.dropPendingReports(23);
      expect(await store.pendingReports()).toHaveLength(1);
      await store.dropPendingReports(22);
      expect(await store.pendingReports()).toEqual([]);
    });

    test('prunes old work, except open work and the newest of a deployment', async () => {
      const [one, two, three] = [await requested(a), await requested(b), await requested(c)];
      const lease = await taken();
      const ended = (intent: Intent): Intent => ({
        ...intent,
        state: 'ended',
        end: { kind: 'deployed', reason: 'It is live.', at: start },
      });
      await store.save(lease, {
        intents: [ended(one), ended(three)],
        reports: [checkSaying('done', a), checkSaying('queued', b), checkSaying('done', c)],
      });
      for (const reportId of await store.pendingReports()) await store.reported(reportId, { version: 1, at: start });
      expect(await store.forget(start, 1)).toBe(0);
      expect(await store.forget(start + 1, 1)).toBe(2);
      expect((await store.lastIntents(id, 9)).map((each) => each.id)).toEqual([three.id, two.id]);
      expect(await store.reportOf(22, a, 'Landfall: support')).toBeUndefined();
      expect(await store.reportOf(22, c, 'Landfall: support')).toBeDefined();
    });
  });
}
