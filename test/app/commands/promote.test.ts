import { beforeEach, describe, expect, test } from 'vitest';
import type { Intent } from '../../../app/reconcile/intent.ts';
import { DeploymentBusy } from '../../../app/reconcile/with-lease.ts';
import { targetsOn } from '../events/handler-fixture.ts';
import { CommentFixture } from './commenting.ts';

const reviewers = { users: ['octocat'], teams: [], preventsSelfReview: false };

let fixture: CommentFixture;
beforeEach(() => {
  fixture = new CommentFixture();
  fixture.githubApi.protection = { kind: 'protected', protection: { waitMinutes: 0, unknown: [], reviewers } };
});

const only = <Each>([each]: readonly Each[]): Each => {
  if (each === undefined) throw new Error('there is none');
  return each;
};

/** An intent waits for octocat. */
const waits = (intent: Intent): Promise<void> => {
  const of = { environment: 'production', names: ['octocat'], count: 1 };
  return fixture.save({ ...intent, state: 'waiting', decision: { kind: 'await', code: 'reviewers', ...of } });
};

/** What a service says of a deployment that serves a commit. */
const serving = (id: string, commit: string) => ({ active: id, revisions: [{ id, status: 'DEPLOYED', commit }] });

describe('/promote of a commit that was approved before, and waits again', () => {
  const at = () => fixture.clock.now();
  const approvals = () => [{ by: 'octocat', at: at() }];
  const end = () => ({ state: 'ended', end: { kind: 'failed', reason: 'It failed.', at: at() } }) as const;

  /** The commit is requested once more, and waits. */
  const waitsAgain = async (key: string): Promise<Intent> => {
    const { deploymentId, repository, branch, commit, terms, sending } = only(fixture.intents());
    const cause = { kind: 'rerun', key, at: at() } as const;
    const again = await fixture.store.request({ deploymentId, repository, branch, commit, terms, sending, cause });
    if (!again) throw new Error('nothing was requested again');
    await waits(again);
    return again;
  };

  let again: Intent;
  let tried: unknown;
  beforeEach(async () => {
    fixture.control.still.set('d-support', serving('r1', 'f'.repeat(40)));
    await fixture.push(fixture.head);
    await fixture.save({ ...only(fixture.intents()), approvals: approvals(), ...end() });
    again = await waitsAgain('again');
    const take = fixture.store.takeLease.bind(fixture.store);
    fixture.store.takeLease = async () => undefined;
    tried = await fixture.comment('/promote', { id: 600 }).catch((error: unknown) => error);
    fixture.store.takeLease = take;
  });

  test('approves what waits now, although it is tried again', async () => {
    expect(tried).toBeInstanceOf(DeploymentBusy);
    await fixture.comment('/promote', { id: 600, delivery: 'guid-again' });
    expect(await fixture.said()).toContain('Approved commit');
    expect(await fixture.store.intent(again.id)).toMatchObject({ approvals: [{ by: 'octocat' }] });
  });

  test('approves no request that was made since', async () => {
    await fixture.save({ ...again, ...end() });
    const since = await waitsAgain('since');
    await fixture.comment('/promote', { id: 600, delivery: 'guid-again' });
    expect(await fixture.said()).not.toContain('Approved commit');
    expect(await fixture.store.intent(since.id)).not.toHaveProperty('approvals');
  });
});

describe('/promote to a later environment where an older commit waits for a reviewer', () => {
  const promotions = () => fixture.intents().filter(({ deploymentId }) => deploymentId === 'd-production');
  const proves = (...kinds: 'passed'[]) => {
    const of = { id: 'v1', created_at: '2026-11-21T08:00:00Z', reporter: 'app', tests: [] };
    const verdictsOf = async () => kinds.map((kind) => ({ ...of, kind }));
    fixture.context.records = { historyOf: async () => undefined, verdictsOf };
  };

  beforeEach(async () => {
    const target = only(targetsOn('main', 'production').targets);
    const promotedFrom = { deploymentId: 'd-support', name: 'support' };
    const later = [{ ...target, terms: { ...target.terms, promotedFrom } }];
    fixture.branches.set('main', { ...targetsOn('main', 'support'), later });
    const features = await fixture.control.features();
    fixture.control.features = async () => ({ ...features, verdicts: true });
    proves('passed');
    fixture.control.still.set('d-support', serving('r1', fixture.head));
    fixture.control.still.set('d-production', serving('p1', 'f'.repeat(40)));
    await fixture.comment('/promote production', { login: 'mona' });
    await waits(only(promotions()));
  });

  test.each(['mona', 'octocat'])('by %s requests the newer commit that is proven', async (login) => {
    const newer = fixture.commit('main');
    fixture.control.still.set('d-support', serving('r2', newer));
    await fixture.comment('/promote production', { login });
    expect(promotions().map(({ commit }) => commit)).toEqual([fixture.head, newer]);
    expect(promotions()[0]).not.toHaveProperty('approvals');
  });

  test('approves it where it is what is proven', async () => {
    await fixture.comment('/promote production');
    expect(promotions()).toMatchObject([{ commit: fixture.head, approvals: [{ by: 'octocat' }] }]);
  });

  test('approves it where nothing is proven', async () => {
    proves();
    await fixture.comment('/promote production');
    expect(promotions()).toMatchObject([{ commit: fixture.head, approvals: [{ by: 'octocat' }] }]);
  });
});
