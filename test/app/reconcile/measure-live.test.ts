import { describe, expect, test } from 'vitest';
import type { DeployTerms } from '../../../app/reconcile/deploy-request.ts';
import { hashOfTest } from '../../../src/deploy/smoke/kept-baselines.ts';
import type { Measure } from '../../../src/deploy/file/smoke-test.ts';
import { serviceError } from '../../deploy/machine/control-model.ts';
import { QueueFixture } from './queue-fixture.ts';
import { commitOf, comparing } from './requests.ts';

const [first, a, b, c] = [commitOf('0'), commitOf('a'), commitOf('b'), commitOf('c')];

/** A service that holds no revision, and a push of a deployment whose test compares. */
async function pushed(fixture = new QueueFixture(), terms: DeployTerms = comparing): Promise<QueueFixture> {
  await fixture.push('a', { terms });
  return fixture;
}

const decidedBy = (decideBy: readonly Measure[]): DeployTerms => ({
  ...comparing,
  smokeTests: comparing.smokeTests.map((each) =>
    each.series?.kind === 'live' ? { ...each, series: { ...each.series, decideBy } } : each,
  ),
});

/** Runs until a thread is open at the live revision. */
async function untilMeasuring(fixture: QueueFixture): Promise<void> {
  for (let waited = 0; fixture.threads.size === 0 && waited < 60; waited += 1) await fixture.run(100);
  expect([fixture.threads.size, fixture.control.count('patch')]).toEqual([3, 0]);
}

const summaryOf = async (fixture: QueueFixture, commit: string): Promise<string> =>
  (await fixture.check(commit))?.summary.replaceAll('&#58;', ':') ?? '';
const measurings = ({ steps }: QueueFixture): number => steps.filter((step) => step === 'measuring').length;
const left = ({ threads, mistaken }: QueueFixture) => [[...threads], mistaken];

