import { describe, expect, test } from 'vitest';
import type { SmokeTest } from '../../../src/deploy/file/smoke-test.ts';
import { eventLines } from '../../../src/deploy/words/event-lines.ts';
import { designTest } from '../../../src/kit/statistics/sequential-test.ts';
import { smoke } from '../../../src/deploy/smoke/smoke.ts';
import type { DeployEvent } from '../../../src/deploy/machine/deploy-event.ts';
import { AgentModel, breaks, says, type Answer } from './agent-model.ts';
import { ends, serviceError } from '../machine/control-model.ts';
import { SimulatedClock } from '../machine/simulated-clock.ts';
import { built, hello, running, DeployFixture, type RunOfTest } from '../machine/deploy-fixture.ts';

/** Runs smoke tests against an agent with these answers. */
async function requested(
  tests: SmokeTest | SmokeTest[],
  answers: Answer[],
  prepare: (agent: AgentModel) => void = () => undefined,
) {
  const clock = new SimulatedClock();
  const agent = new AgentModel(clock, ...answers);
  prepare(agent);
  const events: DeployEvent[] = [];
  const notes: string[] = [];
  const before = clock.now();
  const verdict = await smoke({
    tests: [tests].flat(),
    agent,
    clock,
    random: () => 0.5,
    emit: (event) => events.push(event),
    note: (text) => notes.push(text),
    redact: (text) => text.replaceAll('canary', '***'),
  });
  return { verdict, agent, events, notes, tookMs: clock.now() - before };
}

const gone = serviceError('unreachable', 'stream run', { detail: 'connection refused' });
const refused = serviceError('unauthorized', 'stream run', { status: 401, detail: 'Show a token.' });
const noSuchGraph = serviceError('missing', 'stream run', { status: 404, detail: 'No assistant found for "echo".' });

describe('verdicts', () => {
  test.each<[string, Answer[], string, number]>([
    ['the right answer', [says('hello')], 'passed', 1],
    ['a wrong answer, twice', [says('good bye')], 'failed', 2],
    ['an error, twice', [breaks('boom')], 'failed', 2],
    ['an unreachable agent, twice', [gone], 'unproven', 2],
    ['a cold start', [gone, says('hello')], 'passed', 2],
    ['answers that disagree', [says('good bye'), says('hello')], 'unproven', 2],
    ['a stream that ends before its answer', [[{ event: 'metadata', data: { run_id: 'r' } }]], 'unproven', 2],
    ['a stream that never ends', [says('hello', 999_999_999)], 'unproven', 2],
    ['a stream that broke', [serviceError('unreadable', 'stream run', { status: 200 })], 'unproven', 2],
    ['a server that is not ready', [serviceError('busy', 'stream run', { status: 503 })], 'unproven', 2],
    ['a caller that is refused, who is not tried again', [refused], 'unproven', 1],
    ['a caller that is refused after a cold start', [gone, refused], 'unproven', 2],
    ['an input that the server refuses', [serviceError('rejected', 'stream run', { status: 422 })], 'failed', 2],
    ['a graph that a well server does not have', [noSuchGraph], 'failed', 2],
  ])('%s', async (_, answers, kind, attempts) => {
    const { verdict } = await requested(hello, answers);
    expect(verdict).toMatchObject({ kind, tests: [{ name: 'says hello', attempts }] });
  });

  test('a run that the server does not start is not a failed run', async () => {
    const fails: SmokeTest = { ...hello, expect: [{ kind: 'status', equals: 'error' }] };
    expect((await requested(fails, [breaks('boom')])).verdict.kind).toBe('passed');
    expect((await requested(fails, [noSuchGraph])).verdict.kind).toBe('failed');
  });

  test('an address without a healthy server proves nothing', async () => {
    const { verdict } = await requested(hello, [noSuchGraph], (agent) => void (agent.isWell = false));
    expect(verdict.kind).toBe('unproven');
  });

  test('runs all tests, and fails if one fails', async () => {
    const { verdict, events } = await requested(
      [hello, { ...hello, name: 'again', attempts: 1 }],
      [says('hello'), says('good bye')],
    );
    expect(verdict.kind).toBe('failed');
    expect(verdict.tests.map((each) => each.verdict.kind)).toEqual(['passed', 'failed']);
    expect(events.map(({ kind }) => kind)).toEqual(['smoke-attempt', 'smoke-tested', 'smoke-attempt', 'smoke-tested']);
  });

  test('no test gives no verdict', async () =>
    expect((await requested([], [])).verdict).toEqual({ kind: 'none', tests: [] }));

  test('reports an answer without its secrets', async () => {
    const { verdict, events } = await requested({ ...hello, attempts: 1 }, [says('my token is canary')]);
    expect(verdict.kind).toBe('failed');
    expect(JSON.stringify([verdict, events])).not.toContain('canary');
  });
});

