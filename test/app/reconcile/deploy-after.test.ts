import { beforeEach, describe, expect, test } from 'vitest';
import type { DeployTerms } from '../../../app/reconcile/deploy-request.ts';
import type { SeenCheck } from '../../../src/deploy/rules/after-checks.ts';
import { QueueFixture } from './queue-fixture.ts';
import { commitOf, terms } from './requests.ts';

const [a, b] = [commitOf('a'), commitOf('b')];
const minute = 60_000;

let fixture: QueueFixture;
beforeEach(() => {
  fixture = new QueueFixture();
});

const after = (checks: 'required' | readonly string[], more: Partial<DeployTerms> = {}): DeployTerms => ({
  ...terms,
  ...more,
  rules: { ...terms.rules, deployAfter: { checks, timeoutMs: 60 * minute } },
});
const builds = after(['build']);

function come(commit: string, state: SeenCheck['state'], ...names: string[]): Promise<void> {
  fixture.githubApi.checks.set(
    commit,
    names.map((name) => ({ name, state })),
  );
  return fixture.store.wake('d1');
}

describe('a push that waits for checks', () => {
  test('is deployed once, when they have passed', async () => {
    await fixture.push('a', { terms: builds });
    await fixture.run(minute);
    expect([await fixture.ends(a), fixture.made]).toEqual([['waiting'], 0]);
    expect(await fixture.check(a)).toMatchObject({ status: 'queued', title: 'Waits for the check build' });
    await come(a, 'passed', 'build');
    await fixture.run(10 * minute);
    expect([await fixture.ends(a), fixture.made, fixture.serving]).toEqual([['deployed'], 1, a]);
  });

  test('is deployed at once where they have passed before', async () => {
    await come(a, 'passed', 'build');
    await fixture.push('a', { terms: builds });
    await fixture.run(10 * minute);
    expect([await fixture.ends(a), fixture.made]).toEqual([['deployed'], 1]);
  });

  test('sees checks whose event was lost', async () => {
    await fixture.push('a', { terms: builds });
    await fixture.run(minute);
    fixture.githubApi.checks.set(a, [{ name: 'build', state: 'passed' }]);
    await fixture.run(5 * minute);
    expect([await fixture.ends(a), fixture.made]).toEqual([['deployed'], 1]);
  });

  test('ends neutral when one fails, and is not deployed by a later event', async () => {
    await fixture.push('a', { terms: after(['build', 'lint']) });
    await fixture.run(minute);
    await come(a, 'failed', 'lint');
    await fixture.run(10 * minute);
    expect([await fixture.ends(a), fixture.made]).toEqual([['skipped'], 0]);
    const summary = expect.stringContaining('The check lint has failed');
    expect(await fixture.check(a)).toMatchObject({ status: 'completed', conclusion: 'neutral', summary });
    await come(a, 'passed', 'build', 'lint');
    await fixture.run(10 * minute);
    expect([await fixture.ends(a), fixture.made]).toEqual([['skipped'], 0]);
  });

  test('ends neutral when they have not passed in time', async () => {
    fixture.githubApi.hasNoStatuses = true;
    await fixture.push('a', { terms: builds });
    await fixture.run(59 * minute);
    expect(await fixture.ends(a)).toEqual(['waiting']);
    await fixture.run(2 * minute);
    expect([await fixture.ends(a), fixture.made]).toEqual([['skipped'], 0]);
    expect((await fixture.check(a))?.summary).toContain('has not passed in time; the App may not read commit statuses');
  });

  test('waits for what the branch requires, but for no check of its own', async () => {
    fixture.githubApi.required = ['test', 'Landfall', 'Landfall: support', 'Landfall: other'].map((name) => ({ name }));
    await fixture.push('a', { terms: after('required') });
    await fixture.run(minute);
    expect(await fixture.check(a)).toMatchObject({ title: 'Waits for the check test' });
    await come(a, 'passed', 'test');
    await fixture.run(10 * minute);
    expect(await fixture.ends(a)).toEqual(['deployed']);
  });

  test.each([
    ['the branch requires none', after('required')],
    ['only its own is named', after(['Landfall: support'])],
  ])('is not deployed where %s', async (_, gated) => {
    await fixture.push('a', { terms: gated });
    await fixture.run(minute);
    expect([await fixture.ends(a), fixture.made]).toEqual([['skipped'], 0]);
    expect((await fixture.check(a))?.summary).toContain('waits for checks of others, and none is named or required');
  });

  test('makes way for a newer commit, which waits for its own', async () => {
    await fixture.push('a', { terms: builds });
    await fixture.run(minute);
    await fixture.push('b', { terms: builds });
    await come(a, 'passed', 'build');
    await fixture.run(minute);
    expect([await fixture.ends(a), await fixture.ends(b), fixture.made]).toEqual([['superseded'], ['waiting'], 0]);
    await come(b, 'passed', 'build');
    await fixture.run(10 * minute);
    expect([await fixture.ends(b), fixture.made, fixture.serving]).toEqual([['deployed'], 1, b]);
  });

  test('waits its whole time for a revision of others that comes later', async () => {
    const builds10 = (commit: string) => [
      { after: 0, status: 'BUILDING', commit },
      { after: 10 * minute, status: 'DEPLOYED', commit },
    ];
    const others = commitOf('0');
    fixture.control.push(builds10(others));
    await fixture.push('a', { terms: builds });
    await fixture.run(25 * minute);
    expect(await fixture.check(a)).toMatchObject({ title: 'Waits for the check build' });
    fixture.control.push(builds10(others));
    await fixture.run(8 * minute);
    await come(a, 'passed', 'build');
    const before = fixture.made;
    await fixture.run(minute);
    expect([await fixture.ends(a), fixture.made]).toEqual([['waiting'], before]);
    await fixture.run(20 * minute);
    expect([await fixture.ends(a), fixture.made]).toEqual([['deployed'], before + 1]);
  });

  test('writes its check when what it waits for changes, and only then', async () => {
    await fixture.push('a', { terms: after(['build', 'lint']) });
    await fixture.run(30 * minute);
    const before = (await fixture.intent(a)).updatedAt;
    await fixture.run(20 * minute);
    expect((await fixture.intent(a)).updatedAt).toBe(before);
    await come(a, 'passed', 'lint');
    await fixture.run(minute);
    expect(await fixture.check(a)).toMatchObject({ title: 'Waits for the check build' });
  });

  test('waits on while GitHub fails', async () => {
    await fixture.push('a', { terms: builds });
    await fixture.run(minute);
    fixture.githubApi.away = true;
    await fixture.run(20 * minute);
    fixture.githubApi.away = false;
    await come(a, 'passed', 'build');
    await fixture.run(20 * minute);
    expect([await fixture.ends(a), fixture.made]).toEqual([['deployed'], 1]);
  });

  test('joins the live revision of its commit without waiting', async () => {
    await fixture.push('0', { terms: builds });
    await fixture.run(minute);
    expect([await fixture.ends(commitOf('0')), fixture.made]).toEqual([['deployed'], 0]);
  });
});

