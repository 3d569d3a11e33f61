import { describe, expect, test } from 'vitest';
import { reconcileDeployment } from '../../../app/reconcile/reconcile-deployment.ts';
import type { AppContext } from '../../../app/context.ts';
import { ends, serviceError, type Step } from '../../deploy/machine/control-model.ts';
import { crashing, QueueFixture } from './queue-fixture.ts';
import { commitOf, comparing, tested } from './requests.ts';
import type { IntentFields } from '../../../app/reconcile/intent.ts';

const [a, b] = [commitOf('a'), commitOf('b')];
/** A short rollout takes few looks, each of which is a place to be killed at. */
const quickly = (commit: string | undefined): Step[] =>
  ['BUILDING', 'DEPLOYED'].map((status, at) => ({ after: at * 2_500, status, ...(commit ? { commit } : {}) }));

interface Scenario {
  begin: (fixture: QueueFixture) => Promise<void>;
  /** What must hold at the end; `isUnknown` if a request with an unknown outcome may be left. */
  holds: (fixture: QueueFixture, isUnknown: boolean) => Promise<void>;
}

const scenarios: Record<string, Scenario> = {
  'a push goes live': {
    begin: async (fixture) => {
      fixture.control.lacks.delete('verdicts');
      await fixture.push('a', { terms: tested });
    },
    holds: async (fixture, isUnknown) => {
      expect(await fixture.ends(a)).toEqual([isUnknown ? 'unknown' : 'deployed']);
      expect(fixture.control.verdicts.map(({ report }) => report.kind)).toEqual(isUnknown ? [] : ['passed']);
      expect(fixture.made).toBe(isUnknown ? 0 : 1);
    },
  },
  'the live revision is measured': {
    begin: async (fixture) => {
      await fixture.push('a', { terms: comparing });
    },
    holds: async (fixture, isUnknown) => {
      expect(await fixture.ends(a)).toEqual([isUnknown ? 'unknown' : 'deployed']);
      const revisions = (fixture.store.kept.get('d1') ?? []).map(({ revisionId }) => revisionId);
      expect(revisions).toEqual(isUnknown ? ['r1'] : ['r2', 'r1']);
    },
  },
  'the live revision is measured for a commit that another one supersedes': {
    begin: async (fixture) => {
      await fixture.push('a', { terms: comparing });
      for (let waited = 0; fixture.threads.size === 0 && waited < 60; waited += 1) await fixture.run(100);
      expect(fixture.threads.size).toBe(3);
      await fixture.push('b', { terms: comparing });
    },
    holds: async (fixture, isUnknown) => {
      expect(await fixture.ends(a)).toEqual(['superseded']);
      expect(await fixture.ends(b)).toEqual([isUnknown ? 'unknown' : 'deployed']);
    },
  },
  'two pushes, of which one waits': {
    begin: async (fixture) => {
      await fixture.push('a', { terms: tested });
      await fixture.run(3_000);
      await fixture.push('b', { terms: tested });
    },
    holds: async (fixture, isUnknown) => {
      expect(await fixture.ends(b)).toEqual([isUnknown ? 'unknown' : 'deployed']);
      expect(fixture.made).toBe(isUnknown ? 1 : 2);
    },
  },
  'a wrong answer is taken back': {
    begin: async (fixture) => {
      fixture.control.lacks.delete('verdicts');
      fixture.verdicts.set(a, 'failed');
      await fixture.push('a', { terms: tested });
    },
    holds: async (fixture, isUnknown) => {
      expect(fixture.made).toBeLessThanOrEqual(2);
      const kinds = fixture.control.verdicts.map(({ report }) => report.kind);
      if (!isUnknown) expect(kinds).toEqual(['failed', 'passed']);
      const reported = (await fixture.ends(a)).join();
      expect(isUnknown ? ['unknown', 'broken,unknown'] : ['rolled-back,deployed']).toContain(reported);
    },
  },
  'a push waits for checks': {
    begin: async (fixture) => {
      fixture.githubApi.checks.set(a, [{ name: 'build', state: 'passed' }]);
      const deployAfter = { checks: ['build', 'lint'], timeoutMs: 3_600_000 };
      await fixture.push('a', { terms: { ...tested, rules: { ...tested.rules, deployAfter } } });
      await fixture.run(1_000);
      expect([await fixture.ends(a), fixture.made]).toEqual([['waiting'], 0]);
      // Its event is lost: the App looks by itself.
      fixture.githubApi.checks.set(
        a,
        ['build', 'lint'].map((name) => ({ name, state: 'passed' })),
      );
    },
    holds: async (fixture, isUnknown) => {
      expect(await fixture.ends(a)).toEqual([isUnknown ? 'unknown' : 'deployed']);
      expect(fixture.made).toBe(isUnknown ? 0 : 1);
    },
  },
  'a check fails that a push waits for, and the next push waits': {
    begin: async (fixture) => {
      const deployAfter = { checks: ['lint'], timeoutMs: 3_600_000 };
      const terms = { ...tested, rules: { ...tested.rules, deployAfter } };
      await fixture.push('a', { terms });
      await fixture.run(1_000);
      fixture.githubApi.checks.set(a, [{ name: 'lint', state: 'failed' }]);
      await fixture.store.wake('d1');
      await fixture.run(1_000);
      await fixture.push('b', { terms });
      fixture.githubApi.checks.set(b, [{ name: 'lint', state: 'passed' }]);
    },
    holds: async (fixture, isUnknown) => {
      expect(await fixture.ends(a)).toEqual(['skipped']);
      expect(await fixture.ends(b)).toEqual([isUnknown ? 'unknown' : 'deployed']);
      expect(fixture.made).toBe(isUnknown ? 0 : 1);
    },
  },
  'a held revision is promoted': {
    begin: async (fixture) => {
      fixture.control.lacks.delete('verdicts');
      fixture.control.lacks.delete('holds');
      await fixture.push('a', { terms: tested });
    },
    holds: async (fixture, isUnknown) => {
      expect(await fixture.ends(a)).toEqual([isUnknown ? 'unknown' : 'deployed']);
      expect(fixture.control.verdicts.map(({ report }) => report.kind)).toEqual(isUnknown ? [] : ['passed']);
      expect([fixture.control.count('promote'), fixture.control.count('discard')]).toEqual([isUnknown ? 0 : 1, 0]);
    },
  },
  'a held revision is discarded': {
    begin: async (fixture) => {
      fixture.control.lacks.delete('verdicts');
      fixture.control.lacks.delete('holds');
      fixture.verdicts.set(a, 'failed');
      await fixture.push('a', { terms: tested });
    },
    holds: async (fixture, isUnknown) => {
      expect(await fixture.ends(a)).toEqual([isUnknown ? 'unknown' : 'discarded']);
      expect(fixture.control.verdicts.map(({ report }) => report.kind)).toEqual(isUnknown ? [] : ['failed']);
      expect([fixture.control.count('promote'), fixture.control.count('discard')]).toEqual([0, isUnknown ? 0 : 1]);
      expect(fixture.serving).toBe(commitOf('0'));
    },
  },
  'a build fails': {
    begin: async (fixture) => {
      fixture.control.goes.set(a, ends('BUILD_FAILED', a));
      await fixture.push('a', { terms: tested });
    },
    holds: async (fixture, isUnknown) => {
      expect(await fixture.ends(a)).toEqual([isUnknown ? 'unknown' : 'failed']);
      expect(fixture.made).toBe(isUnknown ? 0 : 1);
    },
  },
};

