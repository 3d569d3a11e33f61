import { beforeEach, describe, expect, test } from 'vitest';
import { approve } from '../../../app/reconcile/approve.ts';
import { goesLive, serviceError } from '../../deploy/machine/control-model.ts';
import { QueueFixture } from './queue-fixture.ts';
import { commitOf, repository, terms } from './requests.ts';

const o = commitOf('0');
const a = commitOf('a');
const b = commitOf('b');

let fixture: QueueFixture;
beforeEach(() => {
  fixture = new QueueFixture();
});

describe('revisions of other clients', () => {
  test('of the same commit are adopted, and no second one is made', async () => {
    await fixture.push('a');
    fixture.control.restatedByOthers();
    await fixture.run();
    expect(await fixture.intent(a)).toMatchObject({ end: { kind: 'deployed' }, how: 'adopted', revisionId: 'r2' });
    expect(fixture.made).toBe(1);
  });

  test('waits for revisions without a known commit', async () => {
    await fixture.push('a');
    fixture.control.push([
      { after: 0, status: 'QUEUED' },
      { after: 20_000, status: 'BUILDING', commit: a },
      { after: 40_000, status: 'DEPLOYED', commit: a },
    ]);
    await fixture.run(5_000);
    expect(await fixture.intent(a)).toMatchObject({ state: 'waiting', decision: { kind: 'wait', revisionId: 'r2' } });
    expect(await fixture.check(a)).toMatchObject({ status: 'queued' });
    await fixture.run();
    expect(await fixture.intent(a)).toMatchObject({ end: { kind: 'deployed' }, revisionId: 'r2' });
    expect(fixture.made).toBe(1);
  });

  test('of another commit finish first, then the head is built', async () => {
    fixture.control.push(goesLive(o));
    await fixture.push('a');
    await fixture.run();
    expect(fixture.made).toBe(2);
    expect(fixture.serving).toBe(a);
  });

  test('does not wait for ever for revisions that never end', async () => {
    fixture.control.push([{ after: 0, status: 'BUILDING', commit: o }]);
    await fixture.push('a');
    await fixture.run();
    expect(fixture.made).toBe(2);
    expect(await fixture.ends(a)).toEqual(['deployed']);
  });

  test.each<[what: string, refuse: () => void]>([
    ['refuses it for a moment', () => fixture.control.fails('patch', serviceError('busy', 'patch', { status: 429 }))],
    [
      'has its environment wait for a reviewer',
      () => {
        const reviewers = { users: ['octocat'], teams: [], preventsSelfReview: false };
        fixture.githubApi.protection = { kind: 'protected', protection: { waitMinutes: 0, unknown: [], reviewers } };
      },
    ],
  ])('that never end are waited for once, although something %s', async (_, refuse) => {
    fixture.control.push([{ after: 0, status: 'BUILDING', commit: o }]);
    await fixture.push('a');
    await fixture.run(terms.timeoutMs - 60_000);
    refuse();
    await fixture.run(5 * 60_000);
    const approval = { deploymentId: 'd1', deployment: 'support', repository, commit: a, by: 'octocat' };
    await approve(fixture.context, approval);
    await fixture.run(5 * 60_000);
    expect([await fixture.ends(a), fixture.made]).toEqual([['deployed'], 2]);
  });

  test('begun while it waited for a reviewer are waited for like the first', async () => {
    const reviewers = { users: ['octocat'], teams: [], preventsSelfReview: false };
    fixture.githubApi.protection = { kind: 'protected', protection: { waitMinutes: 0, unknown: [], reviewers } };
    fixture.control.push([{ after: 0, status: 'BUILDING', commit: o }]);
    await fixture.push('a');
    await fixture.run(terms.timeoutMs + 5 * 60_000);
    fixture.control.push([{ after: 0, status: 'BUILDING', commit: commitOf('b') }]);
    await approve(fixture.context, { deploymentId: 'd1', deployment: 'support', repository, commit: a, by: 'octocat' });
    await fixture.run(60_000);
    expect([await fixture.intent(a), fixture.made]).toMatchObject([
      { state: 'waiting', decision: { kind: 'wait' } },
      2,
    ]);
  });

  test('made between observing and sending fail If-Match, and are decided again', async () => {
    fixture.control.heedsIfLatest = true;
    await fixture.push('a');
    fixture.control.beforeWrite = () => {
      fixture.control.beforeWrite = () => undefined;
      fixture.control.restatedByOthers();
    };
    await fixture.run();
    expect(await fixture.intent(a)).toMatchObject({ end: { kind: 'deployed' }, how: 'adopted' });
    expect(fixture.made).toBe(1);
  });

  test('that supersede ours with the same commit are followed instead', async () => {
    fixture.control.scripts.push([
      { after: 0, status: 'QUEUED' },
      { after: 5_000, status: 'SKIPPED' },
    ]);
    await fixture.push('a');
    await fixture.run(2_000);
    fixture.control.restatedByOthers();
    await fixture.run();
    expect(await fixture.intent(a)).toMatchObject({ end: { kind: 'deployed' }, how: 'adopted', revisionId: 'r3' });
  });

  test('that supersede ours with another commit are named', async () => {
    fixture.control.scripts.push([
      { after: 0, status: 'QUEUED' },
      { after: 5_000, status: 'SKIPPED' },
    ]);
    await fixture.push('a');
    await fixture.run(2_000);
    fixture.control.push(goesLive(o));
    await fixture.run();
    expect(await fixture.intent(a)).toMatchObject({ end: { kind: 'superseded', by: { commit: o } } });
  });
});

describe('a hosted service that builds by itself', () => {
  const hosted = { ...terms, builder: 'service' as const };

  test('its revision of the commit is found and followed; none is made', async () => {
    await fixture.push('a', { terms: hosted });
    await fixture.run(60_000);
    expect(await fixture.ends(a)).toEqual(['expecting']);
    fixture.control.restatedByOthers();
    await fixture.run();
    expect(await fixture.intent(a)).toMatchObject({ end: { kind: 'deployed' }, how: 'found' });
    expect(fixture.control.count('patch')).toBe(0);
  });

  test('reports it if the service makes none, and makes none either', async () => {
    await fixture.push('a', { terms: hosted });
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['absent']);
    expect(await fixture.check(a)).toMatchObject({ conclusion: 'failure' });
    expect(fixture.control.count('patch')).toBe(0);
  });

  test('a newer push supersedes an expected one; the App itself requests a Re-run', async () => {
    await fixture.push('a', { terms: hosted });
    await fixture.run(1_000);
    await fixture.push('b', { terms: hosted });
    await fixture.run();
    expect([await fixture.ends(a), await fixture.ends(b)]).toEqual([['superseded'], ['absent']]);
    await fixture.request(b, { kind: 'rerun', terms: hosted });
    await fixture.run();
    expect(fixture.serving).toBe(b);
    expect(fixture.made).toBe(1);
  });
});
