import { beforeEach, describe, expect, test } from 'vitest';
import { ends } from '../../deploy/machine/control-model.ts';
import { reconcileDeployment } from '../../../app/reconcile/reconcile-deployment.ts';
import { QueueFixture } from './queue-fixture.ts';
import { commitOf, start, tested } from './requests.ts';
import type { IntentFields } from '../../../app/reconcile/intent.ts';

const o = commitOf('0');
const a = commitOf('a');
const b = commitOf('b');
const c = commitOf('c');
const d = commitOf('d');
const e = commitOf('e');

let fixture: QueueFixture;
beforeEach(() => {
  fixture = new QueueFixture();
});

describe('a push', () => {
  test('is built once, followed by its id, and reported from the queue to its outcome', async () => {
    await fixture.push('a');
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['deployed']);
    expect(fixture.serving).toBe(a);
    expect(fixture.made).toBe(1);
    expect(await fixture.check(a)).toMatchObject({ status: 'completed', conclusion: 'success' });
    expect(fixture.steps.filter((step) => step !== 'followed-once')).toEqual([
      'before-send',
      'sent',
      'answer-stored',
      'smoke-began',
      'before-conclusion',
    ]);
  });

  test('sends its idempotency key and the observed revision', async () => {
    const sent: unknown[] = [];
    fixture.control.beforeWrite = (options) => {
      sent.push({ key: options?.idempotencyKey, ifLatest: options?.ifLatest });
    };
    await fixture.push('a');
    await fixture.run();
    const { id } = await fixture.intent(a);
    expect(sent).toEqual([{ key: id, ifLatest: 'r1' }]);
    expect(fixture.control.sent).toEqual([{ source_revision_config: { repo_ref: 'main' } }]);
  });

  test('that is delivered twice makes one revision', async () => {
    await fixture.push('a', { key: 'one' });
    await fixture.request(a, { key: 'one' });
    await fixture.request(a, { key: 'two' });
    await fixture.run();
    await fixture.request(a, { key: 'three' });
    await fixture.run();
    expect(fixture.made).toBe(1);
    expect(await fixture.ends(a)).toEqual(['deployed', 'joined', 'joined']);
    expect(await fixture.check(a)).toMatchObject({ conclusion: 'success' });
  });

  test("is built although GitHub's branch API lags behind its webhook", async () => {
    fixture.githubApi.commits.push(a);
    await fixture.request(a, { key: 'one' });
    await fixture.request(o, { key: 'one' });
    await fixture.run(3_000);
    fixture.githubApi.head_ = a;
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['deployed']);
    expect(fixture.serving).toBe(a);
    expect(fixture.made).toBe(1);
  });

  test('that was reverted before it was handled is reported once GitHub may not lag', async () => {
    fixture.githubApi.commits.push(a);
    await fixture.request(a, { key: 'one' });
    await fixture.run(20_000);
    expect(await fixture.ends(a)).toEqual(['superseded']);
    expect(await fixture.check(a)).toMatchObject({ conclusion: 'neutral' });
    expect(fixture.made).toBe(0);
  });

  test('of a failed commit reports that failure, and is not rebuilt automatically', async () => {
    fixture.control.goes.set(a, ends('BUILD_FAILED', a, 'npm said very-secret-token'));
    fixture.control.buildLines = Array.from({ length: 40 }, (_, at) => ({ message: `line ${at} very-secret-token` }));
    await fixture.push('a');
    await fixture.run();
    await fixture.request(a);
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['failed', 'joined']);
    expect(fixture.made).toBe(1);
    const [failed]: IntentFields[] = await fixture.store.intentsOf('d1', a);
    expect(failed?.end?.reason).toBe('Revision r2 ended BUILD_FAILED: npm said ***. Revision r1 still serves.');
    expect(failed?.end?.logs).toHaveLength(30);
    expect(failed?.end?.logs?.at(-1)).toMatchObject({ message: 'line 39 ***' });
    expect(JSON.stringify([...fixture.store.intents.values(), ...fixture.store.reports.values()])).not.toContain(
      'very-secret',
    );
  });

  test('that fails shows no message and no log where the service hides the secrets', async () => {
    const { service } = fixture.control;
    if (service.deployment) service.deployment = { ...service.deployment, secrets: [{ name: 'TOKEN', value: '' }] };
    fixture.control.goes.set(a, ends('BUILD_FAILED', a, 'npm said very-secret-token'));
    fixture.control.buildLines = [{ message: 'a line with very-secret-token' }];
    await fixture.push('a');
    await fixture.run();
    const [failed]: IntentFields[] = await fixture.store.intentsOf('d1', a);
    expect(failed?.end?.reason).toBe('Revision r2 ended BUILD_FAILED. Revision r1 still serves.');
    expect(failed?.end?.logs ?? []).toEqual([]);
    expect(JSON.stringify([...fixture.store.intents.values(), ...fixture.store.reports.values()])).not.toContain(
      'very-secret',
    );
  });

  test('with a skip marker in its message is skipped', async () => {
    fixture.githubApi.message = 'Try it [skip deploy]';
    await fixture.push('a');
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['skipped']);
    expect(await fixture.check(a)).toMatchObject({ conclusion: 'neutral' });
    expect(fixture.made).toBe(0);
  });

  test('to a deleted branch is skipped', async () => {
    await fixture.push('a');
    fixture.githubApi.head_ = undefined;
    await fixture.run();
    expect(await fixture.intent(a)).toMatchObject({ end: { kind: 'skipped' }, decision: { code: 'branch-gone' } });
  });

  test('back to an older commit builds that one again', async () => {
    await fixture.push('a');
    await fixture.run();
    await fixture.push('b');
    await fixture.run();
    await fixture.push('a');
    await fixture.run();
    expect(fixture.serving).toBe(a);
    expect(fixture.made).toBe(3);
    expect(await fixture.ends(a)).toEqual(['deployed', 'deployed']);
  });

  test('that is not live in time ends, and the next one is built', async () => {
    fixture.control.goes.set(a, [{ after: 0, status: 'BUILDING', commit: a }]);
    await fixture.push('a');
    await fixture.run();
    expect(await fixture.intent(a)).toMatchObject({ end: { kind: 'timed-out' } });
    expect(await fixture.check(a)).toMatchObject({ conclusion: 'timed_out' });
  });

  test('is not tested without smoke tests; without an agent URL it is unproven', async () => {
    await fixture.push('a', { terms: tested });
    Object.assign(fixture.control.service.deployment ?? {}, { url: null });
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['unproven']);
  });
});

