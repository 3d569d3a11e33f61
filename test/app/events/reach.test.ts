import { beforeEach, describe, expect, test } from 'vitest';
import { DeploymentBusy } from '../../../app/reconcile/with-lease.ts';
import { repository } from '../reconcile/requests.ts';
import { place, targetsOn, HandlerFixture } from './handler-fixture.ts';
import type { IntentFields } from '../../../app/reconcile/intent.ts';

const minute = 60_000;
let fixture: HandlerFixture;
let head: string;
beforeEach(async () => {
  fixture = new HandlerFixture();
  fixture.branches.set('main', targetsOn('main', 'support'));
  head = fixture.commit();
});

const installation = (action: string, extra: object = {}) =>
  fixture.receive('installation', { action, ...extra }, 'guid-i');
const repositories = (action: 'added' | 'removed', list: object[]) =>
  fixture.receive('installation_repositories', { action, [`repositories_${action}`]: list }, 'guid-i');
const states = () => fixture.intents().map(({ state, end }: IntentFields) => end?.reason ?? state);

describe('the App is added', () => {
  beforeEach(async () => {
    fixture.control.still.set('d-support', {
      active: 'r1',
      revisions: [{ id: 'r1', status: 'DEPLOYED', commit: 'e'.repeat(40) }],
    });
    await fixture.clock.sleep(10 * minute);
  });

  test.each([
    ['by an installation', () => installation('created', { repositories: [place.repository] })],
    ['to a repository', () => repositories('added', [place.repository])],
  ])('%s: heads that are not live are built', async (_, act) => {
    await act();
    expect(fixture.intents()).toMatchObject([{ commit: head, cause: { kind: 'recovery', lateMs: 10 * minute } }]);
  });

  test('twice, by an event that comes again: once', async () => {
    await repositories('added', [place.repository]);
    await repositories('added', [place.repository]);
    expect(fixture.intents()).toHaveLength(1);
  });

  test('to a repository without a target: makes no request to GitHub', async () => {
    fixture.githubApi.head = () => Promise.reject(new Error('started'));
    await repositories('added', [{ id: 5, full_name: 'acme/other' }]);
    expect(fixture.intents()).toEqual([]);
  });
});

describe('the App is removed', () => {
  test('ends open work, and drops pending reports', async () => {
    await fixture.push(head);
    await fixture.push(fixture.commit('next'), 'next', 'guid-2');
    expect(await fixture.store.pendingReports()).toHaveLength(1);
    await installation('deleted');
    expect(states()).toEqual(['the App was uninstalled']);
    expect(fixture.intents()[0]).toMatchObject({
      state: 'ended',
      end: { kind: 'skipped' },
      decision: { kind: 'skip', code: 'not-installed' },
    });
    expect(await fixture.store.pendingReports()).toEqual([]);
  });

  test('drops pending reports even without open work', async () => {
    await fixture.push(fixture.commit('next'), 'next', 'guid-2');
    expect(await fixture.store.pendingReports()).toHaveLength(1);
    await repositories('removed', [{ id: 5, full_name: 'acme/other' }]);
    expect(await fixture.store.pendingReports()).toHaveLength(1);
    await repositories('removed', [place.repository]);
    expect(await fixture.store.pendingReports()).toEqual([]);
  });

  test.each([
    ['this repository', place.repository, 'the App was removed from repositories'],
    ['another repository', { id: 5, full_name: 'acme/other' }, 'requested'],
  ])('from %s', async (_, gone, state) => {
    await fixture.push(head);
    await repositories('removed', [gone]);
    expect(states()).toEqual([state]);
  });

  test('retries the event while another worker holds the deployment, then ends it', async () => {
    await fixture.push(head);
    const lease = await fixture.store.takeLease('d-support', 'worker', minute);
    if (!lease) throw new Error('no lease');
    await expect(installation('deleted')).rejects.toBeInstanceOf(DeploymentBusy);
    expect(states()).toEqual(['requested']);
    await fixture.clock.sleep(2 * minute);
    await installation('deleted');
    expect(states()).toEqual(['the App was uninstalled']);
  });

  test('and added again: the head that was cut off is built', async () => {
    await fixture.push(head);
    await installation('deleted');
    fixture.control.still.set('d-support', {
      revisions: [{ id: 'r1', status: 'INTERRUPTED', commit: 'e'.repeat(40) }],
    });
    await fixture.clock.sleep(10 * minute);
    await installation('created', { repositories: [place.repository] });
    expect(fixture.intents().at(-1)).toMatchObject({ commit: head, state: 'requested', cause: { kind: 'recovery' } });
  });
});

test('a suspended installation keeps its work and resumes it', async () => {
  await fixture.push(head);
  await installation('suspend');
  expect(states()).toEqual(['requested']);
  await installation('unsuspend');
  expect(fixture.decided.get('guid-i')).toMatchObject({
    did: ['woke 1 deployments', 'recovery looks at its branches within seconds'],
  });
  expect(fixture.recoveries).toBe(1);
});

test('reports the work of a renamed repository under the new name', async () => {
  await fixture.push(head);
  await fixture.receive('repository', { action: 'renamed', repository: { id: 22, full_name: 'acme/helpers' } });
  expect(fixture.intents()[0]?.repository).toEqual({ ...repository, name: 'helpers' });
});
