import { expect, test } from 'vitest';
import { measures } from '../../../src/deploy/file/smoke-test.ts';
import { smoke } from '../../../src/deploy/smoke/smoke.ts';
import type { RunCreate } from '../../../src/contract/agent/run.ts';
import { AgentModel, says, type Answer } from './agent-model.ts';
import { serviceError } from '../machine/control-model.ts';
import { hello } from '../machine/deploy-fixture.ts';
import { SimulatedClock } from '../machine/simulated-clock.ts';

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
  const series = { kind: 'live', atOnce: 4, drop: 0.3, decideBy: measures, tests: 1, tries } as const;
  const tests = [{ ...hello, series }];
  const { kind, tests: tested } = await smoke({ tests, live, agent: changed, clock, random: () => 0.5 });
  return { kind, comparison: tested[0]?.verdict.comparison, order };
}

test('two agents that are alike are no worse than each other, after the fewest pairs', async () => {
  const { kind, comparison } = await compared([says('hello', 1_000)], [says('hello', 1_000)]);
  expect(kind).toBe('passed');
  expect(comparison).toMatchObject({ live: { right: 30, answers: 30 }, changed: { right: 30, answers: 30 } });
});

test('sends to both in turns: neither is always the first', async () => {
  const { order } = await compared([says('hello', 1_000)], [says('hello', 1_000)]);
  // After the first pair, which counts for neither, four pairs begin at once.
  expect(order.slice(0, 10)).toEqual(['live', 'new', 'new', 'live', 'new', 'live', 'live', 'new', 'live', 'new']);
});

test('a wrong agent and a slower one are worse', async () => {
  expect((await compared([says('hello')], [says('good bye')])).kind).toBe('failed');
  const { comparison } = await compared([says('hello', 1_000)], [says('hello', 1_300)]);
  expect(comparison?.measures).toMatchObject([
    { measure: 'answered', verdict: 'no-worse' },
    { measure: 'pass-rate', verdict: 'no-worse' },
    { measure: 'first-event', verdict: 'worse', live: 1_000, changed: 1_300 },
    { measure: 'total', verdict: 'worse' },
    { verdict: 'no-worse' },
    { verdict: 'no-worse' },
    ...Array.from({ length: 4 }, () => ({ verdict: 'not-measured' })),
  ]);
});

/** Every third request of one agent brings no answer. */
const often = Array.from({ length: 400 }, (_, index) => (index % 3 === 0 ? gone : says('hello')));

test('an agent that is often unreachable is worse than one that answers, and not than its like', async () => {
  const { kind, comparison } = await compared([says('hello')], often);
  expect(kind).toBe('failed');
  expect(comparison?.measures).toContainEqual(
    expect.objectContaining({ measure: 'answered', verdict: 'worse', live: 1 }),
  );
  expect((await compared(often, often)).kind).not.toBe('failed');
});

test('an agent that is never reached is worse than one that answers; two of them prove nothing', async () => {
  const { kind, comparison } = await compared([says('hello')], [gone]);
  expect(kind).toBe('failed');
  expect(comparison?.measures).toContainEqual(expect.objectContaining({ measure: 'answered', live: 1, changed: 0 }));
  const both = await compared([gone], [gone]);
  expect([both.kind, both.order.length]).toEqual(['unproven', 16]);
});