describe('where no revision is held', () => {
  test('the live one is measured before anything is sent, and what both answered is kept', async () => {
    const fixture = await pushed();
    await untilMeasuring(fixture);
    expect(await fixture.check(a)).toMatchObject({
      status: 'in_progress',
      title: 'Measuring the live revision, to compare the new one with it',
      summary: expect.stringContaining('No revision is requested yet.'),
    });
    await fixture.run();
    expect([await fixture.ends(a), fixture.serving, left(fixture)]).toEqual([['deployed'], a, [[], []]]);
    const [test] = comparing.smokeTests;
    expect(fixture.store.kept.get('d1')).toMatchObject(
      ['r2', 'r1'].map((revisionId) => ({ revisionId, testHash: test && hashOfTest(test), answers: { length: 30 } })),
    );
    expect(await summaryOf(fixture, a)).not.toContain('no live revision');
    const ended = await fixture.intent(a);
    expect([ended.live, ended.compared]).toEqual([undefined, undefined]);
  });

  test('kept answers take the place of measuring, and its check says so', async () => {
    const fixture = await pushed();
    await fixture.run();
    await fixture.push('b', { terms: comparing });
    await fixture.run();
    expect([await fixture.ends(b), measurings(fixture), left(fixture)]).toEqual([['deployed'], 1, [[], []]]);
    expect(await summaryOf(fixture, b)).toMatch(
      /1 smoke test is compared with answers of the live revision r2 that were kept, the oldest from 2026-11-21T/,
    );
  });

  test.each<[string, (fixture: QueueFixture) => DeployTerms | void]>([
    ['times are compared', () => decidedBy(['total'])],
    [
      'the test was changed',
      () => ({ ...comparing, smokeTests: comparing.smokeTests.map((each) => ({ ...each, input: 'another' })) }),
    ],
    ['another one serves by then', (fixture) => fixture.control.push([{ after: 0, status: 'DEPLOYED', commit: c }])],
  ])('it is measured again where %s', async (_, change) => {
    const fixture = await pushed();
    await fixture.run();
    const terms = change(fixture) ?? comparing;
    await fixture.push('b', { terms });
    await fixture.run();
    expect([await fixture.ends(b), measurings(fixture), left(fixture)]).toEqual([['deployed'], 2, [[], []]]);
  });

  test('what is missing of kept answers is measured', async () => {
    const fixture = await pushed();
    await fixture.run();
    const halved = (fixture.store.kept.get('d1') ?? []).map((each) => ({ ...each, answers: each.answers.slice(15) }));
    fixture.store.kept.set('d1', halved);
    await fixture.push('b', { terms: comparing });
    await fixture.run();
    expect([await fixture.ends(b), measurings(fixture), left(fixture)]).toEqual([['deployed'], 2, [[], []]]);
    const kept = fixture.store.kept.get('d1') ?? [];
    expect(kept.map(({ revisionId, answers }) => [revisionId, answers.length])).toEqual([
      ['r3', 30],
      ['r2', 30],
      ['r1', 15],
    ]);
  });

  test('a live revision that does not answer is replaced all the same, with a note', async () => {
    const fixture = new QueueFixture();
    fixture.isSilent = true;
    await pushed(fixture);
    await fixture.run();
    expect([await fixture.ends(a), left(fixture)]).toEqual([['deployed'], [[], []]]);
    expect(await summaryOf(fixture, a)).toContain(
      '1 smoke test proves nothing, because the live revision r1 gave fewer than 10 answers before the change',
    );
    expect(fixture.store.kept.get('d1') ?? []).toEqual([]);
  });

  test('a newer commit ends the measuring, and nothing is left at the live revision', async () => {
    const fixture = await pushed();
    await untilMeasuring(fixture);
    await fixture.push('b', { terms: comparing });
    await fixture.run();
    expect([await fixture.ends(a), await fixture.ends(b)]).toEqual([['superseded'], ['deployed']]);
    expect([fixture.made, fixture.serving, left(fixture)]).toEqual([1, b, [[], []]]);
  });

  test('a branch that is gone ends it too', async () => {
    const fixture = await pushed();
    await untilMeasuring(fixture);
    fixture.githubApi.head_ = undefined;
    await fixture.request(b, { terms: comparing });
    await fixture.run();
    expect([await fixture.ends(a), fixture.made, left(fixture)]).toEqual([['skipped'], 0, [[], []]]);
  });

  test('another event of the commit joins it', async () => {
    const fixture = await pushed();
    await untilMeasuring(fixture);
    await fixture.request(a, { terms: comparing, kind: 'redeploy' });
    await fixture.run();
    expect([await fixture.ends(a), fixture.made, left(fixture)]).toEqual([['deployed', 'joined'], 1, [[], []]]);
  });

  test('a rollback that a person requests goes first, and the commit is decided again', async () => {
    const fixture = await pushed();
    await fixture.run();
    await fixture.push('b', { terms: decidedBy(['total']) });
    for (let waited = 0; fixture.threads.size === 0 && waited < 60; waited += 1) await fixture.run(100);
    await fixture.request(a, { kind: 'rollback', sending: { kind: 'redeploy', revisionId: 'r1' } });
    await fixture.run();
    expect([await fixture.ends(b), fixture.serving, left(fixture)]).toEqual([['deployed'], b, [[], []]]);
    const made = fixture.control.service.revisions
      .toReversed()
      .map(({ source_revision_config: at }) => at.repo_commit_sha);
    expect(made).toEqual([first, a, first, b]);
  });

  test('one that another client replaces meanwhile is measured anew', async () => {
    const fixture = await pushed();
    await untilMeasuring(fixture);
    fixture.control.push([{ after: 0, status: 'DEPLOYED', commit: c }]);
    await fixture.run();
    expect([await fixture.ends(a), measurings(fixture), left(fixture)]).toEqual([['deployed'], 2, [[], []]]);
    expect((await fixture.intent(a)).former?.live).toBe('r2');
    expect(await summaryOf(fixture, a)).not.toContain('r1');
  });

  test('others that take its place again and again do not keep it from being sent', async () => {
    const fixture = await pushed();
    fixture.context.step = (name) => {
      fixture.steps.push(name);
      if (name === 'measuring' && measurings(fixture) < 9)
        fixture.control.push([{ after: 0, status: 'DEPLOYED', commit: c }]);
    };
    await fixture.run();
    expect([await fixture.ends(a), measurings(fixture), left(fixture)]).toEqual([['deployed'], 3, [[], []]]);
    expect(await summaryOf(fixture, a)).toContain('1 smoke test proves nothing');
  });

  test('no further test is sent to the one that replaces it, and earlier answers are not used', async () => {
    for (const isBack of [false, true]) {
      const more = comparing.smokeTests.map((each) => ({ ...each, name: 'parts', input: 'bye' }));
      const fixture = await pushed(undefined, { ...comparing, smokeTests: [...comparing.smokeTests, ...more] });
      await untilMeasuring(fixture);
      fixture.control.push([{ after: 0, status: 'DEPLOYED', commit: c }]);
      fixture.context.step = (name) => {
        fixture.steps.push(name);
        const { deployment } = fixture.control.service;
        // Revision r1 serves again once the App has seen that it does not.
        if (isBack && name === 'measured' && deployment?.active_revision_id === 'r2')
          deployment.active_revision_id = 'r1';
      };
      await fixture.run();
      expect([isBack, await fixture.ends(a), fixture.opened, left(fixture)]).toEqual([
        isBack,
        ['deployed'],
        // Three tests, of three requests at once.
        9,
        [[], []],
      ]);
      expect((await fixture.intent(a)).former?.live).toBe(isBack ? 'r1' : 'r2');
    }
  });

  test('a worse answer leads to the rollback, whose revision is compared with nothing', async () => {
    const fixture = new QueueFixture();
    fixture.verdicts.set(a, 'failed');
    await pushed(fixture);
    await fixture.run();
    expect([await fixture.ends(a), fixture.serving]).toEqual([['rolled-back', 'deployed'], first]);
    const kept = fixture.store.kept.get('d1') ?? [];
    expect([kept.map(({ revisionId }) => revisionId), left(fixture)]).toEqual([['r1'], [[], []]]);
  });
});