test('hides a secret that truncation cuts in half', async () => {
  const secret = 'canary-'.repeat(20);
  const clock = new SimulatedClock();
  const agent = new AgentModel(clock, says(`${'x'.repeat(190)}${secret}`));
  const redact = (text: string) => text.replaceAll(secret, '***');
  const verdict = await smoke({ tests: [{ ...hello, attempts: 1 }], agent, clock, random: () => 0.5, redact });
  expect(verdict.kind).toBe('failed');
  expect(JSON.stringify(verdict)).not.toContain('canary');
});

describe('a pass rate', () => {
  const hypotheses = { passRate: 0.9, drop: 0.3, tests: 1 };
  const boundaries = designTest(hypotheses);
  if (!boundaries) throw new Error('there is no such test');
  const often: SmokeTest = { ...hello, series: { kind: 'rate', ...hypotheses, boundaries, atOnce: 4 } };

  test('sends four requests at once after the first answer, without pauses', async () => {
    const { verdict, tookMs, agent, events } = await requested(often, [says('hello', 1_000)]);
    expect(verdict).toMatchObject({ kind: 'passed', tests: [{ verdict: { rate: { right: 15, answers: 15 } } }] });
    expect([agent.requested.length, tookMs]).toEqual([15, 5_000]);
    expect(events.flatMap(eventLines)).toEqual(
      expect.arrayContaining([
        '  says hello: 5 of 5 right so far',
        '    15 of 15 answers were right (100 %, likely 79.6 to 100 %), too many for a pass rate of 60 %',
      ]),
    );
  });

  test('is told apart from a lower one', async () => {
    const { verdict } = await requested(often, [says('hello'), says('good bye')]);
    expect(verdict).toMatchObject({ kind: 'failed', tests: [{ verdict: { rate: { right: 1, answers: 6 } } }] });
  });

  test('counts no attempt that is not answered, and waits after it', async () => {
    const { verdict, tookMs } = await requested(often, [gone, says('hello', 1_000)]);
    expect(verdict).toMatchObject({ kind: 'passed', tests: [{ verdict: { rate: { right: 15, answers: 15 } } }] });
    expect(tookMs).toBe(2_000 + 5_000);
  });
});

describe('time', () => {
  test('an attempt has the timeout of its test, and the next one waits a little', async () => {
    const { tookMs } = await requested({ ...hello, timeoutMs: 10_000, attempts: 3 }, [says('hello', 999_999_999)]);
    expect(tookMs).toBe(10_000 + 2_000 + 10_000 + 4_000 + 10_000);
  });

  test('a run is timed by its events', async () => {
    const { verdict } = await requested(hello, [[...says('hello', 1_500)]]);
    expect(verdict.tests[0]?.verdict).toMatchObject({ firstEventMs: 1_500, totalMs: 1_500 });
  });
});