describe('what a person requests', () => {
  test('a Re-run waits for checks as a push does', async () => {
    await fixture.push('a', { terms: builds, kind: 'rerun' });
    await fixture.run(minute);
    expect([await fixture.ends(a), fixture.made]).toEqual([['waiting'], 0]);
  });

  test('a Redeploy does not, and takes the place of the push that waits', async () => {
    await fixture.push('a', { terms: builds });
    await fixture.run(minute);
    await fixture.request(a, { terms: builds, kind: 'redeploy' });
    await fixture.run(10 * minute);
    expect([await fixture.ends(a), fixture.made]).toEqual([['joined', 'deployed'], 1]);
  });
});

test.each([
  ['the commit whose checks have passed, where the service pins commits', builds, true, a],
  ['the head, where it pins none', builds, false, undefined],
  ['the head, where nothing is waited for', terms, true, undefined],
])('requests %s', async (_, of, pinsCommits, commit) => {
  const named: (string | undefined)[] = [];
  fixture.control.pinsCommits = pinsCommits;
  fixture.control.beforeWrite = (options) => void named.push(options?.commit);
  await come(a, 'passed', 'build');
  await fixture.push('a', { terms: of });
  await fixture.run(minute);
  expect(named).toEqual([commit]);
});

test('a service that builds pushes by itself is not waited with', async () => {
  await fixture.push('a', { terms: after(['build'], { builder: 'service' }) });
  await fixture.run(minute);
  expect(await fixture.ends(a)).toEqual(['expecting']);
});