/** Goes from job to job; a process that is killed leaves its job, which comes again when its heartbeat was missed. */
async function toTheEnd(fixture: QueueFixture, context: AppContext): Promise<void> {
  for (;;) {
    try {
      return await fixture.run(undefined, context);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('killed')) throw error;
      fixture.jobs.push({ id: 'd1', at: fixture.clock.now() + 20_000 });
      context = fixture.context;
    }
  }
}

/** Holds in every case: nothing stays open, no cause has two revisions, every check is reported. */
async function allIsQuiet(fixture: QueueFixture): Promise<void> {
  const intents: IntentFields[] = [...fixture.store.intents.values()];
  expect(intents.filter(({ state }) => state !== 'ended')).toEqual([]);
  const made = intents.flatMap(({ how, revisionId }) => (how === 'triggered' && revisionId ? [revisionId] : []));
  expect(new Set(made).size).toBe(made.length);
  expect([[...fixture.threads], fixture.mistaken]).toEqual([[], []]);
  for (const { commit } of intents) expect(await fixture.check(commit)).toMatchObject({ status: 'completed' });
}

const writes = new Set(['takeLease', 'renewLease', 'leaveLease', 'save']);

describe.each(Object.entries(scenarios))('killed while %s', (_, { begin, holds }) => {
  describe.each(['before', 'after'] as const)('%s a write to the store', (phase) => {
    test.each([true, false])('the next process continues (idempotency keys: %s)', async (honoursKeys) => {
      let calls = Infinity;
      for (let nth = 1; nth <= calls; nth += 1) {
        const fixture = new QueueFixture();
        fixture.control.honoursKeys = honoursKeys;
        fixture.control.live = quickly;
        await begin(fixture);
        let count = 0;
        const dying = crashing(fixture.store, (method) => {
          // Killed at a read is killed after the write before it.
          if (writes.has(method)) count += 1;
          else return count >= nth ? 'before' : undefined;
          // The dead process does nothing more, not even release its lease.
          if (count === nth) return phase;
          return count > nth ? 'before' : undefined;
        });
        await toTheEnd(fixture, { ...fixture.context, store: dying });
        calls = Math.min(calls, count < nth ? nth - 1 : Infinity);
        await allIsQuiet(fixture);
        const isUnknown = [...fixture.store.intents.values()].some(({ end }: IntentFields) => end?.kind === 'unknown');
        // Only a sent request that must not be repeated may stay open.
        expect(isUnknown && honoursKeys).toBe(false);
        await holds(fixture, isUnknown);
      }
      expect(calls).toBeGreaterThan(10);
    });
  });
});

