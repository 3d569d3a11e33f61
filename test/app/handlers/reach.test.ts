import { beforeEach, describe, expect, test } from 'vitest';
import { DeploymentBusy } from '../../../app/handlers/cut-off.ts';
import { repository } from '../work/wishes.ts';
import { place, targetsOn, ToldWorld } from './told-world.ts';

const minute = 60_000;
let told: ToldWorld;
let head: string;
beforeEach(async () => {
  told = new ToldWorld();
  told.branches.set('main', targetsOn('main', 'support'));
  head = told.commit();
});

const installation = (action: string, extra: object = {}) =>
  told.receive('installation', { action, ...extra }, 'guid-i');
const repositories = (action: 'added' | 'removed', list: object[]) =>
  told.receive('installation_repositories', { action, [`repositories_${action}`]: list }, 'guid-i');
const states = () => told.intents().map(({ state, end }) => end?.reason ?? state);

describe('the App is added', () => {
  beforeEach(async () => {
    told.control.still.set('d-support', {
      active: 'r1',
      revisions: [{ id: 'r1', status: 'DEPLOYED', commit: 'e'.repeat(40) }],
    });
    await told.clock.sleep(10 * minute);
  });

  test.each([
    ['by an installation', () => installation('created', { repositories: [place.repository] })],
    ['to a repository', () => repositories('added', [place.repository])],
  ])('%s: heads that are not live are built', async (_, act) => {
    await act();
    expect(told.intents()).toMatchObject([{ commit: head, cause: { kind: 'recovery', lateMs: 10 * minute } }]);
  });

  test('twice, by an event that comes again: once', async () => {
    await repositories('added', [place.repository]);
    await repositories('added', [place.repository]);
    expect(told.intents()).toHaveLength(1);
  });

  test('to a repository that nothing is built from: GitHub is not asked', async () => {
    told.hub.head = () => Promise.reject(new Error('asked'));
    await repositories('added', [{ id: 5, full_name: 'acme/other' }]);
    expect(told.intents()).toEqual([]);
  });
});

describe('the App is removed', () => {
  test('what is open ends, and what was not told is dropped', async () => {
    await told.push(head);
    await told.push(told.commit('next'), 'next', 'guid-2');
    expect(await told.store.untoldReports()).toHaveLength(1);
    await installation('deleted');
    expect(states()).toEqual(['the App was uninstalled']);
    expect(told.intents()[0]).toMatchObject({
      state: 'ended',
      end: { kind: 'skipped' },
      decision: { kind: 'skip', code: 'not-installed' },
    });
    expect(await told.store.untoldReports()).toEqual([]);
  });

  test('from where nothing is open: what was not told is dropped all the same', async () => {
    await told.push(told.commit('next'), 'next', 'guid-2');
    expect(await told.store.untoldReports()).toHaveLength(1);
    await repositories('removed', [{ id: 5, full_name: 'acme/other' }]);
    expect(await told.store.untoldReports()).toHaveLength(1);
    await repositories('removed', [place.repository]);
    expect(await told.store.untoldReports()).toEqual([]);
  });

  test.each([
    ['this repository', place.repository, 'the App was removed from repositories'],
    ['another repository', { id: 5, full_name: 'acme/other' }, 'wished'],
  ])('from %s', async (_, gone, state) => {
    await told.push(head);
    await repositories('removed', [gone]);
    expect(states()).toEqual([state]);
  });

  test('while somebody works on the deployment: the event is handled again, and then it ends', async () => {
    await told.push(head);
    const lease = await told.store.takeLease('d-support', 'lane', minute);
    if (!lease) throw new Error('no lease');
    await expect(installation('deleted')).rejects.toBeInstanceOf(DeploymentBusy);
    expect(states()).toEqual(['wished']);
    await told.clock.sleep(2 * minute);
    await installation('deleted');
    expect(states()).toEqual(['the App was uninstalled']);
  });

  test('and added again: the head that was cut off is built', async () => {
    await told.push(head);
    await installation('deleted');
    told.control.still.set('d-support', { revisions: [{ id: 'r1', status: 'INTERRUPTED', commit: 'e'.repeat(40) }] });
    await told.clock.sleep(10 * minute);
    await installation('created', { repositories: [place.repository] });
    expect(told.intents().at(-1)).toMatchObject({ commit: head, state: 'wished', cause: { kind: 'recovery' } });
  });
});

test('a suspended installation keeps its work, and resumes it', async () => {
  await told.push(head);
  await installation('suspend');
  expect(states()).toEqual(['wished']);
  await installation('unsuspend');
  expect(told.decided.get('guid-i')).toMatchObject({
    did: ['woke 1 deployments', 'the next recovery looks at its branches'],
  });
});

test('a renamed repository has its work told under the new name', async () => {
  await told.push(head);
  await told.receive('repository', { action: 'renamed', repository: { id: 22, full_name: 'acme/helpers' } });
  expect(told.intents()[0]?.repository).toEqual({ ...repository, name: 'helpers' });
});
