import { describe, expect, test } from 'vitest';
import type { DeployTerms } from '../../../app/reconcile/deploy-request.ts';
import { goesLive, serviceError } from '../../deploy/machine/control-model.ts';
import { heldAddress } from '../../deploy/machine/model-holds.ts';
import { QueueFixture } from './queue-fixture.ts';
import { commitOf, terms, tested } from './requests.ts';

const conversations = { newest: 20, timeoutMs: 60_000 };
const [first, a, b] = [commitOf('0'), commitOf('a'), commitOf('b')];
const held = heldAddress('r2');
const live = 'https://agent.test';

async function holding(kind: 'passed' | 'failed' | 'unproven' = 'passed', more: Partial<DeployTerms> = {}) {
  const fixture = new QueueFixture();
  fixture.control.lacks.delete('holds');
  fixture.control.lacks.delete('verdicts');
  fixture.verdicts.set(a, kind);
  await fixture.push('a', { terms: { ...tested, ...more } });
  return fixture;
}

const decisions = ({ control }: QueueFixture) => [control.count('promote'), control.count('discard')];
const summaryOf = async (fixture: QueueFixture): Promise<string> =>
  (await fixture.check(a))?.summary.replaceAll('&#58;', ':') ?? '';
const reported = ({ control }: QueueFixture) => control.verdicts.map(({ report: { kind } }) => kind);

/** Runs until the revision is held and its tests have begun. */
async function untilHeld(fixture: QueueFixture): Promise<void> {
  for (let waited = 0; (await fixture.intent(a)).hold === undefined && waited < 120; waited += 1)
    await fixture.run(500);
  expect(fixture.tested).toEqual([held]);
}

