import { beforeEach, expect, test } from 'vitest';
import { cancelRequests, isCancellable } from '../../../app/reconcile/cancel-requests.ts';
import { DeploymentBusy } from '../../../app/reconcile/with-lease.ts';
import { anIntent } from '../an-intent.ts';
import { QueueFixture } from './queue-fixture.ts';

let fixture: QueueFixture;
beforeEach(() => {
  fixture = new QueueFixture();
});

const openIds = async () => (await fixture.store.openIntents('d1')).map(({ id }) => id);

test('a push that waits for another one is ended, and that one goes on', async () => {
  const first = await fixture.push('a');
  await fixture.run(2_000);
  const second = await fixture.push('b');
  await fixture.run(2_000);
  await cancelRequests(fixture.context, 'd1', await openIds(), 'mona');
  await fixture.run();
  expect(await fixture.ends(first)).toEqual(['deployed']);
  expect(await fixture.ends(second)).toEqual(['skipped']);
  expect(await fixture.check(second)).toMatchObject({
    conclusion: 'neutral',
    title: 'Not deployed: mona cancelled it before anything was sent',
    actions: [{ identifier: 'redeploy' }],
  });
  expect(fixture.made).toBe(1);
});

test('what was requested after it goes on', async () => {
  const first = await fixture.push('a');
  const ids = await openIds();
  const second = await fixture.push('b');
  await cancelRequests(fixture.context, 'd1', ids, 'mona');
  await fixture.run();
  expect(await fixture.ends(first)).toEqual(['skipped']);
  expect(await fixture.ends(second)).toEqual(['deployed']);
});

test('while another worker holds the deployment it is tried again', async () => {
  const commit = await fixture.push('a');
  await fixture.store.takeLease('d1', 'worker', 60_000);
  await expect(cancelRequests(fixture.context, 'd1', await openIds(), 'mona')).rejects.toBeInstanceOf(DeploymentBusy);
  expect(await fixture.ends(commit)).toEqual(['requested']);
});

test.each(['requested', 'waiting', 'paused', 'measuring'] as const)('what is %s can be cancelled', (state) => {
  expect(isCancellable(anIntent(state))).toBe(true);
});

test.each(['expecting', 'sending', 'following', 'testing', 'deciding', 'concluding', 'undoing', 'ended'] as const)(
  'what is %s can not',
  (state) => expect(isCancellable(anIntent(state))).toBe(false),
);

test('our own rollback goes on', () => {
  const intent = anIntent('requested');
  expect(isCancellable({ ...intent, cause: { ...intent.cause, kind: 'failure' } })).toBe(false);
});