test('a revision of another client is compared with nothing, and its check says so', async () => {
  const fixture = new QueueFixture();
  await fixture.push('a', { reported: false });
  fixture.control.restatedByOthers();
  await pushed(fixture);
  await fixture.run();
  expect([await fixture.ends(a), (await fixture.intent(a)).how, fixture.opened]).toEqual([['deployed'], 'adopted', 0]);
  expect(await summaryOf(fixture, a)).toContain(
    'Smoke test greets has no live revision to be compared with: one right answer is enough',
  );
});

test('nothing is measured where the revision is held', async () => {
  const fixture = new QueueFixture();
  fixture.control.lacks.delete('holds');
  await pushed(fixture);
  await fixture.run();
  expect([await fixture.ends(a), measurings(fixture)]).toEqual([['deployed'], 0]);
  expect(await summaryOf(fixture, a)).not.toContain('no live revision');
});

test('a hold that the service refuses is followed by measuring, and by a request without it', async () => {
  const fixture = new QueueFixture();
  fixture.control.lacks.delete('holds');
  const detail = 'A revision of an image can not be held. Send the change without Landfall-Hold.';
  fixture.control.fails('patch', serviceError('rejected', 'patch', { status: 400, detail }));
  await pushed(fixture);
  await fixture.run();
  expect([await fixture.ends(a), measurings(fixture), fixture.made]).toEqual([['deployed'], 1, 1]);
  expect([fixture.control.count('promote'), left(fixture)]).toEqual([0, [[], []]]);
});
