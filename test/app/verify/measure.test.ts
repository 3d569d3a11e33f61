import { describe, expect, test } from 'vitest';
import type { Measurement } from '../../../app/context.ts';
import type { LiveAnswers } from '../../../app/reconcile/intent.ts';
import type { Sample } from '../../../src/deploy/rules/verdict-types.ts';
import { serviceError } from '../../deploy/machine/control-model.ts';
import { says } from './agent-in-memory.ts';
import { Driving, Killed, testExpecting } from './driving.ts';

const series = { kind: 'live', atOnce: 4, tries: 30, drop: 0.3, decideBy: ['pass-rate'], tests: 1 } as const;
const compared = testExpecting('hello', { series });
const away = serviceError('unreachable', 'create thread');

const answered = (answer: Sample['answer']): Sample => ({
  answer,
  firstEventMs: 1_000,
  totalMs: 1_000,
  nodes: ['answer'],
});
const answers = (count: number, answer: Sample['answer'] = 'right'): Sample[] =>
  Array.from({ length: count }, () => answered(answer));
const measuring = (driving: Driving, more: Partial<Measurement> = {}): Measurement => ({
  test: compared,
  former: [],
  until: driving.clock.now() + 30 * 60_000,
  ...more,
});
const count = (samples: readonly Sample[]) => [
  samples.length,
  samples.filter(({ answer }) => answer === 'right').length,
];

describe('the live revision is measured', () => {
  test('with as many answers as are compared, which are counted, and nothing is left', async () => {
    const driving = new Driving(compared);
    driving.agent.commands = [says('hello', 100), says('good bye', 100), says('hello', 100)];
    const samples = await driving.measure(measuring(driving));
    expect(count(samples)).toEqual([30, 29]);
    expect(samples[0]).toMatchObject({ answer: 'right', totalMs: 100, nodes: ['answer'] });
    expect([driving.agent.requested.length, driving.agent.left]).toEqual([30, []]);
  });

  test('only for what is missing', async () => {
    const driving = new Driving(compared);
    expect(count(await driving.measure(measuring(driving, { former: answers(25, 'wrong') })))).toEqual([30, 5]);
    expect(driving.agent.requested.length).toBe(5);
  });

  test('not by requests that were not answered', async () => {
    const driving = new Driving({ ...compared, attempts: 3 });
    const test = { ...compared, attempts: 3 };
    driving.agent.failing.set('createThread', [away, away]);
    expect(count(await driving.measure(measuring(driving, { test })))).toEqual([30, 30]);
  });

  test('in vain where it does not answer, or too seldom', async () => {
    for (const [former, more] of [
      [0, 0],
      [9, 0],
      [12, 12],
    ] as const) {
      const driving = new Driving(compared);
      driving.agent.failing.set(
        'createThread',
        Array.from({ length: 99 }, () => away),
      );
      const samples = await driving.measure(measuring(driving, { former: answers(former) }));
      expect([samples.length, driving.agent.left]).toEqual([more, []]);
    }
  });

  test('until the time is over, with the answers so far', async () => {
    const driving = new Driving(compared);
    driving.agent.commands = [says('hello', 8_000)];
    const began = driving.clock.now();
    const samples = await driving.measure(measuring(driving, { until: began + 33_000 }));
    // The first one alone, three times four at once, and four that the end cuts short.
    expect([samples.length, driving.agent.requested.length, driving.agent.left]).toEqual([13, 17, []]);
    expect(driving.clock.now() - began).toBeLessThan(34_000);
  });

  test('over kills before any result is stored and after any call', async () => {
    const whole = new Driving(compared);
    let calls = 0;
    whole.agent.after = () => (calls += 1);
    await whole.measure(measuring(whole, { former: answers(27) }));
    expect(calls).toBeGreaterThan(8);
    for (let at = 1; at <= whole.steps + calls; at += 1) {
      const driving = new Driving(compared);
      driving.beforeStore = (step) => {
        if (step === at) throw new Killed();
      };
      driving.killAfterCall(at - whole.steps);
      const samples = await driving.measure(measuring(driving, { former: answers(27) }));
      expect([at, count(samples), driving.agent.left]).toEqual([at, [30, 30], []]);
    }
  });

  test('no further by a process that only removes what is left', async () => {
    const driving = new Driving(compared);
    driving.agent.after = (call) => {
      if (call === 'createRun') throw new Error('the agent is killed with the App');
    };
    await expect(driving.measure(measuring(driving))).rejects.toThrow('killed with the App');
    driving.agent.after = () => undefined;
    driving.agent.threads.add(JSON.parse(driving.stored.at(-1) ?? '{}').under[0].threadId);
    driving.restart();
    await driving.cleanUp();
    expect(driving.agent.left).toEqual([]);
  });
});

describe('a live revision is compared', () => {
  const live = (samples: readonly Sample[]): LiveAnswers => ({
    revisionId: 'r1',
    address: 'https://agent.test',
    until: 0,
    rounds: 1,
    notes: [],
    answers: [{ test: compared.name, samples }],
  });
  const tested = (samples: readonly Sample[], more: object = {}): Driving => {
    const driving = new Driving(compared);
    driving.over = { live: live(samples), how: 'triggered', former: { live: 'r1' }, ...more };
    return driving;
  };

  test.each([
    ['right answers with right ones', 'hello', 'passed'],
    ['wrong answers with right ones', 'good bye', 'failed'],
  ])('%s', async (_, says_, kind) => {
    const driving = tested(answers(30));
    driving.agent.commands = [says(says_, 100)];
    const verdict = await driving.run();
    expect([verdict.kind, verdict.tests[0]?.attempts]).toEqual([kind, 61]);
    expect(verdict.tests[0]?.verdict.comparison).toMatchObject({
      live: { right: 30, answers: 30 },
      changed: { answers: 30 },
      isBeside: false,
    });
    // The answers before the change are stored once.
    expect(JSON.parse(JSON.parse(driving.stored.at(-2) ?? '').kept).attempts.length).toBeLessThan(31);
  });

  test('with nothing where it gave no answers: nothing is proven', async () => {
    expect(await tested([]).run()).toMatchObject({
      kind: 'unproven',
      tests: [{ attempts: 0, verdict: { why: expect.stringContaining('answered nothing before the change') } }],
    });
  });

  test.each([
    ['another one served when the request was sent', { former: { live: 'r2' } }],
    ['another client made the revision', { how: 'adopted' }],
  ])('with nothing where %s: one right answer is enough', async (_, more) => {
    expect(await tested(answers(30, 'wrong'), more).run()).toMatchObject({ kind: 'passed', tests: [{ attempts: 1 }] });
  });
});
