import { beforeEach, describe, expect, test } from 'vitest';
import type { EnvironmentGate } from '../../../src/deploy/file/environment-gate.ts';
import type { DeployTerms } from '../../../app/reconcile/deploy-request.ts';
import { serviceError } from '../../deploy/machine/control-model.ts';
import { QueueFixture } from './queue-fixture.ts';
import { commitOf, start, terms, tested } from './requests.ts';

const [a, b] = [commitOf('a'), commitOf('b')];
const minute = 60_000;
const day = 24 * 60 * minute;

let fixture: QueueFixture;
beforeEach(() => {
  fixture = new QueueFixture();
});

/** The environment is frozen for three days, with a reason. */
const until = start + 3 * day;
const gate: EnvironmentGate = {
  environment: 'production',
  hold: false,
  freeze: [{ kind: 'once', from: start - day, until, reason: 'Holidays' }],
};
const frozen: DeployTerms = { ...terms, gate };
const title = 'Waits until 2026-11-24 08:00 UTC: Holidays';

describe('a push to a frozen environment', () => {
  test.each(['push', 'recovery', 'rerun'] as const)(
    'by a %s waits for the end, and goes on by itself',
    async (kind) => {
      await fixture.push('a', { terms: frozen, kind });
      await fixture.run(3 * day - minute);
      expect([await fixture.ends(a), fixture.made]).toEqual([['waiting'], 0]);
      expect(await fixture.check(a)).toMatchObject({ status: 'queued', title });
      await fixture.run(2 * minute);
      expect([await fixture.ends(a), fixture.made, fixture.serving]).toEqual([['deployed'], 1, a]);
    },
  );

  test('says what to do about what cannot wait', async () => {
    await fixture.push('a', { terms: frozen });
    await fixture.run(minute);
    const { summary } = (await fixture.check(a)) ?? {};
    expect(summary).toContain('production is frozen until 2026-11-24 08&#58;00 UTC&#58; Holidays');
    expect(summary).toContain('/deploy support ignore-freeze');
  });

  test('makes way for a newer commit', async () => {
    await fixture.push('a', { terms: frozen });
    await fixture.run(minute);
    await fixture.push('b', { terms: frozen });
    await fixture.run(3 * day + 10 * minute);
    expect([await fixture.ends(a), await fixture.ends(b), fixture.made]).toEqual([['superseded'], ['deployed'], 1]);
  });

  test('is deployed by a newer commit whose file has no freeze any more', async () => {
    await fixture.push('a', { terms: frozen });
    await fixture.run(minute);
    await fixture.push('b');
    await fixture.run(10 * minute);
    expect([await fixture.ends(a), await fixture.ends(b), fixture.serving]).toEqual([['superseded'], ['deployed'], b]);
  });

  test('is deployed by a Re-run once the file has no freeze any more', async () => {
    await fixture.push('a', { terms: frozen });
    await fixture.run(minute);
    await fixture.request(a, { kind: 'rerun' });
    await fixture.run(10 * minute);
    expect([await fixture.ends(a), fixture.made]).toEqual([['joined', 'deployed'], 1]);
  });

  test('waits for its checks first', async () => {
    const rules = { ...terms.rules, deployAfter: { checks: ['build'], timeoutMs: 60 * minute } };
    await fixture.push('a', { terms: { ...frozen, rules } });
    await fixture.run(minute);
    expect(await fixture.check(a)).toMatchObject({ title: 'Waits for the check build' });
    fixture.githubApi.checks.set(a, [{ name: 'build', state: 'passed' }]);
    await fixture.store.wake('d1');
    await fixture.run(minute);
    expect(await fixture.check(a)).toMatchObject({ title });
    await fixture.run(3 * day);
    expect([await fixture.ends(a), fixture.made]).toEqual([['deployed'], 1]);
  });

  test('does not wait for a revision of its commit that is there', async () => {
    await fixture.push('0', { terms: frozen });
    await fixture.run(minute);
    expect([await fixture.ends(commitOf('0')), fixture.made]).toEqual([['deployed'], 0]);
  });

  test('writes its check once', async () => {
    await fixture.push('a', { terms: frozen });
    await fixture.run(minute);
    const before = (await fixture.intent(a)).updatedAt;
    await fixture.run(2 * day);
    expect((await fixture.intent(a)).updatedAt).toBe(before);
  });

  test('waits on while GitHub fails', async () => {
    await fixture.push('a', { terms: frozen });
    await fixture.run(minute);
    fixture.githubApi.away = true;
    await fixture.run(2 * day);
    fixture.githubApi.away = false;
    await fixture.run(2 * day);
    expect([await fixture.ends(a), fixture.made]).toEqual([['deployed'], 1]);
  });

  test('waits on while GitHub refuses the App', async () => {
    await fixture.push('a', { terms: frozen });
    await fixture.run(minute);
    fixture.githubApi.refuses = true;
    await fixture.run(day);
    fixture.githubApi.refuses = false;
    await fixture.run(3 * day);
    expect([await fixture.ends(a), fixture.made]).toEqual([['deployed'], 1]);
  });

  test('is held before traffic although the service fails at the end', async () => {
    fixture.control.lacks.delete('holds');
    fixture.verdicts.set(a, 'failed');
    await fixture.push('a', { terms: { ...tested, gate } });
    await fixture.run(3 * day - minute);
    fixture.control.fails('features', serviceError('busy', 'features', { status: 503 }), { times: 2 });
    await fixture.run(30 * minute);
    expect([await fixture.ends(a), fixture.serving]).toEqual([['discarded'], commitOf('0')]);
  });

  test('waits without an end in sight where there is none', async () => {
    const freeze = [{ kind: 'weekly', from: 0, until: 7 * 1440, timeZone: 'UTC' } as const];
    await fixture.push('a', { terms: { ...terms, gate: { environment: 'production', hold: false, freeze } } });
    await fixture.run(10 * day);
    expect([await fixture.ends(a), fixture.made]).toEqual([['waiting'], 0]);
    expect(await fixture.check(a)).toMatchObject({ title: 'Waits without an end in sight' });
  });
});

