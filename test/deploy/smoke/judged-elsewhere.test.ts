import { describe, expect, test } from 'vitest';
import { judgeHere, unjudged, type Judge } from '../../../src/deploy/smoke/judge.ts';
import { smoke } from '../../../src/deploy/smoke/smoke.ts';
import { hello } from '../machine/deploy-fixture.ts';
import { SimulatedClock } from '../machine/simulated-clock.ts';
import { AgentModel, breaks, says, type Answer } from './agent-model.ts';

/** The verdict on one test, judged here, or by `judge`. */
async function verdictOf(turns: Answer[], judge?: Judge, tested = hello) {
  const clock = new SimulatedClock();
  const agent = new AgentModel(clock, ...turns);
  return smoke({ tests: [tested], agent, clock, random: () => 0.5, judge, secrets: () => ['canary'] });
}

const series = { kind: 'all-right', tries: 3, atOnce: 3 } as const;

describe('answers that another process judges', () => {
  test.each<[string, Answer[], typeof hello]>([
    ['a right answer', [says('hello')], hello],
    ['a wrong answer', [says('good bye'), says('good bye')], hello],
    ['no answer at first', [breaks('busy'), says('hello')], hello],
    ['a series', [says('hello'), says('hello'), says('hello')], { ...hello, series }],
  ])('get the verdict that they get here: %s', async (_, turns, tested) => {
    const elsewhere = await verdictOf(turns, judgeHere, tested);
    expect(elsewhere).toEqual(await verdictOf(turns, undefined, tested));
  });

  test('show no secret', async () => {
    const verdict = await verdictOf([says('my canary'), says('my canary')], judgeHere);
    expect(verdict.kind).toBe('failed');
    expect(JSON.stringify(verdict)).not.toContain('canary');
  });

  test('prove nothing where it gives up', async () => {
    const judge: Judge = { ...judgeHere, nextAttempt: async () => ({ kind: 'unjudged' }) };
    const verdict = await verdictOf([says('hello')], judge);
    expect(verdict.tests.map((each) => each.verdict)).toEqual([unjudged]);
  });
});