describe('a held revision', () => {
  test('that passes is tested at its own address, and promoted then', async () => {
    const fixture = await holding();
    await untilHeld(fixture);
    expect(fixture.serving).toBe(first);
    expect(await fixture.check(a)).toMatchObject({
      status: 'in_progress',
      title: 'Held before traffic, running smoke tests',
      summary: expect.stringContaining('it gets no traffic until it is promoted'),
    });
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['deployed']);
    expect([fixture.serving, ...decisions(fixture)]).toEqual([a, 1, 0]);
    expect(fixture.tested).toEqual([held]);
    expect(reported(fixture)).toEqual(['passed']);
    const check = await fixture.check(a);
    expect(check?.summary).toContain('is live and passed 1 smoke test before it got traffic.');
    expect(check?.text).toContain('Smoke tests before traffic');
  });

  test('that fails is discarded, and the live one serves on', async () => {
    const fixture = await holding('failed');
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['discarded']);
    expect([fixture.serving, ...decisions(fixture)]).toEqual([first, 0, 1]);
    expect([fixture.control.count('redeploy'), reported(fixture)]).toEqual([0, ['failed']]);
    expect(await fixture.check(a)).toMatchObject({
      conclusion: 'failure',
      title: 'Discarded before it got traffic: greets: nothing was expected',
    });
    expect(await summaryOf(fixture)).toMatch(
      /^Revision r2 failed its smoke tests before it got traffic, and was discarded: greets: .*\. Revision r1 still serves\./,
    );
  });

  test('with conversations alone is held as well, and both revisions are known to its tests', async () => {
    for (const kind of ['failed', 'passed'] as const) {
      const fixture = await holding(kind, { smokeTests: [], conversations });
      for (let waited = 0; (await fixture.intent(a)).hold === undefined && waited < 120; waited += 1)
        await fixture.run(500);
      expect((await fixture.intent(a)).hold).toMatchObject({ address: held, live });
      expect(await summaryOf(fixture)).toContain('and copies of the newest 20 conversations are tried.');
      await fixture.run();
      expect(await fixture.ends(a)).toEqual([kind === 'failed' ? 'discarded' : 'deployed']);
      expect(decisions(fixture)).toEqual(kind === 'failed' ? [0, 1] : [1, 0]);
      expect(await summaryOf(fixture)).not.toContain('not tried');
    }
  });

  test('that is unproven is discarded, and its check says why and what to do', async () => {
    const fixture = await holding('unproven');
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['discarded']);
    expect([fixture.serving, ...decisions(fixture)]).toEqual([first, 0, 1]);
    expect(reported(fixture)).toEqual(['unproven']);
    const summary = await summaryOf(fixture);
    expect(summary).toContain('was discarded before it got traffic, because its smoke tests proved nothing');
    expect(summary).toContain('press Re-run');
  });

  test('that is unproven is promoted where the deploy file says so', async () => {
    const fixture = await holding('unproven', { onUnproven: 'promote' });
    fixture.because = 'disagreement';
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['unproven']);
    expect([fixture.serving, ...decisions(fixture)]).toEqual([a, 1, 0]);
    expect((await fixture.check(a))?.summary).toContain('Revision r2 was promoted, but is not proven to answer');
  });

  test('is decided about once where the response is lost', async () => {
    for (const [kind, operation] of [
      ['passed', 'promote'],
      ['failed', 'discard'],
    ] as const) {
      const fixture = await holding(kind);
      const lost = serviceError('unreachable', operation, { effect: 'unknown' });
      fixture.control.fails(operation, lost, { applied: true });
      await fixture.run();
      expect(await fixture.ends(a)).toEqual([kind === 'passed' ? 'deployed' : 'discarded']);
      expect(fixture.control.count(operation)).toBe(1);
    }
  });

  test('is decided about once the service is available again', async () => {
    const fixture = await holding();
    fixture.control.fails('promote', serviceError('busy', 'promote', { status: 503 }), { times: 3 });
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['deployed']);
    expect([fixture.serving, ...decisions(fixture)]).toEqual([a, 4, 0]);
  });

  test('that a person promotes meanwhile is tested once it is live', async () => {
    const fixture = await holding('failed');
    await untilHeld(fixture);
    await fixture.control.promoteRevision('d1', 'r2');
    await fixture.run();
    expect(fixture.tested).toEqual([held, live]);
    expect(await fixture.ends(a)).toEqual(['rolled-back', 'deployed']);
    expect([fixture.serving, ...decisions(fixture)]).toEqual([first, 1, 0]);
    expect(reported(fixture)).toEqual(['failed', 'passed']);
  });

  test.each(['a person discards', 'the service discards at the end of its hold'])(
    'that %s is not live',
    async (who) => {
      const fixture = await holding('passed');
      await untilHeld(fixture);
      if (who.startsWith('a person')) await fixture.control.discardRevision('d1', 'r2', { why: 'not today' });
      else fixture.clock.to(fixture.clock.now() + 31 * 60_000);
      await fixture.run();
      expect(await fixture.ends(a)).toEqual(['discarded']);
      expect([fixture.serving, fixture.control.count('promote'), reported(fixture)]).toEqual([first, 0, []]);
      const why = who.startsWith('a person') ? 'not today' : 'It was held and not promoted';
      expect((await fixture.check(a))?.title).toBe('Discarded before it got traffic');
      expect(await summaryOf(fixture)).toMatch(new RegExp(`, and not by this App: .*${why}`));
    },
  );

  test('that another one replaced once it was live was proven all the same', async () => {
    const fixture = await holding();
    fixture.context.step = (name) => {
      if (name === 'before-conclusion') fixture.control.push([{ after: 0, status: 'DEPLOYED', commit: b }]);
    };
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['deployed']);
    expect([(await fixture.intent(a)).verdict?.kind, reported(fixture)]).toEqual(['passed', ['passed']]);
  });

  /** Another client's revision of the first commit is held. */
  async function holdingAnothers(): Promise<QueueFixture> {
    const fixture = new QueueFixture();
    fixture.control.lacks.delete('holds');
    await fixture.control.patchDeployment('d1', { source_revision_config: { repo_ref: 'main' } }, { holdSeconds: 600 });
    await fixture.run(10_000);
    await fixture.control.getRevision('d1', 'r2');
    await fixture.run(30_000);
    expect((await fixture.control.getRevision('d1', 'r2')).hold?.ends_at).not.toBeNull();
    return fixture;
  }

  test('of another client is followed and not decided about', async () => {
    const fixture = await holdingAnothers();
    await fixture.request(first, { terms: tested, kind: 'rerun' });
    await fixture.run();
    expect(await fixture.ends(first)).toEqual(['discarded']);
    expect([...decisions(fixture), fixture.tested.length]).toEqual([0, 0, 0]);
  });

  test('of another client is waited for by a push', async () => {
    const fixture = await holdingAnothers();
    await fixture.push('b', { terms });
    await fixture.run();
    expect([await fixture.ends(b), fixture.serving, ...decisions(fixture)]).toEqual([['deployed'], b, 0, 0]);
    expect(fixture.control.service.revision('r2')?.status_message).toContain('It was held and not promoted');
  });
});

