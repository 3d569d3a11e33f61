import { describe, expect, test } from 'vitest';
import type { Series, SmokeTest } from '../../../src/deploy/file/smoke-test.ts';
import { judgeHere } from '../../../src/deploy/smoke/judge.ts';
import { serviceError } from '../../deploy/machine/control-model.ts';
import { says } from './agent-in-memory.ts';
import { Driving, drivingBeside, Killed, listensFor, testExpecting } from './driving.ts';

const series: Series = { kind: 'all-right', tries: 7, atOnce: 3 };
const often = testExpecting('hello', { series });
const live: Series = { kind: 'live', atOnce: 3, tries: 20, drop: 0.3, decideBy: ['pass-rate'], tests: 1 };
const beside = testExpecting('hello', { series: live });

/** How many runs of an agent began at once, at the most. */
const mostAtOnce = ({ agent }: Driving): number => {
  const began = [...agent.runs.values()].map(({ startedAt }) => startedAt);
  return Math.max(...began.map((at) => began.filter((other) => other === at).length));
};

describe('a series', () => {
  test.each<[string, SmokeTest]>([
    ['in the background', often],
    ['of streams', listensFor('hello', { series })],
  ])('%s is sent at once after its first request', async (_, smokeTest) => {
    const driving = new Driving(smokeTest);
    const began = driving.clock.now();
    expect(await driving.run()).toMatchObject({ kind: 'passed', tests: [{ attempts: 7 }] });
    expect([driving.clock.now() - began, driving.agent.requested.length, mostAtOnce(driving)]).toEqual([3_000, 7, 3]);
    expect(driving.agent.left).toEqual([]);
  });

  test('against the live revision is sent in pairs, several at once', async () => {
    const driving = drivingBeside(beside);
    const began = driving.clock.now();
    expect(await driving.run()).toMatchObject({ kind: 'passed', tests: [{ attempts: 42 }] });
    // One pair, and twenty by three, of two seconds each.
    expect(driving.clock.now() - began).toBe(2_000 * (1 + 7));
    expect([driving.agent.requested.length, driving.live?.requested.length]).toEqual([21, 21]);
  });

  test('that is not answered is sent one by one, after pauses', async () => {
    const driving = new Driving(testExpecting('hello', { series, attempts: 3 }));
    driving.agent.failing.set(
      'createThread',
      Array.from({ length: 9 }, () => serviceError('unreachable', 'create thread')),
    );
    const began = driving.clock.now();
    expect(await driving.run()).toMatchObject({ kind: 'unproven', tests: [{ attempts: 3 }] });
    expect(driving.clock.now() - began).toBe(2_000 + 4_000);
  });

  test('goes on with the webhook of any of its runs, and keeps what was answered', async () => {
    const driving = new Driving(testExpecting('hello', { series: { ...series, tries: 4 } }));
    driving.agent.commands = [says('hello', 100), says('hello', 40_000), says('hello', 1_200), says('hello', 40_000)];
    const notified: number[] = [];
    const { deliver } = driving.agent;
    driving.agent.deliver = (url, payload) => {
      notified.push(driving.clock.now());
      deliver(url, payload);
    };
    const answeredAt: number[] = [];
    driving.agent.after = (call) => {
      if (call === 'getThreadState') answeredAt.push(driving.clock.now());
    };
    expect(await driving.run()).toMatchObject({ kind: 'passed', tests: [{ attempts: 4 }] });
    expect([answeredAt.length, new Set(answeredAt)]).toEqual([4, new Set(notified)]);
    expect([new Set(driving.answers), driving.agent.requested.length]).toEqual([new Set([204]), 4]);
    // Its thread is removed while the others go on, and its token is known as spent.
    const between = driving.stored.map((state) => JSON.parse(state)).find(({ under }) => under[1]?.kind === 'answered');
    expect(between.under.map(({ kind }: { kind: string }) => kind)).toEqual(['started', 'answered', 'started']);
    expect([between.leftovers.length, between.spent.length]).toEqual([1, 2]);
  });

  test('stores of answers that wait for others one of each kind', async () => {
    const driving = new Driving(testExpecting('hello', { series: { ...series, tries: 7, atOnce: 6 } }));
    const long = 'x'.repeat(20_000);
    driving.agent.commands = Array.from({ length: 7 }, (_, index) => ({
      ...says('hello', 1_000 + 900 * index),
      values: { reply: 'hello', long },
    }));
    expect(await driving.run()).toMatchObject({ kind: 'passed', tests: [{ attempts: 7 }] });
    expect(Math.max(...driving.stored.map(({ length }) => length))).toBeLessThan(2 * long.length);
  });

  test('that is large together is judged one answer after the other', async () => {
    const driving = new Driving(often);
    const long = 'x'.repeat(20_000);
    driving.agent.commands = [{ ...says('hello'), values: { reply: 'hello', long } }];
    const sizes: number[] = [];
    driving.judge = {
      ...judgeHere,
      nextAttempt: async (tried) => {
        sizes.push(JSON.stringify(tried.attempts).length);
        return judgeHere.nextAttempt(tried);
      },
    };
    driving.restart();
    expect(await driving.run()).toMatchObject({ kind: 'passed', tests: [{ attempts: 7 }] });
    // The one that is kept, and the new one.
    expect([sizes.length, Math.max(...sizes) < 3 * long.length]).toEqual([7, true]);
  });

  test('that can not be stored proves nothing, and leaves nothing that is under way', async () => {
    const driving = new Driving(often);
    driving.agent.commands = [says('hello', 100), says('hello', 100), says('hello', 40_000)];
    driving.judge = {
      ...judgeHere,
      nextAttempt: async (tried) => (tried.attempts.length === 2 ? { kind: 'unjudged' } : judgeHere.nextAttempt(tried)),
    };
    driving.restart();
    expect(await driving.run()).toMatchObject({ tests: [{ attempts: 2, verdict: { because: 'unjudged' } }] });
    expect([driving.agent.cancelled.length, driving.agent.left]).toEqual([2, []]);
  });

  test('that the hold ends counts what was sent, and not what was not', async () => {
    const driving = drivingBeside({ ...often, attempts: 5 }, often);
    driving.agent.commands = [says('hello', 100), says('hello', 100), says('hello', 3_600_000)];
    const endsAt = new Date(driving.clock.now() + 60_000 + 20_000).toISOString();
    driving.over = { hold: { address: 'https://held.example.test', endsAt } };
    expect(await driving.run()).toMatchObject({
      tests: [
        { attempts: 4, verdict: { because: 'undecided' } },
        { attempts: 0, verdict: { because: 'undecided' } },
      ],
    });
    expect([driving.agent.requested.length, driving.agent.left]).toEqual([4, []]);
  });

  test('that ends its process is sent one by one', async () => {
    const driving = new Driving(often);
    const sent: number[] = [];
    driving.agent.after = (call) => {
      if (call !== 'createRun') return;
      sent.push(driving.clock.now());
      const isSecond = sent.filter((at) => at === driving.clock.now()).length === 2;
      if (isSecond) throw new Killed();
    };
    expect(await driving.run()).toMatchObject({ kind: 'passed', tests: [{ attempts: 7 }] });
    expect(driving.agent.left).toEqual([]);
  });
});

