import { describe, expect, test } from 'vitest';
import type { SmokeTest } from '../../../src/deploy/file/smoke-test.ts';
import { decisionOf } from '../../../src/deploy/rules/hold-state.ts';
import type { Verdict } from '../../../src/deploy/rules/verdict-types.ts';
import { designTest } from '../../../src/kit/statistics/sequential-test.ts';
import { serviceError } from '../../deploy/machine/control-model.ts';
import { AgentInMemory, says } from './agent-in-memory.ts';
import { testExpecting, Driving, Killed, listensFor, publicUrl, secret } from './driving.ts';

const kinds = ({ tests }: Verdict): string[] => tests.map(({ verdict }) => verdict.kind);
const refusal = serviceError('rejected', 'create run', { status: 422, detail: 'webhook: not here' });
const away = serviceError('unreachable', 'get run');

describe('a test that needs no stream', () => {
  test("is a background run, judged by its own status, not by the webhook's", async () => {
    const driving = new Driving(testExpecting('hello'));
    driving.agent.deliver = (url, payload) =>
      void driving.delivered(url, { ...payload, status: 'error', values: { reply: 'a lie' } });
    expect(await driving.run()).toMatchObject({ kind: 'passed', tests: [{ name: 'says hello', attempts: 1 }] });
    expect([driving.answers, driving.agent.requested.length, driving.agent.left]).toEqual([[204], 1, []]);
  });

  test('has a webhook URL with its intent and a token, of which only the hash is stored', async () => {
    const driving = new Driving(testExpecting('hello'), testExpecting('hello'));
    await driving.run();
    const tokens = driving.agent.requested.map(({ webhook = '' }) => {
      const address = new URL(webhook);
      expect(`${address.origin}${address.pathname}`).toBe(`${publicUrl}/runs/${driving.intent.id}`);
      return address.searchParams.get('token') ?? '';
    });
    expect(new Set(tokens).size).toBe(2);
    for (const token of tokens) {
      expect(Buffer.from(token, 'base64url')).toHaveLength(32);
      expect(`${driving.stored.join()}${driving.logged.join()}`).not.toContain(token);
    }
  });

  test("continues on the agent's webhook, before the next poll", async () => {
    const driving = new Driving(testExpecting('hello'));
    driving.agent.commands = [says('hello', 1_200)];
    const began = driving.clock.now();
    expect((await driving.run()).kind).toBe('passed');
    expect(driving.clock.now() - began).toBeLessThan(1_500);
    expect(driving.answers).toEqual([204]);
  });

  test('is polled if no webhook arrives, and later runs get no webhook', async () => {
    const driving = new Driving(testExpecting('hello'), testExpecting('hello'));
    driving.agent.deliver = () => undefined;
    expect((await driving.run()).kind).toBe('passed');
    expect(driving.agent.requested.map(({ webhook }) => webhook !== undefined)).toEqual([true, false]);
  });

  test('is the same run without a webhook if the agent refuses it, from then on', async () => {
    const driving = new Driving(testExpecting('hello'), testExpecting('hello'));
    driving.agent.refusesWebhooks = refusal;
    expect((await driving.run()).kind).toBe('passed');
    expect(driving.agent.requested.map(({ webhook }) => webhook !== undefined)).toEqual([true, false, false]);
    expect(driving.agent.requested.map(({ input }) => input)).toEqual(
      Array.from({ length: 3 }, () => ({ question: 'hello?' })),
    );
  });

  test('has no webhook if the App has no public URL', async () => {
    const driving = new Driving(testExpecting('hello'));
    driving.publicUrl = undefined;
    driving.restart();
    expect((await driving.run()).kind).toBe('passed');
    expect(driving.agent.requested.map(({ webhook }) => webhook)).toEqual([undefined]);
  });

  test.each<[sentence: string, status: string, run: object]>([
    ['a run that failed', 'error', { status: 'error', error: { error: 'BoomError', message: 'no model' } }],
    ['a run that took too long for its server', 'error', { status: 'timeout' }],
    ['a run that waits for a person', 'interrupted', { status: 'interrupted' }],
    [
      'a run that ended well and whose thread waits for a person',
      'interrupted',
      { status: 'success', values: { reply: 'hm' }, interrupts: [{ value: 'May I?' }] },
    ],
    ['a run that ended well', 'success', { status: 'success', values: { reply: 'hm' } }],
  ])('reports %s as %s', async (_sentence, status, run) => {
    const equals = status === 'error' || status === 'interrupted' ? status : 'success';
    const driving = new Driving(testExpecting('hm', { expect: [{ kind: 'status', equals }] }));
    driving.agent.commands = [{ after: 100, status: 'success', ...run }];
    expect(kinds(await driving.run())).toEqual(['passed']);
    expect(driving.agent.left).toEqual([]);
  });

  test("quotes the agent's error of a failed run", async () => {
    const driving = new Driving(testExpecting('hello'));
    driving.agent.commands = [{ after: 100, status: 'error', error: { error: 'BoomError', message: 'no model' } }];
    expect(JSON.stringify(await driving.run())).toContain('error (BoomError: no model)');
  });

  test("waits for the agent's error of a failed run while the agent is down", async () => {
    const driving = new Driving(testExpecting('hello'));
    driving.agent.commands = [{ after: 100, status: 'error', error: { error: 'RateLimitError', message: '429' } }];
    driving.agent.failing.set('joinRun', [away]);
    expect(await driving.run()).toMatchObject({ kind: 'unproven', tests: [{ verdict: { because: 'provider' } }] });
  });

  test.each<[string, 'denied' | 'server-error', Parameters<typeof serviceError>]>([
    ['refuses the caller', 'denied', ['unauthorized', 'get run', { status: 401 }]],
    ['answers HTTP 500', 'server-error', ['busy', 'get run', { status: 500 }]],
  ])('names the fault of an agent that %s while its run goes on', async (_, because, error) => {
    const driving = new Driving(testExpecting('hello', { timeoutMs: 30_000 }));
    driving.agent.failing.set(
      'getRun',
      Array.from({ length: 99 }, () => serviceError(...error)),
    );
    expect(await driving.run()).toMatchObject({ kind: 'unproven', tests: [{ attempts: 1, verdict: { because } }] });
  });

  test('is unproven after a timeout; the run is cancelled and its thread removed', async () => {
    const driving = new Driving(testExpecting('hello', { timeoutMs: 30_000 }));
    driving.agent.commands = [says('hello', 3_600_000)];
    const began = driving.clock.now();
    const verdict = await driving.run();
    expect(JSON.stringify(verdict)).toMatch(
      /no whole answer within 30000 ms: it hangs since [^,]+, for the run is running/,
    );
    expect(verdict).toMatchObject({ tests: [{ verdict: { because: 'hangs' } }] });
    expect([verdict.kind, driving.agent.cancelled.length, driving.agent.left]).toEqual(['unproven', 1, []]);
    expect(driving.clock.now() - began).toBeLessThan(60_000);
  });

  test('tolerates an agent that is down for a moment during the run', async () => {
    const driving = new Driving(testExpecting('hello'));
    driving.agent.failing.set('getRun', [away, away]);
    driving.agent.failing.set('getThreadState', [away]);
    expect((await driving.run()).kind).toBe('passed');
  });

  test('proves nothing if the agent is not reachable', async () => {
    const driving = new Driving(testExpecting('hello', { attempts: 2 }));
    driving.agent.failing.set('createThread', [away, away]);
    expect(await driving.run()).toMatchObject({ kind: 'unproven', tests: [{ attempts: 2 }] });
  });

  test('fails if the agent rejects the request', async () => {
    const driving = new Driving(testExpecting('hello'));
    driving.agent.failing.set('createRun', [refusal, refusal]);
    expect(await driving.run()).toMatchObject({ kind: 'failed' });
    expect(driving.agent.left).toEqual([]);
  });

  test('is timed by the server, not by the poll', async () => {
    const driving = new Driving(testExpecting('hello'));
    driving.agent.deliver = () => undefined;
    driving.agent.commands = [says('hello', 700)];
    const [tested] = (await driving.run()).tests;
    expect(tested?.verdict).toMatchObject({ kind: 'passed', totalMs: 700 });
  });
});

