import { beforeEach, describe, expect, test } from 'vitest';
import { ends } from '../../deploy/control-model.ts';
import { advanceLane } from '../../../app/work/lane.ts';
import { LaneHouse } from './lane-house.ts';
import { commitOf, start, tested } from './wishes.ts';

const o = commitOf('0');
const a = commitOf('a');
const b = commitOf('b');
const c = commitOf('c');
const d = commitOf('d');
const e = commitOf('e');

let house: LaneHouse;
beforeEach(() => {
  house = new LaneHouse();
});

describe('a push', () => {
  test('is built once, followed by its id, and told from the queue to its end', async () => {
    await house.push('a');
    await house.run();
    expect(await house.ends(a)).toEqual(['deployed']);
    expect(house.serving).toBe(a);
    expect(house.made).toBe(1);
    expect(await house.check(a)).toMatchObject({ status: 'completed', conclusion: 'success' });
    expect(house.steps.filter((step) => step !== 'followed-once')).toEqual([
      'before-send',
      'sent',
      'answer-stored',
      'smoke-began',
      'before-conclusion',
    ]);
  });

  test('names its key and what it was decided on', async () => {
    const sent: unknown[] = [];
    house.control.beforeWrite = (options) => {
      sent.push({ key: options?.idempotencyKey, ifLatest: options?.ifLatest });
    };
    await house.push('a');
    await house.run();
    const { id } = await house.intent(a);
    expect(sent).toEqual([{ key: id, ifLatest: 'r1' }]);
    expect(house.control.sent).toEqual([{ source_revision_config: { repo_ref: 'main' } }]);
  });

  test('that comes twice, or by two deliveries, makes one revision', async () => {
    await house.push('a', { key: 'one' });
    await house.wish(a, { key: 'one' });
    await house.wish(a, { key: 'two' });
    await house.run();
    await house.wish(a, { key: 'three' });
    await house.run();
    expect(house.made).toBe(1);
    expect(await house.ends(a)).toEqual(['deployed', 'joined', 'joined']);
    expect(await house.check(a)).toMatchObject({ conclusion: 'success' });
  });

  test('that GitHub tells of before its branches do is no older than the head that it still tells', async () => {
    house.hub.commits.push(a);
    await house.wish(a, { key: 'one' });
    await house.wish(o, { key: 'one' });
    await house.run(3_000);
    house.hub.head_ = a;
    await house.run();
    expect(await house.ends(a)).toEqual(['deployed']);
    expect(house.serving).toBe(a);
    expect(house.made).toBe(1);
  });

  test('that was taken back before it was looked at is told so soon', async () => {
    house.hub.commits.push(a);
    await house.wish(a, { key: 'one' });
    await house.run(20_000);
    expect(await house.ends(a)).toEqual(['superseded']);
    expect(await house.check(a)).toMatchObject({ conclusion: 'neutral' });
    expect(house.made).toBe(0);
  });

  test('of a commit that failed is told by that, and not built again by itself', async () => {
    house.control.goes.set(a, ends('BUILD_FAILED', a, 'npm said very-secret-token'));
    house.control.buildLines = Array.from({ length: 40 }, (_, at) => ({ message: `line ${at} very-secret-token` }));
    await house.push('a');
    await house.run();
    await house.wish(a);
    await house.run();
    expect(await house.ends(a)).toEqual(['failed', 'joined']);
    expect(house.made).toBe(1);
    const [failed] = await house.store.intentsOf('d1', a);
    expect(failed?.end?.reason).toBe('Revision r2 ended BUILD_FAILED: npm said ***. Revision r1 still serves.');
    expect(failed?.end?.logs).toHaveLength(30);
    expect(failed?.end?.logs?.at(-1)).toMatchObject({ message: 'line 39 ***' });
    expect(JSON.stringify([...house.store.intents.values(), ...house.store.reports.values()])).not.toContain(
      'very-secret',
    );
  });

  test('whose message says so is skipped', async () => {
    house.hub.message = 'Try it [skip deploy]';
    await house.push('a');
    await house.run();
    expect(await house.ends(a)).toEqual(['skipped']);
    expect(await house.check(a)).toMatchObject({ conclusion: 'neutral' });
    expect(house.made).toBe(0);
  });

  test('to a branch that is gone by now is skipped', async () => {
    await house.push('a');
    house.hub.head_ = undefined;
    await house.run();
    expect(await house.intent(a)).toMatchObject({ end: { kind: 'skipped' }, decision: { code: 'branch-gone' } });
  });

  test('back to an older commit builds that one again', async () => {
    await house.push('a');
    await house.run();
    await house.push('b');
    await house.run();
    await house.push('a');
    await house.run();
    expect(house.serving).toBe(a);
    expect(house.made).toBe(3);
    expect(await house.ends(a)).toEqual(['deployed', 'deployed']);
  });

  test('that is not live in time ends so, and the next one is built', async () => {
    house.control.goes.set(a, [{ after: 0, status: 'BUILDING', commit: a }]);
    await house.push('a');
    await house.run();
    expect(await house.intent(a)).toMatchObject({ end: { kind: 'timed-out' } });
    expect(await house.check(a)).toMatchObject({ conclusion: 'timed_out' });
  });

  test('without smoke tests is not asked; without an address of the agent it is not proven', async () => {
    await house.push('a', { terms: tested });
    Object.assign(house.control.service.deployment ?? {}, { url: null });
    await house.run();
    expect(await house.ends(a)).toEqual(['unproven']);
  });
});