test.each<[name: string, when?: string]>([
  ['measuring', 'compared with the live one'],
  ['measured', 'compared with the live one'],
  ['before-send'],
  ['sent'],
  ['answer-stored'],
  ['followed-once'],
  ['held', 'before traffic'],
  ['before-decision', 'before traffic'],
  ['decided', 'before traffic'],
  ['smoke-began', 'before traffic'],
  ['smoke-began'],
  ['before-conclusion', 'before traffic'],
  ['before-conclusion'],
])('makes one revision after a crash at step %s %s and a second delivery', async (name, when) => {
  const fixture = new QueueFixture();
  if (when === 'before traffic') fixture.control.lacks.delete('holds');
  const terms = when?.startsWith('compared') ? comparing : tested;
  await fixture.push('a', { terms });
  await fixture.request(a, { terms });
  let isDead = false;
  const step = (reached: string) => {
    if (reached !== name) return;
    isDead = true;
    throw new Error(`killed at ${name}`);
  };
  const dying = crashing(fixture.store, () => (isDead ? 'before' : undefined));
  await toTheEnd(fixture, { ...fixture.context, store: dying, step });
  expect(isDead).toBe(true);
  await allIsQuiet(fixture);
  expect(await fixture.ends(a)).toEqual(['deployed', 'joined']);
  expect([fixture.made, fixture.control.count('promote')]).toEqual([1, when === 'before traffic' ? 1 : 0]);
});

test('of two processes on one queue, the one without the lease stores nothing', async () => {
  const fixture = new QueueFixture();
  await fixture.push('a');
  const signal = new AbortController().signal;
  let slow: (() => void) | undefined;
  const held = new Promise<void>((resolve) => (slow = resolve));
  const stuck: AppContext = {
    ...fixture.context,
    step: async (name) => {
      if (name === 'sent') await held;
    },
  };
  const first = reconcileDeployment('d1', stuck, signal);
  await expect.poll(() => fixture.control.count('patch')).toBe(1);
  await reconcileDeployment('d1', fixture.context, signal);
  expect(fixture.control.count('patch')).toBe(1);
  fixture.clock.to(fixture.clock.now() + 61_000);
  await fixture.run();
  expect(await fixture.ends(a)).toEqual(['deployed']);
  slow?.();
  await first;
  expect(await fixture.ends(a)).toEqual(['deployed']);
  expect(fixture.made).toBe(1);
  expect(fixture.logged).toContain('another process took over deployment d1');
});

test('ignores a response that arrives after the lease was lost', async () => {
  const fixture = new QueueFixture();
  fixture.control.honoursKeys = false;
  fixture.control.fails('patch', serviceError('unreachable', 'patch', { effect: 'unknown' }), { applied: true });
  await fixture.push('a');
  await fixture.run();
  expect(await fixture.ends(a)).toEqual(['deployed']);
  expect(fixture.control.count('patch')).toBe(1);
});
