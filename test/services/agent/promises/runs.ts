import { expect, test } from 'vitest';
import { ISO, UNKNOWN_ID, refusalOf, until, UUID, valuesOf } from './fixture.ts';
import type { Given } from './fixture.ts';

/** Runs on threads and stateless ones: endpoints, statuses and errors. */
export function runPromises(agent: Given): void {
  const slow = { assistant_id: 'echo', input: { input: 'x', sleep_ms: 10_000 } };

  test(
    'the server reports its health and version',
    { meta: { claims: ['agent.groups.system', 'agent.system.health', 'agent.system.info'] } },
    async () => {
      await agent().ok();
      const { version } = await agent().info();
      const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
      expect(major * 1e6 + minor * 1e3 + patch).toBeGreaterThanOrEqual(5036);
    },
  );

  test(
    'wait returns the final values of the graph',
    {
      meta: {
        claims: [
          'agent.graphs.executed',
          'agent.groups.thread-runs',
          'agent.endpoints.thread-wait',
          'agent.endpoints.thread-spelling',
          'agent.runs.input',
          'agent.runs.wait-answers-values',
        ],
      },
    },
    async () => {
      const { thread_id } = await agent().createThread({});
      const values = valuesOf(await agent().waitRun({ assistant_id: 'echo', input: { input: 'Ada' } }, thread_id));
      expect(values).toMatchObject({ input: 'Ada', output: 'hello Ada', steps: ['prepare', 'answer'] });
    },
  );

  test(
    'a run without a thread keeps no state',
    { meta: { claims: ['agent.groups.stateless-runs', 'agent.runs.stateless', 'agent.endpoints.stateless-wait'] } },
    async () => {
      const run = { assistant_id: 'echo', input: { input: 'Ada' } };
      expect(valuesOf(await agent().waitRun(run, undefined))).toMatchObject({ steps: ['prepare', 'answer'] });
      expect(valuesOf(await agent().waitRun(run, undefined))).toMatchObject({ steps: ['prepare', 'answer'] });
    },
  );

  test(
    'a background run returns at once; its final status can be polled',
    {
      meta: {
        claims: [
          'agent.endpoints.thread-run',
          'agent.runs.background',
          'agent.runs.get',
          'agent.runs.final-status',
          'agent.runs.status-success',
          'agent.runs.shape',
        ],
      },
    },
    async () => {
      const { thread_id } = await agent().createThread({});
      const request = { assistant_id: 'echo', input: { input: 'Ada', sleep_ms: 150 }, metadata: { trace: 'a1' } };
      const run = await agent().createRun(request, thread_id);
      expect(run).toMatchObject({
        thread_id,
        status: 'pending',
        multitask_strategy: 'enqueue',
        metadata: { trace: 'a1', graph_id: 'echo' },
      });
      expect(run).toMatchObject({
        kwargs: { input: request.input, config: { configurable: { thread_id } }, stream_mode: ['values'] },
      });
      expect([run.run_id, run.assistant_id]).toEqual([expect.stringMatching(UUID), expect.stringMatching(UUID)]);
      const ended = await until(async () => {
        const seen = await agent().getRun(thread_id, run.run_id);
        return seen.status === 'pending' || seen.status === 'running' ? undefined : seen;
      });
      expect(ended).toMatchObject({
        status: 'success',
        run_id: run.run_id,
        created_at: run.created_at,
        run_ended_at: expect.stringMatching(ISO),
      });
      expect(valuesOf(await agent().joinRun(thread_id, run.run_id))).toMatchObject({ output: 'hello Ada' });
    },
  );

  test(
    'a failed run returns its error, with status error',
    { meta: { claims: ['agent.runs.status-error', 'agent.errors.wait-failure'] } },
    async () => {
      const { thread_id } = await agent().createThread({});
      const failing = { assistant_id: 'echo', input: { input: 'x', fail: 'no ink' } };
      const failure = { kind: 'error', error: { error: 'RequestedFailure', message: 'no ink' } };
      expect(await agent().waitRun(failing, thread_id)).toEqual(failure);
      expect(await agent().waitRun(failing, undefined)).toEqual(failure);
      const run = await agent().createRun(failing, thread_id);
      expect(await agent().joinRun(thread_id, run.run_id)).toEqual(failure);
      expect(await agent().getRun(thread_id, run.run_id)).toMatchObject({ status: 'error' });
    },
  );

  test(
    'a run is pending while queued, then running, and interrupted if cancelled',
    { meta: { claims: ['agent.runs.status-other-words'] } },
    async () => {
      const { thread_id } = await agent().createThread({});
      const first = await agent().createRun(slow, thread_id);
      const second = await agent().createRun(slow, thread_id);
      const status = async (id: string) => (await agent().getRun(thread_id, id)).status;
      await until(async () => ((await status(first.run_id)) === 'running' ? true : undefined));
      expect(await status(second.run_id)).toBe('pending');
      await agent().cancelRun(thread_id, second.run_id, { wait: true });
      expect(await status(second.run_id)).toBe('interrupted');
      // A run cancelled before its first step leaves nothing to continue, and its thread idle.
      await until(async () => ((await agent().getThreadState(thread_id)).next?.includes('answer') ? true : undefined));
      await agent().cancelRun(thread_id, first.run_id, { wait: true });
      expect(await status(first.run_id)).toBe('interrupted');
      expect(await agent().joinRun(thread_id, first.run_id)).toMatchObject({
        kind: 'error',
        error: { error: 'RunCancelled' },
      });
      expect(await refusalOf(agent().cancelRun(thread_id, first.run_id))).toMatchObject({ kind: 'conflict' });
      expect((await agent().getThread(thread_id)).status).toBe('interrupted');
    },
  );

  test(
    'a stateless run continues in the background; its thread can be kept',
    { meta: { claims: ['agent.runs.stateless-background'] } },
    async () => {
      const run = await agent().createRun(
        { assistant_id: 'echo', input: { input: 'Ada', sleep_ms: 50 }, on_completion: 'keep' },
        undefined,
      );
      expect(run).toMatchObject({ status: 'pending', thread_id: expect.stringMatching(UUID) });
      expect(valuesOf(await agent().joinRun(run.thread_id, run.run_id))).toMatchObject({ output: 'hello Ada' });
      expect(await agent().getThread(run.thread_id)).toMatchObject({ status: 'idle', values: { output: 'hello Ada' } });
      const fleeting = await agent().createRun(
        { assistant_id: 'echo', input: { input: 'Bo', sleep_ms: 3_000 } },
        undefined,
      );
      expect(await agent().getRun(fleeting.thread_id, fleeting.run_id)).toMatchObject({
        assistant_id: run.assistant_id,
      });
      expect(valuesOf(await agent().joinRun(fleeting.thread_id, fleeting.run_id))).toMatchObject({
        output: 'hello Bo',
      });
      expect(await refusalOf(agent().getRun(fleeting.thread_id, fleeting.run_id))).toMatchObject({ kind: 'missing' });
    },
  );

  test(
    'returns 404 for an unknown assistant or graph',
    { meta: { claims: ['agent.errors.unknown-assistant'] } },
    async () => {
      const { thread_id } = await agent().createThread({});
      for (const assistant_id of ['nope', UNKNOWN_ID]) {
        expect(await refusalOf(agent().waitRun({ assistant_id }, undefined))).toMatchObject({
          kind: 'missing',
          status: 404,
        });
        expect(await refusalOf(agent().createRun({ assistant_id }, thread_id))).toMatchObject({
          kind: 'missing',
          status: 404,
        });
      }
      expect((await agent().getThread(thread_id)).status).toBe('idle');
    },
  );

  test(
    'returns 404 for an unknown thread, or creates it',
    { meta: { claims: ['agent.errors.missing-thread'] } },
    async () => {
      const run = { assistant_id: 'echo', input: { input: 'Ada' } };
      expect(await refusalOf(agent().waitRun(run, UNKNOWN_ID))).toMatchObject({ kind: 'missing', status: 404 });
      const thread = crypto.randomUUID();
      expect(valuesOf(await agent().waitRun({ ...run, if_not_exists: 'create' }, thread))).toMatchObject({
        output: 'hello Ada',
      });
      expect((await agent().getThread(thread)).status).toBe('idle');
    },
  );

  test(
    'multitask_strategy=reject fails on a busy thread',
    { meta: { claims: ['agent.errors.busy-thread'] } },
    async () => {
      const { thread_id } = await agent().createThread({});
      const first = await agent().createRun(slow, thread_id);
      const rejecting = { ...slow, multitask_strategy: 'reject' } as const;
      expect(await refusalOf(agent().createRun(rejecting, thread_id))).toMatchObject({ kind: 'conflict', status: 409 });
      await agent().cancelRun(thread_id, first.run_id, { wait: true });
      const next = await agent().createRun({ ...rejecting, input: { input: 'now' } }, thread_id);
      expect(valuesOf(await agent().joinRun(thread_id, next.run_id))).toMatchObject({ output: 'hello now' });
    },
  );

  test('queued runs execute in order', async () => {
    const { thread_id } = await agent().createThread({});
    const runs = [];
    for (const input of ['a', 'b', 'c']) {
      runs.push(await agent().createRun({ assistant_id: 'echo', input: { input, sleep_ms: 40 } }, thread_id));
    }
    const outputs = await Promise.all(
      runs.map(async ({ run_id }) => valuesOf(await agent().joinRun(thread_id, run_id))),
    );
    expect(outputs.map(({ output }) => output)).toEqual(['hello a', 'hello b', 'hello c']);
    expect(outputs[2]).toMatchObject({ steps: Array.from({ length: 3 }, () => ['prepare', 'answer']).flat() });
  });

  test.each([
    ['interrupt', ['prepare', 'answer', 'prepare'], 'interrupted'],
    ['rollback', ['prepare', 'answer'], 'missing'],
  ] as const)('strategy %s: the previous run leaves %j and is %s', async (multitask_strategy, left, fate) => {
    const { thread_id } = await agent().createThread({});
    await agent().waitRun({ assistant_id: 'echo', input: { input: 'kept' } }, thread_id);
    const first = await agent().createRun(slow, thread_id);
    await until(async () => ((await agent().getThreadState(thread_id)).next[0] === 'answer' ? true : undefined));
    const result = await agent().waitRun(
      { assistant_id: 'echo', input: { input: 'new' }, multitask_strategy },
      thread_id,
    );
    expect(valuesOf(result)).toMatchObject({ output: 'hello new', steps: [...left, 'prepare', 'answer'] });
    const seen = await agent()
      .getRun(thread_id, first.run_id)
      .then(
        (run) => run.status,
        (refusal: unknown) => Object(refusal).kind,
      );
    expect(seen).toBe(fate);
  });

  test('a delayed run starts later', async () => {
    const run = await agent().createRun(
      { assistant_id: 'echo', input: { input: 'late' }, after_seconds: 1.1, on_completion: 'keep' },
      undefined,
    );
    expect((await agent().getRun(run.thread_id, run.run_id)).status).toBe('pending');
    await agent().joinRun(run.thread_id, run.run_id);
    const ended = await agent().getRun(run.thread_id, run.run_id);
    expect(Date.parse(String(ended['run_started_at'])) - Date.parse(ended.created_at)).toBeGreaterThanOrEqual(1095);
  });

  test('a graph factory receives the run’s config and the file’s variables', async () => {
    const run = { assistant_id: 'made', input: {}, config: { configurable: { word: 'yes' } } };
    expect(valuesOf(await agent().waitRun(run, undefined))).toEqual({ said: 'yes, calm' });
    expect(valuesOf(await agent().waitRun({ assistant_id: 'made', input: {} }, undefined))).toEqual({
      said: 'nothing, calm',
    });
  });

  test('an invalid value is rejected with its field', { meta: { claims: ['agent.errors.invalid-body'] } }, async () => {
    const refusal = await refusalOf(agent().createRun({ ...slow, after_seconds: 3_000_000 }, undefined));
    expect(refusal).toMatchObject({ kind: 'rejected', status: 422, problems: [{ loc: ['body', 'after_seconds'] }] });
  });
}
