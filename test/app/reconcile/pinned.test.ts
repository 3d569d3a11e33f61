import { beforeEach, expect, test } from 'vitest';
import { commitOf, start } from './requests.ts';
import { QueueFixture } from './queue-fixture.ts';

let fixture: QueueFixture;
beforeEach(() => {
  fixture = new QueueFixture();
});

const pinned = { cause: { kind: 'redeploy', key: 'comment-1', at: start, isPinned: true } } as const;

/** Pushes wait for a person, because the deployment is held after a rollback. */
async function hold(): Promise<void> {
  await fixture.store.wake('d1');
  const lease = await fixture.store.takeLease('d1', 'worker', 1_000);
  if (!lease) throw new Error('the lease is held');
  await fixture.store.save(lease, { held: { since: start }, rolledBackCommit: commitOf('0') });
  await fixture.store.leaveLease(lease, undefined);
}

test('a confirmed head is built, and ends a hold', async () => {
  const head = await fixture.push('a', { reported: false });
  await hold();
  await fixture.request(head, pinned);
  await fixture.run();
  expect(fixture.serving).toBe(head);
  expect(await fixture.store.deploymentQueue('d1')).toEqual({ deploymentId: 'd1' });
});

test('a push since ends the request, says so, and leaves the hold', async () => {
  const confirmed = await fixture.push('a', { reported: false });
  await hold();
  await fixture.request(confirmed, pinned);
  await fixture.push('b', { reported: false });
  await fixture.run();
  expect(await fixture.ends(confirmed)).toEqual(['skipped']);
  expect((await fixture.check(confirmed))?.summary).toContain('was pushed since');
  expect(fixture.made).toBe(0);
  expect(await fixture.store.deploymentQueue('d1')).toMatchObject({ held: { since: start } });
});

test('a push that is reported is deployed by its own request', async () => {
  const confirmed = await fixture.push('a', { reported: false });
  await fixture.request(confirmed, pinned);
  const newer = await fixture.push('b');
  await fixture.run();
  expect(await fixture.ends(confirmed)).toEqual(['skipped']);
  expect(await fixture.ends(newer)).toEqual(['deployed']);
  expect(fixture.made).toBe(1);
});

test('a push while the request waits for another revision ends it', async () => {
  const first = await fixture.push('a');
  await fixture.run(2_000);
  const confirmed = await fixture.push('b', { reported: false });
  await fixture.request(confirmed, pinned);
  await fixture.run(2_000);
  await fixture.push('c', { reported: false });
  await fixture.run();
  expect(await fixture.ends(first)).toEqual(['deployed']);
  expect(await fixture.ends(confirmed)).toEqual(['skipped']);
  expect(fixture.serving).toBe(first);
});

test('a confirmed branch that is gone ends without a build', async () => {
  const confirmed = await fixture.push('a', { reported: false });
  await hold();
  await fixture.request(confirmed, pinned);
  fixture.githubApi.head_ = undefined;
  await fixture.run();
  expect(await fixture.ends(confirmed)).toEqual(['skipped']);
  expect(await fixture.store.deploymentQueue('d1')).toMatchObject({ held: { since: start } });
});