describe('a revision that the App held and no longer follows', () => {
  test('is discarded where another commit waits for it', async () => {
    const fixture = await holding();
    // The branch moved for a moment when it was built.
    fixture.control.scripts = [goesLive(b)];
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['other-commit', 'deployed']);
    expect([fixture.serving, ...decisions(fixture)]).toEqual([a, 1, 1]);
  });

  test('is tested and promoted where its commit is the one that is requested', async () => {
    const fixture = await holding();
    fixture.control.scripts = [goesLive(b)];
    await fixture.run(2_000);
    await fixture.push('b', { terms: tested });
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['other-commit']);
    expect(await fixture.ends(b)).toEqual(['deployed', 'joined']);
    expect([fixture.serving, fixture.made, ...decisions(fixture)]).toEqual([b, 1, 1, 0]);
  });
});

test('of two pushes the newer serves, each tested before traffic', async () => {
  const fixture = await holding('failed');
  await untilHeld(fixture);
  await fixture.push('b', { terms: tested });
  await fixture.run();
  expect([await fixture.ends(a), await fixture.ends(b)]).toEqual([['discarded'], ['deployed']]);
  expect([fixture.serving, ...decisions(fixture)]).toEqual([b, 1, 1]);
  expect(fixture.tested).toEqual([held, heldAddress('r3')]);
});

test.each(['App', 'service'])(
  'a revision that waited long for another of the %s is held all the same',
  async (whose) => {
    const fixture = await holding();
    const minute = 60_000;
    fixture.verdicts.set(b, 'failed');
    const slow = goesLive(a).map((step) => ({ ...step, after: step.after === 30_000 ? 13 * minute : step.after }));
    fixture.control.goes.set(a, slow);
    if (whose === 'service') fixture.control.restatedByOthers();
    await fixture.run(minute / 2);
    await fixture.push('b', { terms: tested });
    await fixture.run(12 * minute);
    fixture.control.fails('features', serviceError('busy', 'features', { status: 503 }), { times: 2 });
    await fixture.run();
    expect([await fixture.ends(b), fixture.serving]).toEqual([['discarded'], a]);
  },
);

describe('a revision is tested once it is live', () => {
  test.each<[string, Partial<DeployTerms>, boolean]>([
    ['where the file says so', { verify: 'after-traffic' }, true],
    ['where the service holds none', {}, false],
  ])('%s', async (_, more, holds) => {
    const fixture = await holding('passed', { ...more, conversations });
    if (!holds) fixture.control.lacks.add('holds');
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['deployed']);
    expect([fixture.tested, ...decisions(fixture)]).toEqual([[live], 0, 0]);
    expect(await summaryOf(fixture)).not.toContain('verify');
    expect(await summaryOf(fixture)).toContain(
      'The conversations are not tried: the App tries them only on a revision',
    );
  });

  test('where it stays unknown whether the service holds any, with a note', async () => {
    for (const [times, addresses] of [
      [2, [held]],
      [60, [live]],
    ] as const) {
      const fixture = await holding('passed');
      fixture.control.fails('features', serviceError('busy', 'features', { status: 500 }), { times });
      await fixture.run();
      expect([await fixture.ends(a), fixture.tested]).toEqual([['deployed'], addresses]);
      expect((await summaryOf(fixture)).includes('The revision is tested once it is live')).toBe(times > 2);
    }
  });

  test.each<[string, Partial<DeployTerms>, string | null]>([
    ['no tests', {}, 'r1'],
    ['only conversations, and nothing serves that has any', { conversations }, null],
  ])('where there are %s', async (_, more, serving) => {
    const fixture = await holding('passed', { smokeTests: terms.smokeTests, ...more });
    const { deployment } = fixture.control.service;
    if (deployment) deployment.active_revision_id = serving;
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['deployed']);
    expect(decisions(fixture)).toEqual([0, 0]);
    expect(await summaryOf(fixture)).not.toContain('not tried');
  });

  test.each(['the service holds none', 'the service refuses this hold'])('where %s, with a note', async (why) => {
    const fixture = await holding('passed', { verify: 'before-traffic' });
    const detail = 'A revision of an image can not be held. Send the change without Landfall-Hold.';
    if (why.endsWith('none')) fixture.control.lacks.add('holds');
    else fixture.control.fails('patch', serviceError('rejected', 'patch', { status: 400, detail }));
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['deployed']);
    expect([fixture.tested, fixture.made]).toEqual([[live], 1]);
    expect(await summaryOf(fixture)).toContain('verify: before-traffic is not possible');
  });
});