describe('attempts', () => {
  test('a wrong response is retried after a pause, and two that disagree prove nothing', async () => {
    const driving = new Driving(testExpecting('hello', { attempts: 3 }));
    driving.agent.commands = [says('bye', 100), says('hello', 100)];
    const began = driving.clock.now();
    expect(await driving.run()).toMatchObject({
      kind: 'unproven',
      tests: [{ attempts: 2, verdict: { because: 'disagreement' } }],
    });
    expect(driving.clock.now() - began).toBeGreaterThan(2_000);
  });

  test('a pass rate counts responses, and stores one of each kind', async () => {
    const hypotheses = { passRate: 0.9, drop: 0.3, tests: 1 };
    const boundaries = designTest(hypotheses);
    if (!boundaries) throw new Error('there is no such test');
    const driving = new Driving(
      testExpecting('hello', { series: { kind: 'rate', ...hypotheses, boundaries, atOnce: 4 } }),
    );
    const long = 'x'.repeat(20_000);
    const longAnswer = (reply: string) => ({ after: 1_000, status: 'success' as const, values: { reply, long } });
    driving.agent.commands = [longAnswer('hello'), longAnswer('good bye'), longAnswer('hello')];
    const { kind, tests } = await driving.run();
    expect([kind, tests[0]?.attempts, tests[0]?.verdict]).toMatchObject([
      'passed',
      19,
      { rate: { right: 18, answers: 19 } },
    ]);
    expect(Math.max(...driving.stored.map(({ length }) => length))).toBeLessThan(3 * long.length);
    expect(driving.agent.left).toEqual([]);
  });

  test('against the live revision go to both in turns, also over a restart', async () => {
    const series = { kind: 'live', atOnce: 4, tries: 30, drop: 0.3, decideBy: ['pass-rate'], tests: 1 } as const;
    const driving = new Driving(testExpecting('hello', { series }));
    driving.live = new AgentInMemory(driving.clock);
    driving.agent.commands = [says('good bye')];
    driving.beforeStore = (step) => {
      if (step % 10 === 0) driving.restart();
    };
    const { kind, tests } = await driving.run();
    expect(kind).toBe('failed');
    expect(tests[0]?.verdict.comparison).toMatchObject({
      live: { right: 30, answers: 30 },
      changed: { right: 0, answers: 30 },
    });
  });

  test('of a series are all kept while it goes on, or it proves nothing', async () => {
    const series = { kind: 'all-right', tries: 40, atOnce: 1 } as const;
    const driving = new Driving(testExpecting('hello', { series, input: 'x' }));
    driving.agent.commands = [says('hello'.padEnd(300_000, '!'))];
    expect(await driving.run()).toMatchObject({ tests: [{ attempts: 40, verdict: { kind: 'failed' } }] });
  });

  test('against a live revision that is not there are one', async () => {
    const series = { kind: 'live', atOnce: 4, tries: 30, drop: 0.3, decideBy: ['pass-rate'], tests: 1 } as const;
    const driving = new Driving(testExpecting('hello', { series }));
    expect(await driving.run()).toMatchObject({ kind: 'passed', tests: [{ attempts: 1 }] });
  });

  test('wrong responses in every attempt fail', async () => {
    const driving = new Driving(testExpecting('hello', { attempts: 3 }));
    driving.agent.commands = [says('bye', 100)];
    expect(await driving.run()).toMatchObject({ kind: 'failed', tests: [{ attempts: 3 }] });
  });

  test('shortens a response that is very large or that no database stores', async () => {
    const driving = new Driving(testExpecting('hello', { attempts: 2 }));
    driving.agent.commands = [
      { after: 100, status: 'success', values: { reply: `\0\ud800${'x'.repeat(400_000)}` } },
      says('\0bye', 100),
    ];
    expect(await driving.run()).toMatchObject({ kind: 'failed', tests: [{ attempts: 2 }] });
    for (const state of driving.stored) {
      expect(state.length).toBeLessThan(10_000);
      expect(state).not.toMatch(/(?<!\\)(?:\\\\)*\\u(?:0000|d8)/);
    }
  });

  test('no test at all is reported as such', async () => {
    expect(await new Driving().run()).toEqual({ kind: 'none', tests: [] });
  });
});