describe('a deploy file that could not be read', () => {
  test('leaves a live revision unproven, for its smoke tests are unknown', async () => {
    await fixture.push('a', { terms: { ...tested, smokeTests: [], unread: true } });
    await fixture.run();
    expect(fixture.serving).toBe(a);
    expect(await fixture.ends(a)).toEqual(['unproven']);
    expect(await fixture.check(a)).toMatchObject({ conclusion: 'action_required' });
  });
});

describe('quick pushes', () => {
  test('finishes the running one, builds the newest waiting one, and marks the rest live', async () => {
    await fixture.push('a');
    await fixture.run(3_000);
    for (const letter of ['b', 'c', 'd', 'e']) await fixture.push(letter);
    await fixture.run(1_000);
    expect(await fixture.check(e)).toMatchObject({ status: 'queued' });
    expect(await fixture.intent(c)).toMatchObject({ end: { kind: 'superseded', by: { commit: e, contains: true } } });
    expect(await fixture.check(c)).toMatchObject({ status: 'completed', conclusion: 'neutral' });
    await fixture.run();
    expect(fixture.made).toBe(2);
    expect(fixture.serving).toBe(e);
    for (const commit of [b, c, d]) {
      expect(await fixture.intent(commit)).toMatchObject({ end: { kind: 'superseded', liveIn: e } });
      expect(await fixture.check(commit)).toMatchObject({ conclusion: 'success' });
    }
    expect(await fixture.ends(a)).toEqual(['deployed']);
  });

  test('builds a head with a late delivery for the one that arrived', async () => {
    await fixture.push('a', { reported: false });
    await fixture.push('b', { reported: false });
    await fixture.request(a);
    await fixture.run();
    expect(await fixture.intent(a)).toMatchObject({ end: { kind: 'superseded', liveIn: b } });
    expect(await fixture.ends(b)).toEqual(['deployed']);
    await fixture.request(b);
    await fixture.run();
    expect(await fixture.ends(b)).toEqual(['deployed', 'joined']);
    expect(fixture.made).toBe(1);
  });

  test('a forced push supersedes a commit that it does not contain, which stays neutral', async () => {
    await fixture.push('a');
    await fixture.run(3_000);
    await fixture.push('b');
    fixture.githubApi.commits = [o, a, c];
    await fixture.push('c');
    await fixture.run();
    expect(await fixture.intent(b)).toMatchObject({ end: { kind: 'superseded', by: { commit: c } } });
    expect((await fixture.intent(b)).end?.liveIn).toBeUndefined();
    expect(await fixture.check(b)).toMatchObject({ conclusion: 'neutral' });
  });

  test('reports each commit correctly if the branch moves between request and build', async () => {
    await fixture.push('a');
    fixture.control.beforeWrite = () => {
      fixture.control.beforeWrite = () => undefined;
      fixture.githubApi.commits.push(b);
      fixture.githubApi.head_ = b;
    };
    await fixture.run();
    expect(await fixture.intent(a)).toMatchObject({
      end: { kind: 'other-commit', by: { commit: b, contains: true }, liveIn: b },
      revisionId: 'r2',
      rollout: { builtCommit: b },
    });
    expect(await fixture.intent(b)).toMatchObject({ end: { kind: 'deployed' }, how: 'adopted', revisionId: 'r2' });
    expect(fixture.made).toBe(1);
  });
});

