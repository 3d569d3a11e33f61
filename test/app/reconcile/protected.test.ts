import { beforeEach, describe, expect, test } from 'vitest';
import type { EnvironmentProtection } from '../../../app/github/github-api.ts';
import { approve } from '../../../app/reconcile/approve.ts';
import { DeploymentBusy } from '../../../app/reconcile/with-lease.ts';
import { serviceError } from '../../deploy/machine/control-model.ts';
import { anIntent } from '../an-intent.ts';
import { QueueFixture } from './queue-fixture.ts';
import { commitOf, repository, start, terms } from './requests.ts';

const [a, b] = [commitOf('a'), commitOf('b')];
const minute = 60_000;
const day = 24 * 60 * minute;

let fixture: QueueFixture;
beforeEach(() => {
  fixture = new QueueFixture();
});

const requires = (protection: Partial<EnvironmentProtection>): void => {
  fixture.githubApi.protection = { kind: 'protected', protection: { waitMinutes: 0, unknown: [], ...protection } };
};
const reviewers = { users: ['octocat'], teams: [], preventsSelfReview: false };
const approvedBy = (by: string, commit = a) =>
  approve(fixture.context, { deploymentId: 'd1', deployment: 'support', repository, commit, by });

describe('an environment with reviewers', () => {
  beforeEach(() => requires({ reviewers }));

  test('waits for one of them, without a time-out, and shows it', async () => {
    await fixture.push('a');
    await fixture.run(10 * day);
    expect([await fixture.ends(a), fixture.made]).toEqual([['waiting'], 0]);
    expect(await fixture.check(a)).toMatchObject({
      status: 'completed',
      conclusion: 'action_required',
      title: 'Waits for the approval of octocat',
      actions: [{ identifier: 'approve' }],
    });
  });

  test('is deployed to once one has approved, and once only', async () => {
    await fixture.push('a');
    await fixture.run(minute);
    expect(await approvedBy('octocat')).toBeUndefined();
    expect(await approvedBy('Octocat')).toBeUndefined();
    await fixture.run(10 * minute);
    expect([await fixture.ends(a), fixture.made, fixture.serving]).toEqual([['deployed'], 1, a]);
    expect(await approvedBy('octocat')).toEqual({ code: 'nothing-to-approve', deployment: 'support', commit: a });
  });

  test('keeps no newer push from being refused while one waits for it', async () => {
    await fixture.push('a');
    await fixture.run(minute);
    fixture.githubApi.refuses = true;
    await fixture.push('b');
    await fixture.run(day);
    expect([await fixture.ends(a), await fixture.ends(b)]).toEqual([['waiting'], ['refused']]);
  });

  test('takes no approval of others', async () => {
    await fixture.push('a');
    await fixture.run(minute);
    const refusal = { code: 'not-reviewer', login: 'mona', environment: 'production', names: ['octocat'] };
    expect(await approvedBy('mona')).toEqual(refusal);
    await fixture.run(day);
    expect(fixture.made).toBe(0);
  });

  test('takes no approval of an earlier commit, nor of one that is not there yet', async () => {
    await fixture.push('a');
    await fixture.run(minute);
    await fixture.push('b');
    await fixture.run(minute);
    expect(await approvedBy('octocat', a)).toMatchObject({ code: 'nothing-to-approve' });
    await fixture.run(day);
    expect([await fixture.ends(a), await fixture.ends(b), fixture.made]).toEqual([['superseded'], ['waiting'], 0]);
  });

  test('takes an approval no more where the reviewer is removed before it is deployed', async () => {
    await fixture.push('a');
    await fixture.run(minute);
    await approvedBy('octocat');
    requires({ reviewers: { ...reviewers, users: ['mona'] } });
    await fixture.run(day);
    expect([await fixture.ends(a), fixture.made]).toEqual([['waiting'], 0]);
  });

  test('is deployed to once the rule is gone', async () => {
    await fixture.push('a');
    await fixture.run(minute);
    fixture.githubApi.protection = { kind: 'none' };
    expect(await approvedBy('mona')).toBeUndefined();
    await fixture.run(minute);
    expect(await fixture.ends(a)).toEqual(['deployed']);
  });

  test.each([
    ['the person who pushed', { by: 'octocat' }, []],
    ['the person who wrote the commit', {}, ['Octocat']],
  ])('that prevents self-review takes no approval of %s', async (_, who, people) => {
    requires({ reviewers: { ...reviewers, preventsSelfReview: true } });
    fixture.githubApi.people = people;
    await fixture.push('a', { cause: { kind: 'push', key: 'k', at: start, ...who } });
    await fixture.run(minute);
    expect(await approvedBy('octocat')).toEqual({ code: 'own-review', login: 'octocat', environment: 'production' });
  });

  test('pins the approved commit, where the service pins commits', async () => {
    const named: (string | undefined)[] = [];
    fixture.control.pinsCommits = true;
    fixture.control.beforeWrite = (options) => void named.push(options?.commit);
    await fixture.push('a');
    await fixture.run(minute);
    await approvedBy('octocat');
    await fixture.run(minute);
    expect(named).toEqual([a]);
  });

  test('sends an approved commit only where it is known whether the service pins it', async () => {
    const named: (string | undefined)[] = [];
    fixture.control.pinsCommits = true;
    fixture.control.beforeWrite = (options) => void named.push(options?.commit);
    await fixture.push('a');
    await fixture.run(day);
    fixture.control.fails('features', serviceError('busy', 'features', { status: 503 }), { times: 20 });
    await approvedBy('octocat');
    await fixture.run(day);
    expect([named, await fixture.ends(a)]).toEqual([[a], ['deployed']]);
  });

  test.each<[when: string, ends: boolean, refusal: object | undefined]>([
    ['has ended', true, { code: 'nothing-to-approve', deployment: 'support', commit: a }],
    ['was approved by the same person', false, undefined],
  ])('says whether it took an approval of what %s meanwhile', async (_, ends, refusal) => {
    await fixture.push('a');
    await fixture.run(minute);
    const take = fixture.store.takeLease.bind(fixture.store);
    fixture.store.takeLease = async (...asked) => {
      fixture.store.takeLease = take;
      const { id, ...intent } = anIntent('waiting', await fixture.intent(a));
      const end = { kind: 'skipped', reason: 'It ended.', at: start } as const;
      if (ends) fixture.store.intents.set(id, { ...intent, id, state: 'ended', end });
      else await approvedBy('octocat');
      return take(...asked);
    };
    expect(await approvedBy('octocat')).toEqual(refusal);
  });

  test('asks for the approval again while the deployment is worked on', async () => {
    await fixture.push('a');
    await fixture.run(minute);
    await fixture.store.wake('d1');
    await fixture.store.takeLease('d1', 'worker', day);
    await expect(approvedBy('octocat')).rejects.toBeInstanceOf(DeploymentBusy);
  });

  test.each(['redeploy', 'rerun', 'recovery'] as const)('holds a %s as well', async (kind) => {
    await fixture.push('a', { kind });
    await fixture.run(day);
    expect([await fixture.ends(a), fixture.made]).toEqual([['waiting'], 0]);
  });

  test('lets a rollback pass', async () => {
    requires({});
    await fixture.push('a');
    await fixture.run(10 * minute);
    requires({ reviewers });
    const sending = { kind: 'redeploy', revisionId: 'r1' } as const;
    await fixture.request(commitOf('0'), { kind: 'rollback', sending });
    await fixture.run(10 * minute);
    expect(await fixture.ends(commitOf('0'))).toEqual(['deployed']);
  });
});

