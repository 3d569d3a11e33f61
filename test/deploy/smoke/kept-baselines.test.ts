import { expect, test } from 'vitest';
import type { SmokeTest } from '../../../src/deploy/file/smoke-test.ts';
import {
  hashOfTest,
  keepBaselines,
  readBaselines,
  type BaselineContext,
} from '../../../src/deploy/smoke/kept-baselines.ts';
import type { Sample } from '../../../src/deploy/rules/verdict-types.ts';
import { ControlModel, serviceError } from '../machine/control-model.ts';
import { hello } from '../machine/deploy-fixture.ts';
import { SimulatedClock } from '../machine/simulated-clock.ts';

const sample: Sample = {
  answer: 'right',
  firstEventMs: undefined,
  totalMs: 900,
  nodes: ['plan', 'say'],
  tools: [],
  tokens: undefined,
  cost: undefined,
};
const samples: readonly Sample[] = [
  sample,
  { ...sample, answer: 'late', firstEventMs: 120, tools: ['search'], tokens: 400, cost: 0.002 },
  // Refused by the agent.
  { ...sample, answer: 'wrong', totalMs: undefined, nodes: [] },
];

const keepBaseline = (of: SmokeTest, measured: readonly Sample[], context: BaselineContext): Promise<void> =>
  keepBaselines(new Map([[of, measured]]), context);
const readBaseline = async (of: SmokeTest, context: BaselineContext) => (await readBaselines([of], context)).get(of);

function keptContext() {
  const clock = new SimulatedClock();
  const control = new ControlModel(clock);
  control.lacks.delete('baselines');
  const missed: unknown[] = [];
  const context = {
    deploymentId: 'd1',
    revisionId: 'r1',
    control,
    clock,
    redact: (text: string) => text.replaceAll('secret', '***'),
    missed: (error: unknown) => void missed.push(error),
  };
  return { control, context, missed, at: new Date(clock.now()).toISOString() };
}

test('what is kept of a test is read as it was measured, for its revision only', async () => {
  const { context, missed, at } = keptContext();
  expect(await readBaseline(hello, context)).toBeUndefined();
  await keepBaseline(hello, samples, context);
  expect(await readBaseline({ ...hello, name: 'renamed' }, context)).toEqual({ samples, takenAt: at });
  expect(await readBaseline(hello, { ...context, revisionId: 'r2' })).toBeUndefined();
  expect(missed).toEqual([]);
});

test.each<[what: string, change: Partial<SmokeTest>]>([
  ['assistant', { assistant: 'other' }],
  ['input', { input: { text: 'hi' } }],
  ['context', { context: { language: 'de' } }],
  ['kind of thread', { thread: !hello.thread }],
  ['expectation', { expect: [...hello.expect, { kind: 'total', withinMs: 5 }] }],
  ['price', { prices: { 'gpt-4o': { input: 1, output: 2 } } }],
  ['time limit', { timeoutMs: hello.timeoutMs + 1 }],
])('what another test measured is not used: another %s', async (_, change) => {
  const { context } = keptContext();
  await keepBaseline(hello, samples, context);
  expect(await readBaseline({ ...hello, ...change }, context)).toBeUndefined();
});

test('the order of the members of an input makes no other test', () => {
  const [one, other] = [
    { a: 1, b: { c: [1, 2], d: 2 } },
    { b: { d: 2, c: [1, 2] }, a: 1 },
  ];
  expect(hashOfTest({ ...hello, input: one })).toBe(hashOfTest({ ...hello, input: other }));
  expect(hashOfTest({ ...hello, input: { ...one, b: { c: [2, 1], d: 2 } } })).not.toBe(
    hashOfTest({ ...hello, input: one }),
  );
});

test('answers whose nodes would be cut or masked are not kept, and masked ones are not used', async () => {
  const { control, context } = keptContext();
  for (const nodes of [['secret'], Array<string>(51).fill('say'), ['x'.repeat(201)]]) {
    await keepBaseline(hello, [{ ...sample, nodes }], context);
  }
  expect(control.baselines.size).toBe(0);
  await keepBaseline(hello, [{ ...sample, nodes: ['***'] }], context);
  expect([control.baselines.size, await readBaseline(hello, context)]).toEqual([1, undefined]);
});

test('only so many of the newest answers are kept as the service takes', async () => {
  const { context } = keptContext();
  const many = Array.from({ length: 300 }, (_, totalMs) => ({ ...sample, totalMs }));
  await keepBaseline(hello, many, context);
  expect((await readBaseline(hello, context))?.samples.map(({ totalMs }) => totalMs)).toEqual(
    many.slice(140).map(({ totalMs }) => totalMs),
  );
  const long = many.map((each) => ({ ...each, nodes: Array<string>(50).fill('x'.repeat(50)) }));
  await keepBaseline(hello, long, context);
  expect((await readBaseline(hello, context))?.samples).toHaveLength(40);
});

test('a service that keeps no baselines is sent none, and a failure is reported and changes nothing', async () => {
  const { control, context, missed } = keptContext();
  control.lacks.add('baselines');
  await keepBaseline(hello, samples, context);
  expect([control.baselines.size, control.calls]).toEqual([0, ['features']]);
  control.lacks.delete('baselines');
  const failure = serviceError('unreachable', 'get baseline', { detail: 'connection refused' });
  control.getBaseline = () => Promise.reject(failure);
  expect(await readBaseline(hello, context)).toBeUndefined();
  expect(missed).toEqual([failure]);
});