describe('a person', () => {
  test('rebuilds a failed commit by Re-run, once per request', async () => {
    fixture.control.goes.set(a, ends('BUILD_FAILED', a));
    await fixture.push('a');
    await fixture.run();
    fixture.control.goes.delete(a);
    await fixture.request(a, { kind: 'rerun', key: 'press' });
    await fixture.request(a, { kind: 'rerun', key: 'press' });
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['failed', 'deployed']);
    expect(await fixture.check(a)).toMatchObject({ conclusion: 'success' });
    expect(fixture.made).toBe(2);
  });

  test('names the head on Re-run of an older commit', async () => {
    await fixture.push('a');
    await fixture.run();
    await fixture.push('b');
    await fixture.run();
    await fixture.request(a, { kind: 'rerun' });
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['deployed', 'superseded']);
    expect((await fixture.intent(a)).end).toMatchObject({ by: { commit: b, contains: true }, liveIn: b });
    expect(await fixture.check(a)).toMatchObject({ conclusion: 'success' });
    expect(fixture.made).toBe(2);
  });

  test('rolls back to a revision, which the former head does not undo', async () => {
    await fixture.push('a');
    await fixture.run();
    await fixture.request(o, { kind: 'rollback', sending: { kind: 'redeploy', revisionId: 'r1' } });
    await fixture.run();
    expect(fixture.serving).toBe(o);
    expect(await fixture.store.deploymentQueue('d1')).toMatchObject({ rolledBackCommit: a });
    expect(await fixture.check(o)).toMatchObject({ conclusion: 'success' });
    expect(await fixture.check(a)).toMatchObject({ conclusion: 'neutral' });
    expect(await fixture.intent(a)).toMatchObject({
      end: { kind: 'skipped' },
      decision: { code: 'rolled-back-before' },
    });
    await fixture.request(a);
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['deployed', 'skipped', 'joined']);
    expect(fixture.made).toBe(2);
    await fixture.push('b');
    await fixture.run();
    expect(fixture.serving).toBe(b);
  });
});

test('a stopping process leaves the queue to the next one', async () => {
  await fixture.push('a');
  const leaving = new AbortController();
  fixture.context.step = (name) => {
    if (name === 'answer-stored') leaving.abort();
  };
  fixture.jobs.splice(0);
  await reconcileDeployment('d1', fixture.context, leaving.signal);
  expect(await fixture.ends(a)).toEqual(['following']);
  expect(fixture.jobs).toEqual([{ id: 'd1', at: start }]);
  await fixture.run();
  expect(await fixture.ends(a)).toEqual(['deployed']);
});