describe('a deploy file that could not be read', () => {
  test('leaves a live revision unproven, for its questions are not known', async () => {
    await house.push('a', { terms: { ...tested, smokeTests: [], unread: true } });
    await house.run();
    expect(house.serving).toBe(a);
    expect(await house.ends(a)).toEqual(['unproven']);
    expect(await house.check(a)).toMatchObject({ conclusion: 'action_required' });
  });
});

describe('quick pushes', () => {
  test('the running one is finished, of the waiting only the newest is built, and the others turn green with it', async () => {
    await house.push('a');
    await house.run(3_000);
    for (const letter of ['b', 'c', 'd', 'e']) await house.push(letter);
    await house.run(1_000);
    expect(await house.check(e)).toMatchObject({ status: 'queued' });
    expect(await house.intent(c)).toMatchObject({ end: { kind: 'superseded', by: { commit: e, contains: true } } });
    expect(await house.check(c)).toMatchObject({ status: 'completed', conclusion: 'neutral' });
    await house.run();
    expect(house.made).toBe(2);
    expect(house.serving).toBe(e);
    for (const commit of [b, c, d]) {
      expect(await house.intent(commit)).toMatchObject({ end: { kind: 'superseded', liveIn: e } });
      expect(await house.check(commit)).toMatchObject({ conclusion: 'success' });
    }
    expect(await house.ends(a)).toEqual(['deployed']);
  });

  test('a head whose delivery is late is built for the one that came', async () => {
    await house.push('a', { told: false });
    await house.push('b', { told: false });
    await house.wish(a);
    await house.run();
    expect(await house.intent(a)).toMatchObject({ end: { kind: 'superseded', liveIn: b } });
    expect(await house.ends(b)).toEqual(['deployed']);
    await house.wish(b);
    await house.run();
    expect(await house.ends(b)).toEqual(['deployed', 'joined']);
    expect(house.made).toBe(1);
  });

  test('a forced push takes the place of a commit that it does not contain, which stays neutral', async () => {
    await house.push('a');
    await house.run(3_000);
    await house.push('b');
    house.hub.commits = [o, a, c];
    await house.push('c');
    await house.run();
    expect(await house.intent(b)).toMatchObject({ end: { kind: 'superseded', by: { commit: c } } });
    expect((await house.intent(b)).end?.liveIn).toBeUndefined();
    expect(await house.check(b)).toMatchObject({ conclusion: 'neutral' });
  });

  test('the branch moves on between the request and the build: each commit is told as what became of it', async () => {
    await house.push('a');
    house.control.beforeWrite = () => {
      house.control.beforeWrite = () => undefined;
      house.hub.commits.push(b);
      house.hub.head_ = b;
    };
    await house.run();
    expect(await house.intent(a)).toMatchObject({
      end: { kind: 'other-commit', by: { commit: b, contains: true }, liveIn: b },
      revisionId: 'r2',
      builtCommit: b,
    });
    expect(await house.intent(b)).toMatchObject({ end: { kind: 'deployed' }, how: 'adopted', revisionId: 'r2' });
    expect(house.made).toBe(1);
  });
});

describe('a person', () => {
  test('has a failed commit built again by Re-run, once for each press', async () => {
    house.control.goes.set(a, ends('BUILD_FAILED', a));
    await house.push('a');
    await house.run();
    house.control.goes.delete(a);
    await house.wish(a, { kind: 'rerun', key: 'press' });
    await house.wish(a, { kind: 'rerun', key: 'press' });
    await house.run();
    expect(await house.ends(a)).toEqual(['failed', 'deployed']);
    expect(await house.check(a)).toMatchObject({ conclusion: 'success' });
    expect(house.made).toBe(2);
  });

  test('who presses Re-run on an older commit is told which one is the head', async () => {
    await house.push('a');
    await house.run();
    await house.push('b');
    await house.run();
    await house.wish(a, { kind: 'rerun' });
    await house.run();
    expect(await house.ends(a)).toEqual(['deployed', 'superseded']);
    expect((await house.intent(a)).end).toMatchObject({ by: { commit: b, contains: true }, liveIn: b });
    expect(await house.check(a)).toMatchObject({ conclusion: 'success' });
    expect(house.made).toBe(2);
  });

  test('rolls back to a revision, which is not undone by the head that was left', async () => {
    await house.push('a');
    await house.run();
    await house.wish(o, { kind: 'rollback', sending: { kind: 'redeploy', revisionId: 'r1' } });
    await house.run();
    expect(house.serving).toBe(o);
    expect(await house.store.lane('d1')).toMatchObject({ rolledBackCommit: a });
    expect(await house.check(o)).toMatchObject({ conclusion: 'success' });
    expect(await house.check(a)).toMatchObject({ conclusion: 'neutral' });
    expect(await house.intent(a)).toMatchObject({ end: { kind: 'skipped' }, decision: { code: 'rolled-back-before' } });
    await house.wish(a);
    await house.run();
    expect(await house.ends(a)).toEqual(['deployed', 'skipped', 'joined']);
    expect(house.made).toBe(2);
    await house.push('b');
    await house.run();
    expect(house.serving).toBe(b);
  });
});

test('a process that is to leave hands the lane on', async () => {
  await house.push('a');
  const leaving = new AbortController();
  house.world.step = (name) => {
    if (name === 'answer-stored') leaving.abort();
  };
  house.jobs.splice(0);
  await advanceLane('d1', house.world, leaving.signal);
  expect(await house.ends(a)).toEqual(['following']);
  expect(house.jobs).toEqual([{ id: 'd1', at: start }]);
  await house.run();
  expect(await house.ends(a)).toEqual(['deployed']);
});