describe('what the deployment keeps secret', () => {
  const repeating = () => {
    const driving = new Driving(testExpecting('hello'));
    driving.agent.commands = [says(`it is ${secret}`, 100)];
    return driving;
  };

  test("is redacted in its agent's output", async () => {
    const reported = JSON.stringify(await repeating().run());
    expect(reported).toContain('it is ***');
    expect(reported).not.toContain(secret);
  });

  test('is not shown either while the service does not return the secrets', async () => {
    const driving = repeating();
    driving.control.fails('get', serviceError('unreachable', 'get deployment'));
    const reported = JSON.stringify(await driving.run());
    expect(reported).toContain('not shown');
    expect(reported).toContain('$.reply equals');
    expect(reported).not.toContain(secret);
  });
});

describe('a crash', () => {
  const plans: [sentence: string, tests: SmokeTest[]][] = [
    ['a run in the background', [testExpecting('hello')]],
    ['a run of an assistant of its own', [testExpecting('hello', { context: { tone: 'calm' } })]],
    ['a stream', [listensFor('hello')]],
    ['a stream of an assistant of its own', [listensFor('hello', { context: { tone: 'calm' } })]],
    ['one of each', [testExpecting('hello'), listensFor('hello')]],
  ];

  test.each(plans)('before a result of %s is stored loses nothing', async (_sentence, tests) => {
    const whole = new Driving(...tests);
    const verdict = await whole.run();
    expect([verdict.kind, whole.agent.left]).toEqual(['passed', []]);
    for (let at = 1; at <= whole.steps; at += 1) {
      const driving = new Driving(...tests);
      driving.beforeStore = (step) => {
        if (step === at) throw new Killed();
      };
      expect([at, kinds(await driving.run()), driving.agent.left]).toEqual([at, kinds(verdict), []]);
    }
  });

  test.each(plans)('after any call of %s is replaced by another', async (_sentence, tests) => {
    const whole = new Driving(...tests);
    let calls = 0;
    whole.agent.after = () => (calls += 1);
    await whole.run();
    for (let at = 1; at <= calls; at += 1) {
      const driving = new Driving(...tests);
      driving.killAfterCall(at);
      expect([at, kinds(await driving.run()), driving.agent.left]).toEqual([
        at,
        ['passed', 'passed'].slice(0, tests.length),
        [],
      ]);
    }
  });

  test('again and again ends the test: nothing is proven', async () => {
    const driving = new Driving(testExpecting('hello'));
    driving.agent.after = (call) => {
      if (call === 'createRun') throw new Killed();
    };
    expect(await driving.run()).toMatchObject({ kind: 'unproven', tests: [{ attempts: 1 }] });
    expect([driving.agent.requested.length, driving.agent.left]).toEqual([4, []]);
  });

  test('while a run goes on loses nothing: the next process polls the same run', async () => {
    const driving = new Driving(testExpecting('hello'));
    driving.agent.commands = [says('hello', 40_000)];
    driving.agent.deliver = () => undefined;
    driving.beforeStore = (step) => {
      if (step % 2 === 0 && driving.agent.requested.length > 0 && step > 3) throw new Killed();
    };
    expect((await driving.run()).kind).toBe('passed');
    expect(driving.agent.requested).toHaveLength(1);
  });

  test('and left a state of another version starts over', async () => {
    const driving = new Driving(testExpecting('hello'));
    driving.stored.push(JSON.stringify({ version: 0, what: 'ever' }));
    expect((await driving.run()).kind).toBe('passed');
  });
});

