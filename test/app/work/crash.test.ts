import { describe, expect, test } from 'vitest';
import { advanceLane } from '../../../app/work/lane.ts';
import type { World } from '../../../app/world.ts';
import { ends, serviceError, type Step } from '../../deploy/control-model.ts';
import { crashing, LaneHouse } from './lane-house.ts';
import { commitOf, tested } from './wishes.ts';

const [a, b] = [commitOf('a'), commitOf('b')];
/** A short rollout takes few looks, each of which is a place to be killed at. */
const quickly = (commit: string | undefined): Step[] =>
  ['BUILDING', 'DEPLOYED'].map((status, at) => ({ after: at * 2_500, status, ...(commit ? { commit } : {}) }));

interface Story {
  begin: (house: LaneHouse) => Promise<void>;
  /** What must hold when all is over; `isUnknown` where a request may be left that nobody can tell of. */
  holds: (house: LaneHouse, isUnknown: boolean) => Promise<void>;
}

const stories: Record<string, Story> = {
  'a push goes live': {
    begin: async (house) => void (await house.push('a', { terms: tested })),
    holds: async (house, isUnknown) => {
      expect(await house.ends(a)).toEqual([isUnknown ? 'unknown' : 'deployed']);
      expect(house.made).toBe(isUnknown ? 0 : 1);
    },
  },
  'two pushes, of which one waits': {
    begin: async (house) => {
      await house.push('a', { terms: tested });
      await house.run(3_000);
      await house.push('b', { terms: tested });
    },
    holds: async (house, isUnknown) => {
      expect(await house.ends(b)).toEqual([isUnknown ? 'unknown' : 'deployed']);
      expect(house.made).toBe(isUnknown ? 1 : 2);
    },
  },
  'a wrong answer is taken back': {
    begin: async (house) => {
      house.verdicts.set(a, 'failed');
      await house.push('a', { terms: tested });
    },
    holds: async (house, isUnknown) => {
      expect(house.made).toBeLessThanOrEqual(2);
      const told = (await house.ends(a)).join();
      expect(isUnknown ? ['unknown', 'broken,unknown'] : ['rolled-back,deployed']).toContain(told);
    },
  },
  'a build fails': {
    begin: async (house) => {
      house.control.goes.set(a, ends('BUILD_FAILED', a));
      await house.push('a', { terms: tested });
    },
    holds: async (house, isUnknown) => {
      expect(await house.ends(a)).toEqual([isUnknown ? 'unknown' : 'failed']);
      expect(house.made).toBe(isUnknown ? 0 : 1);
    },
  },
};

/** Goes from job to job; a process that is killed leaves its job, which comes again when its heartbeat was missed. */
async function toTheEnd(house: LaneHouse, world: World): Promise<void> {
  for (;;) {
    try {
      return await house.run(undefined, world);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('killed')) throw error;
      house.jobs.push({ id: 'd1', at: house.clock.now() + 20_000 });
      world = house.world;
    }
  }
}

/** What holds whatever happens: nothing stays open, no cause has two revisions, every check is told. */
async function allIsQuiet(house: LaneHouse): Promise<void> {
  const intents = [...house.store.intents.values()];
  expect(intents.filter(({ state }) => state !== 'ended')).toEqual([]);
  const made = intents.flatMap(({ how, revisionId }) => (how === 'triggered' && revisionId ? [revisionId] : []));
  expect(new Set(made).size).toBe(made.length);
  for (const { commit } of intents) expect(await house.check(commit)).toMatchObject({ status: 'completed' });
}

const writes = new Set(['takeLease', 'renewLease', 'leaveLease', 'save']);

describe.each(Object.entries(stories))('killed while %s', (_, { begin, holds }) => {
  describe.each(['before', 'after'] as const)('%s a write to the store', (phase) => {
    test.each([true, false])('whichever it is: the next process goes on (keys heeded: %s)', async (heedsKeys) => {
      let calls = Infinity;
      for (let nth = 1; nth <= calls; nth += 1) {
        const house = new LaneHouse();
        house.control.heedsKeys = heedsKeys;
        house.control.live = quickly;
        await begin(house);
        let count = 0;
        const dying = crashing(house.store, (method) => {
          // Killed at a read is killed after the write before it.
          if (writes.has(method)) count += 1;
          else return count >= nth ? 'before' : undefined;
          // The dead process does nothing more, not even to give back what it holds.
          if (count === nth) return phase;
          return count > nth ? 'before' : undefined;
        });
        await toTheEnd(house, { ...house.world, store: dying });
        calls = Math.min(calls, count < nth ? nth - 1 : Infinity);
        await allIsQuiet(house);
        const isUnknown = [...house.store.intents.values()].some(({ end }) => end?.kind === 'unknown');
        // Only a request that never went out and that nobody may repeat is left open.
        expect(isUnknown && heedsKeys).toBe(false);
        await holds(house, isUnknown);
      }
      expect(calls).toBeGreaterThan(10);
    });
  });
});

test.each(['before-send', 'sent', 'answer-stored', 'followed-once', 'smoke-began', 'before-conclusion'])(
  'killed at the step %s, with another delivery of the same push besides: one revision, live and told',
  async (name) => {
    const house = new LaneHouse();
    await house.push('a', { terms: tested });
    await house.wish(a, { terms: tested });
    let isDead = false;
    const step = (reached: string) => {
      if (reached !== name) return;
      isDead = true;
      throw new Error(`killed at ${name}`);
    };
    const dying = crashing(house.store, () => (isDead ? 'before' : undefined));
    await toTheEnd(house, { ...house.world, store: dying, step });
    expect(isDead).toBe(true);
    await allIsQuiet(house);
    expect(await house.ends(a)).toEqual(['deployed', 'joined']);
    expect(house.made).toBe(1);
  },
);

test('two processes on one lane: one works, and whoever lost the lease stores nothing', async () => {
  const house = new LaneHouse();
  await house.push('a');
  const signal = new AbortController().signal;
  let slow: (() => void) | undefined;
  const held = new Promise<void>((resolve) => (slow = resolve));
  const stuck: World = {
    ...house.world,
    step: async (name) => {
      if (name === 'sent') await held;
    },
  };
  const first = advanceLane('d1', stuck, signal);
  await expect.poll(() => house.control.count('patch')).toBe(1);
  await advanceLane('d1', house.world, signal);
  expect(house.control.count('patch')).toBe(1);
  house.clock.to(house.clock.now() + 61_000);
  await house.run();
  expect(await house.ends(a)).toEqual(['deployed']);
  slow?.();
  await first;
  expect(await house.ends(a)).toEqual(['deployed']);
  expect(house.made).toBe(1);
  expect(house.logged).toContain('another process goes on with deployment d1');
});

test('an answer that comes after the lease was lost changes nothing of what the next process found', async () => {
  const house = new LaneHouse();
  house.control.heedsKeys = false;
  house.control.fails('patch', serviceError('unreachable', 'patch', { effect: 'unknown' }), { applied: true });
  await house.push('a');
  await house.run();
  expect(await house.ends(a)).toEqual(['deployed']);
  expect(house.control.count('patch')).toBe(1);
});
