import { silentLogger } from '../../src/kit/logger.ts';
import { expect, onTestFinished, test } from 'vitest';
import { conversationState } from '../../src/deploy/rules/conversations.ts';
import { createProcessJudge } from '../../app/worker/process-judge.ts';
import { judgeHere, unjudged, type Judge, keepAttempts } from '../../src/deploy/smoke/judge.ts';
import { openMeasurement } from '../../src/deploy/smoke/open-test.ts';
import { systemClock } from '../../src/kit/clock.ts';
import type { SmokeTest, ValueTest } from '../../src/deploy/file/smoke-test.ts';
import type { Evidence } from '../../src/deploy/rules/verdict-types.ts';
import { longestTurnMs, longestTurnOf, watchLoop } from './loop-watch.ts';

const log = silentLogger;

const expecting = (path: string, value: ValueTest, attempts = 1): SmokeTest => ({
  name: 'a',
  assistant: 'a',
  thread: false,
  input: 1,
  streamModes: ['values'],
  expect: [{ kind: 'value', path, test: value }],
  attempts,
  timeoutMs: 1_000,
});

const responded = (values: unknown): Evidence => ({
  kind: 'answered',
  status: 'success',
  values,
  nodes: [],
  firstEventMs: 1,
  totalMs: 1,
});

const contains: ValueTest = { kind: 'contains', text: 'x' };
const slow = '(?:a?){300}a{290}';
const mixed = (length: number): string => Array.from({ length }, (_, at) => 'abcde'[(at * at) % 5]).join('');
const keys = Object.fromEntries(Array.from({ length: 4_000 }, (_, at) => [`key${at}`, `${at}`]));
const keySchema = {
  patternProperties: { '(k?e?y?){1,9}[0-9]{1,9}z': { type: 'string' }, 'y[0-9]+': { type: 'string' } },
};

/** What judging costs most, each in as many values and steps as are allowed. */
const attacks: Readonly<Record<string, [SmokeTest, unknown]>> = {
  'a query that compares every value with every other one': [
    expecting('$[?count($[?@.a != $.b]) > 3]', contains),
    Array.from({ length: 9_000 }, (_, a) => ({ a })),
  ],
  'a search with a slow pattern in a query': [
    expecting(`$[?search(@, '${slow}')]`, contains),
    [mixed(9_900), mixed(9_899)],
  ],
  'a slow pattern for a long text': [expecting('$', { kind: 'matches', pattern: slow }), mixed(22_000)],
  'a schema with patterns for many keys': [expecting('$', { kind: 'schema', schema: keySchema }), keys],
};

/** The attacks that hold the loop at each of three judgements. */
async function slowOf(judge: Judge): Promise<string[]> {
  const watch = watchLoop();
  onTestFinished(() => watch.stop());
  const slow: string[] = [];
  for (const [name, [smokeTest, values]] of Object.entries(attacks)) {
    const tried = { test: smokeTest, attempts: [responded(values)] };
    const least = await longestTurnOf(watch, async () => {
      await judge.nextAttempt(tried);
      await judge.conclude({ ...tried, secrets: ['hunter22'] });
    });
    if (least > longestTurnMs) slow.push(`${name}: ${least} ms`);
  }
  return slow;
}

test('no response of an agent and no expectation holds the App while it is judged', async () => {
  const judge = createProcessJudge({ clock: systemClock, log });
  onTestFinished(() => judge.close());
  expect(await slowOf(judge)).toEqual([]);
});

test('judging that takes too long leaves the test unproven, and the next one is judged', async () => {
  const hasty = createProcessJudge({ clock: { sleep: async () => undefined }, log, deadlineMs: 1 });
  onTestFinished(() => hasty.close());
  const tried = { test: expecting('$', contains), attempts: [responded('x')] };
  expect(await hasty.nextAttempt(tried)).toEqual({ kind: 'unjudged' });
  expect(await hasty.conclude({ ...tried, secrets: [] })).toEqual({ verdict: unjudged, compared: [] });
  const measured = { ...tried, ...openMeasurement(tried.test, []) };
  expect(await hasty.nextAttempt(measured)).toEqual({ kind: 'unjudged' });
  const patient = createProcessJudge({ clock: systemClock, log });
  onTestFinished(() => patient.close());
  expect(await patient.nextAttempt(tried)).toEqual(await judgeHere.nextAttempt(tried));
  expect(await patient.conclude({ ...tried, secrets: [] })).toMatchObject({ verdict: { kind: 'passed' } });
  expect(await patient.nextAttempt(measured)).toEqual(await judgeHere.nextAttempt(measured));
});

test('states of conversations are compared in the process, and what takes too long is given up', async () => {
  const large = { channel: 'x'.repeat(200_000), amount: 1 };
  const state = conversationState({ values: large, next: ['review'] });
  const shape = (type: string) => ({
    nodes: ['review'],
    stateSchema: { properties: { amount: { type }, ...(type === 'string' ? { channel: { type: 'number' } } : {}) } },
  });
  const sides = { before: state, live: shape('number'), after: state, changed: shape('string') };
  const judge = createProcessJudge({ clock: systemClock, log });
  onTestFinished(() => judge.close());
  expect(await judge.compareStates(sides)).toEqual([
    { kind: 'other-type', channel: 'amount', is: 'number', mustBe: 'string' },
  ]);
  const nested: unknown = JSON.parse('['.repeat(29_000) + ']'.repeat(29_000));
  const deep = { nodes: ['review'], stateSchema: { properties: { amount: { enum: [nested] } } } };
  expect(await judge.compareStates({ ...sides, changed: deep })).toBeUndefined();
  const hasty = createProcessJudge({ clock: { sleep: async () => undefined }, log, deadlineMs: 1 });
  onTestFinished(() => hasty.close());
  expect(await hasty.compareStates(sides)).toBeUndefined();
});

test('values that are nested too deep leave the test unproven', async () => {
  const judge = createProcessJudge({ clock: systemClock, log });
  onTestFinished(() => judge.close());
  for (const depth of [3_000, 29_000]) {
    const values: unknown = JSON.parse('['.repeat(depth) + ']'.repeat(depth));
    const tried = { test: expecting('$', contains, 2), attempts: [responded(values)] };
    const { kind } = await judge.nextAttempt(tried);
    expect(kind).not.toBe('enough');
  }
});

test('judging that was given up is tried once more', async () => {
  let sleeps = 0;
  const sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
    sleeps += 1;
    if (sleeps > 1) await systemClock.sleep(ms, signal);
  };
  const judge = createProcessJudge({ clock: { sleep }, log });
  onTestFinished(() => judge.close());
  const tried = { test: expecting('$', contains), attempts: [responded('x')], secrets: ['x'] };
  expect({ verdict: (await judge.conclude(tried)).verdict.kind, sleeps }).toEqual({ verdict: 'passed', sleeps: 2 });
});

test('responses stored for the next attempt share one bound, and the newest are kept', () => {
  const attempts = Array.from({ length: 20 }, (_, at) => responded([at, 'y'.repeat(60_000)]));
  const kept = keepAttempts(expecting('$', contains, 20), attempts) ?? [];
  expect(JSON.stringify(kept).length).toBeLessThan(300 * 1024);
  expect(kept.map((each) => each.kind === 'answered' && each.values !== undefined).lastIndexOf(false)).toBe(15);
  expect(kept.at(-1)).toEqual(attempts.at(-1));
});
