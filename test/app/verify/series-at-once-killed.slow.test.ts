import { describe, expect, test } from 'vitest';
import type { Series, SmokeTest } from '../../../src/deploy/file/smoke-test.ts';
import { says } from './agent-in-memory.ts';
import { drivingBeside, Killed, type Driving, listensFor, testExpecting } from './driving.ts';

const live: Series = { kind: 'live', atOnce: 3, tries: 20, drop: 0.3, decideBy: ['pass-rate'], tests: 1 };

describe('a crash in a series at once', () => {
  const short: Series = { kind: 'all-right', tries: 4, atOnce: 3 };
  const plans: [string, SmokeTest][] = [
    ['of runs in the background', testExpecting('hello', { series: short })],
    ['of runs of assistants', testExpecting('hello', { series: short, context: { tone: 'calm' } })],
    ['of streams', listensFor('hello', { series: short })],
    ['of pairs', testExpecting('hello', { series: live })],
  ];
  /** Their answers come one after the other. */
  const slowly = (driving: Driving): Driving => {
    driving.agent.commands = [900, 2_000, 1_200, 1_600].map((ms) => says('hello', ms));
    return driving;
  };
  const resultOf = async (driving: Driving) => {
    const { kind, tests } = await driving.run();
    return [kind, tests[0]?.attempts, tests[0]?.verdict.comparison?.changed.answers, driving.agent.left];
  };

  test.each(plans)('%s: before any result is stored counts each answer once', async (_, smokeTest) => {
    const whole = slowly(drivingBeside(smokeTest));
    const result = await resultOf(whole);
    expect([result[0], result[3]]).toEqual(['passed', []]);
    for (let at = 1; at <= whole.steps; at += 1) {
      const driving = slowly(drivingBeside(smokeTest));
      driving.beforeStore = (step) => {
        if (step === at) throw new Killed();
      };
      expect([at, ...(await resultOf(driving))]).toEqual([at, ...result]);
    }
  });

  test.each(plans)('%s: after any call leaves nothing behind', async (_, smokeTest) => {
    const whole = slowly(drivingBeside(smokeTest));
    let calls = 0;
    for (const agent of [whole.agent, whole.live]) if (agent) agent.after = () => (calls += 1);
    const result = await resultOf(whole);
    expect(calls).toBeGreaterThan(12);
    // The first rounds are like the others.
    for (let at = 1; at <= Math.min(calls, 60); at += 1) {
      const driving = slowly(drivingBeside(smokeTest));
      driving.killAfterCall(at);
      expect([at, ...(await resultOf(driving))]).toEqual([at, ...result]);
    }
  });
});