test('logs what cannot be removed, and still gives its verdict', async () => {
  const driving = new Driving(testExpecting('hello'));
  driving.agent.failing.set('deleteThread', [serviceError('busy', 'delete thread', { status: 500 })]);
  expect((await driving.run()).kind).toBe('passed');
  expect(driving.logged.join()).toMatch(/smoke test says hello could not remove thread [0-9a-f-]+ \(delete thread/);
});

test('removes what a held revision made at the live one when its hold is over', async () => {
  const driving = new Driving(testExpecting('hello'));
  driving.over = { hold: { address: 'https://held.example.test', endsAt: '2100-01-01T00:00:00Z' } };
  driving.live = new AgentInMemory(driving.clock);
  const removed: string[] = [];
  driving.live.before = (call) => removed.push(call);
  driving.agent.after = (call) => {
    // Its last answer: the hold ends.
    if (call !== 'getThreadState') return;
    for (const each of ['deleteThread', 'ok']) driving.agent.failing.set(each, [serviceError('missing', each)]);
  };
  await driving.run();
  expect(removed).toEqual(['deleteThread']);
});

test('waits for a provider no longer than the time of the tests of a hold', async () => {
  const driving = new Driving(testExpecting('hello', { attempts: 5 }));
  const began = driving.clock.now();
  // The tests end a minute before the hold.
  driving.over = {
    hold: { address: 'https://held.example.test', endsAt: new Date(began + 80_000).toISOString() },
  };
  const message = '429 Rate limit reached. Please try again in 50s.';
  driving.agent.commands = [{ after: 100, status: 'error', error: { error: 'RateLimitError', message } }];
  expect(kinds(await driving.run())).toEqual(['unproven']);
  expect(driving.clock.now() - began).toBeLessThan(25_000);
});

describe('tests that the hold of the revision ends', () => {
  const endsIn = (driving: Driving, ms: number): void => {
    const endsAt = new Date(driving.clock.now() + 60_000 + ms).toISOString();
    driving.over = { hold: { address: 'https://held.example.test', endsAt } };
  };

  test('keep how often a silent agent was sent a request: it is not promoted', async () => {
    const driving = new Driving(testExpecting('hello'), testExpecting('hello', { attempts: 5 }));
    driving.agent.commands = [says('hello', 100), says('hello', 3_600_000)];
    endsIn(driving, 90_000);
    const verdict = await driving.run();
    expect(verdict).toMatchObject({
      tests: [{ verdict: { kind: 'passed' } }, { attempts: 2, verdict: { because: 'undecided' } }],
    });
    expect(decisionOf(verdict, { isReplacing: true, onUnproven: 'promote' })).toBe('discarded');
    expect(driving.agent.left).toEqual([]);
  });

  test('keep what was compared so far: an agent that answers is promoted', async () => {
    const series = { kind: 'live', atOnce: 1, tries: 100, drop: 0.3, decideBy: ['pass-rate'], tests: 1 } as const;
    const driving = new Driving(testExpecting('hello', { series }));
    driving.live = new AgentInMemory(driving.clock);
    endsIn(driving, 60_000);
    const verdict = await driving.run();
    expect(verdict.tests[0]?.verdict).toMatchObject({ because: 'undecided', comparison: { changed: { answers: 28 } } });
    expect(decisionOf(verdict, { isReplacing: true, onUnproven: 'promote' })).toBe('promoted');
  });

  test('count no request that was not sent', async () => {
    const driving = new Driving(testExpecting('hello'), testExpecting('hello'));
    endsIn(driving, 0);
    expect(await driving.run()).toMatchObject({ tests: [{ attempts: 0 }, { attempts: 0 }] });
  });
});
