import { expect, test } from 'vitest';
import { compare } from '../../src/deploy/compare.ts';
import type { RunCreate } from '../../src/contract/agent/run.ts';
import { AgentModel, says, type Answer } from './agent-model.ts';
import { serviceError } from './control-model.ts';
import { hello } from './deploy-fixture.ts';
import { SimulatedClock } from './simulated-clock.ts';

const gone = serviceError('unreachable', 'stream run', { detail: 'connection refused' });

async function compared(liveAnswers: Answer[], changedAnswers: Answer[], tries = 60) {
  const clock = new SimulatedClock();
  const order: string[] = [];
  class Recorded extends AgentModel {
    readonly name: string;
    constructor(name: string, answers: Answer[]) {
      super(clock, ...answers);
      this.name = name;
    }
    override streamRun(request: RunCreate, threadId?: string) {
      order.push(this.name);
      return super.streamRun(request, threadId);
    }
  }
  const [live, changed] = [new Recorded('live', liveAnswers), new Recorded('new', changedAnswers)];
  return { comparison: await compare({ tests: [hello], live, changed, tries, clock }), order };
}

test('two agents that are alike are no worse than each other, after the fewest pairs', async () => {
  const { comparison } = await compared([says('hello', 1_000)], [says('hello', 1_000)]);
  expect(comparison).toMatchObject({
    kind: 'no-worse',
    tests: [{ pairs: 30, unreachable: 0, right: { live: 30, changed: 30 } }],
  });
});

test('asks both in turns: neither is always the first', async () => {
  const { order } = await compared([says('hello', 1_000)], [says('hello', 1_000)]);
  // After the first pair, which counts for neither, four pairs begin at once.
  expect(order.slice(0, 10)).toEqual(['live', 'new', 'live', 'new', 'live', 'new', 'new', 'live', 'new', 'live']);
});

test('a wrong agent and a slower one are worse', async () => {
  const wrong = (await compared([says('hello')], [says('good bye')])).comparison;
  expect(wrong.kind).toBe('worse');
  const { comparison } = await compared([says('hello', 1_000)], [says('hello', 1_300)]);
  expect(comparison.tests[0]?.measures).toMatchObject([
    { measure: 'pass-rate', verdict: 'no-worse' },
    { measure: 'first-event', verdict: 'worse', live: 1_000, changed: 1_300 },
    { measure: 'total', verdict: 'worse' },
    { verdict: 'no-worse' },
    { verdict: 'no-worse' },
    { verdict: 'not-measured' },
  ]);
});

test('an agent that is often unreachable is not worse', async () => {
  const answers = Array.from({ length: 400 }, (_, index) => (index % 3 === 0 ? gone : says('hello')));
  const { comparison } = await compared([says('hello')], answers);
  expect(comparison).toMatchObject({ kind: 'no-worse', tests: [{ pairs: 30, unreachable: 14 }] });
});

test('an agent that is never reached leaves it undecided, and ends soon', async () => {
  const { comparison } = await compared([says('hello')], [gone]);
  expect(comparison).toMatchObject({ kind: 'undecided', tests: [{ pairs: 0, unreachable: 8 }] });
});