test.each([
  ['push', false, 'skipped', 0],
  ['redeploy', false, 'skipped', 0],
  ['redeploy', true, 'deployed', 1],
] as const)('a %s that ignores freezes (%s), where they are unknown, ends %s', async (kind, ignores, end, made) => {
  const cause = { kind, key: 'k', at: start, ...(ignores ? { ignoresFreeze: true as const } : {}) };
  await fixture.push('a', { terms: { ...terms, unread: true, isGateUnknown: true }, cause });
  await fixture.run(10 * minute);
  expect([fixture.made, (await fixture.ends(a)).map((each) => (each === 'unproven' ? 'deployed' : each))]).toEqual([
    made,
    [end],
  ]);
});

test('a freeze that begins after the request was sent stops nothing', async () => {
  const freeze = [{ kind: 'once', from: start + 30_000, until } as const];
  await fixture.push('a', { terms: { ...terms, gate: { environment: 'production', hold: false, freeze } } });
  await fixture.run(10 * minute);
  expect(await fixture.ends(a)).toEqual(['deployed']);
});

test('a Redeploy that ignores the freeze is sent, and reports for the push that waits', async () => {
  await fixture.push('a', { terms: frozen });
  await fixture.run(minute);
  const cause = {
    kind: 'redeploy',
    key: 'comment-1',
    by: 'mona',
    at: start,
    isPinned: true,
    ignoresFreeze: true,
  } as const;
  await fixture.request(a, { terms: frozen, cause });
  await fixture.run(10 * minute);
  expect([await fixture.ends(a), fixture.made]).toEqual([['joined', 'deployed'], 1]);
});

test('a rollback passes', async () => {
  await fixture.push('a');
  await fixture.run(10 * minute);
  const sending = { kind: 'redeploy', revisionId: 'r1' } as const;
  await fixture.request(commitOf('0'), { terms: frozen, kind: 'rollback', sending });
  await fixture.run(10 * minute);
  expect([await fixture.ends(commitOf('0')), fixture.serving]).toEqual([['deployed'], commitOf('0')]);
});

test('a service that builds pushes by itself is not waited with', async () => {
  await fixture.push('a', { terms: { ...frozen, builder: 'service' } });
  await fixture.run(minute);
  expect(await fixture.ends(a)).toEqual(['expecting']);
});