describe('the request', () => {
  test('is stateless, with values and updates beside the modes of the test', async () => {
    const { agent } = await requested({ ...hello, streamModes: ['messages-tuple'] }, [says('hello')]);
    expect(agent.requested).toEqual([
      {
        request: {
          assistant_id: 'echo',
          input: { input: 'x' },
          stream_mode: ['messages-tuple', 'values', 'updates'],
          on_disconnect: 'cancel',
        },
        threadId: undefined,
      },
    ]);
  });

  test('uses a new thread, and removes it', async () => {
    const { agent } = await requested({ ...hello, thread: true }, [says('hello')]);
    expect(agent.requested[0]?.threadId).toBe('thread1');
    expect(agent.there.size).toBe(0);
  });

  test('with a context uses a new assistant, and removes it', async () => {
    const { agent } = await requested({ ...hello, context: { tone: 'kind' } }, [says('hello')]);
    expect(agent.created).toEqual([
      { graph_id: 'echo', context: { tone: 'kind' }, name: 'Landfall smoke test: says hello' },
    ]);
    expect(agent.requested[0]?.request.assistant_id).toBe('assistant1');
    expect(agent.there.size).toBe(0);
  });

  test("with a context and an assistant's uuid uses the same graph", async () => {
    const assistant = '8b6e4c1e-0000-4000-8000-000000000001';
    const { agent } = await requested({ ...hello, assistant, context: {} }, [says('hello')]);
    expect(agent.created[0]?.graph_id).toBe('echo');
  });
});

describe('resources made for a test', () => {
  const made = { ...hello, thread: true, context: {}, attempts: 1, timeoutMs: 5_000 };
  test.each<[string, Answer]>([
    ['fails', breaks('boom')],
    ['cannot be reached', gone],
    ['never ends', says('hello', 999_999_999)],
  ])('are removed even if the run %s', async (_, answer) => {
    expect((await requested(made, [answer])).agent.there.size).toBe(0);
  });

  test('are reported by id if they cannot be removed', async () => {
    const { verdict, notes } = await requested(made, [says('hello')], (agent) => {
      agent.removal = serviceError('busy', 'delete thread', { status: 500 });
    });
    expect(verdict.kind).toBe('passed');
    expect(notes.join()).toContain('thread thread1');
    expect(notes.join()).toContain('assistant assistant1');
  });
});

test('does not report resources that are removed already', async () => {
  const { notes } = await requested({ ...hello, thread: true, context: {} }, [says('hello')], (agent) => {
    agent.removal = serviceError('missing', 'delete thread', { status: 404 });
  });
  expect(notes).toEqual([]);
});

describe('the final status of a run on a thread decides', () => {
  const onThread = { ...hello, thread: true, attempts: 1 };
  test.each([
    ['success', 'passed'],
    ['error', 'failed'],
    ['timeout', 'failed'],
    ['interrupted', 'failed'],
    ['running', 'unproven'],
    ['some newer word', 'passed'],
  ])('%s: %s', async (status, kind) => {
    const { verdict } = await requested(onThread, [says('hello')], (agent) => void (agent.runStatus = status));
    expect(verdict.kind).toBe(kind);
  });

  test("uses the stream's status if the server reports none", async () => {
    const { verdict } = await requested(onThread, [says('hello')], (agent) => {
      agent.getRun = async () => {
        throw serviceError('missing', 'get run', { status: 404 });
      };
    });
    expect(verdict.kind).toBe('passed');
  });
});

describe('advice if nothing is proven', () => {
  test.each<[string, Answer[], RunOfTest, string]>([
    ['the agent is unreachable', [gone], {}, 'can be reached with this key'],
    ['answers disagree', [says('good bye'), says('hello')], {}, 'why the answers differ'],
    ['the address is none', [], { agentUrl: 'agent' }, 'Give agent-url'],
  ])('%s', async (_, answers, more, advice) => {
    const fixture = await running();
    fixture.agent.answers = answers;
    const outcome = await fixture.deploy({ smokeTests: [hello], ...more });
    expect(outcome.kind).toBe('unproven');
    expect(outcome.advice).toContain(advice);
  });

  test('nothing is live', async () => {
    const fixture = new DeployFixture();
    fixture.control.has(built, ends('BUILD_FAILED'));
    await fixture.passes(60_000);
    const outcome = await fixture.deploy({ mode: 'smoke', smokeTests: [hello] });
    expect(outcome.kind).toBe('unproven');
    expect(outcome.advice).toContain('Deploy it first');
  });
});