test('a wait timer is waited for from the request on', async () => {
  requires({ waitMinutes: 30 });
  await fixture.push('a');
  await fixture.run(29 * minute);
  expect([await fixture.ends(a), fixture.made]).toEqual([['waiting'], 0]);
  expect(await fixture.check(a)).toMatchObject({
    status: 'queued',
    title: 'Waits until 2026-11-21 08:30 UTC, by the wait timer of production',
  });
  await fixture.run(10 * minute);
  expect([await fixture.ends(a), fixture.made]).toEqual([['deployed'], 1]);
});

test.each<[sentence: string, protection: Partial<EnvironmentProtection>, said: string]>([
  [
    'a branch that is not allowed',
    { branches: { kind: 'patterns', patterns: ['next'] } },
    'The branch main may not be deployed',
  ],
  ['rules of others', { unknown: ['datadog'] }, 'has protection rules that the App can'],
])('%s ends it neutral, with the reason', async (_, protection, said) => {
  requires(protection);
  await fixture.push('a');
  await fixture.run(10 * minute);
  expect([await fixture.ends(a), fixture.made]).toEqual([['skipped'], 0]);
  expect(await fixture.check(a)).toMatchObject({ conclusion: 'neutral', summary: expect.stringContaining(said) });
});

test('an installation that may not read the rules deploys, and its check says so', async () => {
  fixture.githubApi.protection = { kind: 'unread' };
  await fixture.push('a');
  await fixture.run(10 * minute);
  expect([await fixture.ends(a), fixture.made]).toEqual([['deployed'], 1]);
  expect((await fixture.check(a))?.summary).toContain('an owner has to accept its permission Actions');
});

test('ignore-freeze opens no protected environment', async () => {
  requires({ reviewers });
  const cause = { kind: 'redeploy', key: 'k', at: start, ignoresFreeze: true } as const;
  await fixture.push('a', { terms, cause });
  await fixture.run(day);
  expect([await fixture.ends(a), fixture.made]).toEqual([['waiting'], 0]);
});