describe('a state that a former version stored', () => {
  const rest = { leftovers: [], lost: 0, withoutWebhook: false, spent: [] };
  const kept = JSON.stringify({ verdicts: [], attempts: [{ kind: 'judged', answer: 'right', totalMs: 1 }] });

  test('goes on with its run, and then at once', async () => {
    const driving = new Driving(often);
    const { thread_id: threadId } = await driving.agent.createThread({});
    const { run_id: runId } = await driving.agent.createRun({ assistant_id: 'echo', input: 1 }, threadId);
    const now = driving.clock.now();
    const times = { sentAt: now, deadline: now + 60_000, lookAt: now + 250, looks: 0, reported: false };
    const under = { kind: 'started', threadId, runId, ...times };
    driving.stored.push(JSON.stringify({ version: 1, kept, under, ...rest }));
    expect(await driving.run()).toMatchObject({ kind: 'passed', tests: [{ attempts: 7 }] });
    expect([driving.agent.requested.length, driving.agent.left]).toEqual([6, []]);
    // Two rounds of three, and two more.
    expect(driving.clock.now() - now).toBeLessThan(4_000);
  });

  test.each(['prepared', 'none'])('goes on with the next attempt where its own is %s', async (kind) => {
    const driving = new Driving(often);
    const { thread_id: threadId } = await driving.agent.createThread({});
    const under = kind === 'none' ? {} : { under: { kind, threadId } };
    const leftovers = kind === 'none' ? [{ test: often.name, threadId }] : [];
    driving.stored.push(JSON.stringify({ version: 1, kept, ...under, ...rest, leftovers, notBefore: 1 }));
    expect(await driving.run()).toMatchObject({ kind: 'passed', tests: [{ attempts: 7 }] });
    expect([driving.agent.requested.length, driving.agent.left]).toEqual([6, []]);
  });
});
