import { beforeEach, expect, test } from 'vitest';
import { checkName } from '../../../app/reconcile/report.ts';
import { commitOf, repository, tested } from './requests.ts';
import { QueueFixture } from './queue-fixture.ts';

let fixture: QueueFixture;
const live = commitOf('0');
beforeEach(() => {
  fixture = new QueueFixture();
});

const liveId = () => fixture.control.service.deployment?.active_revision_id ?? '';
const requestTests = (revisionId = liveId()) =>
  fixture.request(live, { kind: 'rerun', terms: tested, sending: { kind: 'test', revisionId } });

test('tests what serves, and makes no revision and no GitHub Deployment', async () => {
  const intent = await requestTests();
  await fixture.run();
  expect(await fixture.ends(live)).toEqual(['deployed']);
  expect(fixture.made).toBe(0);
  expect(await fixture.check(live)).toMatchObject({ conclusion: 'success', title: 'Live and proven' });
  expect((await fixture.check(live))?.summary).toContain('requested its smoke tests; nothing was built');
  expect(await fixture.store.reportOf(repository.repositoryId, live, intent?.id ?? '')).toBeUndefined();
});

test('a failure is reported, and nothing is rolled back', async () => {
  fixture.verdicts.set(live, 'failed');
  const serving = liveId();
  await requestTests();
  await fixture.run();
  expect(await fixture.ends(live)).toEqual(['broken']);
  expect(await fixture.check(live)).toMatchObject({ conclusion: 'failure' });
  expect([liveId(), fixture.made]).toEqual([serving, 0]);
});

test('a revision that does not serve any more is not tested', async () => {
  await requestTests('another');
  await fixture.run();
  expect(await fixture.ends(live)).toEqual(['skipped']);
  expect(fixture.tested).toEqual([]);
});

test('a push before the tests is built first, and then another one serves', async () => {
  const pushed = await fixture.push('a');
  await requestTests();
  await fixture.run();
  expect(await fixture.ends(pushed)).toEqual(['deployed']);
  expect(await fixture.ends(live)).toEqual(['skipped']);
});

test('a push during the tests waits for their end', async () => {
  await requestTests();
  await fixture.run(1_000);
  const pushed = await fixture.push('a');
  await fixture.run();
  expect(await fixture.ends(live)).toEqual(['deployed']);
  expect(await fixture.ends(pushed)).toEqual(['deployed']);
  const check = await fixture.store.reportOf(repository.repositoryId, live, checkName('support'));
  expect(check?.wanted.content).toMatchObject({ title: 'Live and proven' });
});
