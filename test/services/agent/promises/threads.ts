import { expect, test } from 'vitest';
import { ISO, UNKNOWN_ID, refusalOf, until, UUID, valuesOf } from './fixture.ts';
import type { Given } from './fixture.ts';

/** Section "Thread", and the endpoints of threads. */
export function threadPromises(agent: Given): void {
  test(
    'a new thread has its fields and no values',
    {
      meta: {
        claims: [
          'agent.groups.threads',
          'agent.endpoints.threads-create',
          'agent.threads.create-empty',
          'agent.threads.create-answers',
          'agent.threads.thread-id',
          'agent.threads.created-at',
          'agent.threads.updated-at',
          'agent.threads.metadata',
          'agent.threads.status',
          'agent.threads.status-idle',
          'agent.threads.config',
          'agent.threads.values',
          'agent.threads.values-null-when-new',
        ],
      },
    },
    async () => {
      const thread = await agent().createThread({});
      expect(thread).toEqual({
        thread_id: expect.stringMatching(UUID),
        created_at: expect.stringMatching(ISO),
        updated_at: expect.stringMatching(ISO),
        metadata: {},
        status: 'idle',
        config: {},
        values: null,
        interrupts: {},
        state_updated_at: thread.created_at,
      });
    },
  );

  test('a thread may have its own id and metadata, and is created once', async () => {
    const thread_id = crypto.randomUUID();
    const made = await agent().createThread({ thread_id, metadata: { topic: 'weather' } });
    expect(made).toMatchObject({ thread_id, metadata: { topic: 'weather' } });
    expect(await refusalOf(agent().createThread({ thread_id }))).toMatchObject({ kind: 'conflict', status: 409 });
    expect(await agent().createThread({ thread_id, if_exists: 'do_nothing' })).toEqual(made);
  });

  test(
    'a thread accumulates the output of its runs',
    { meta: { claims: ['agent.threads.get', 'agent.runs.on-thread', 'agent.threads.accumulates'] } },
    async () => {
      const { thread_id } = await agent().createThread({});
      await agent().waitRun({ assistant_id: 'echo', input: { input: 'one' } }, thread_id);
      const second = valuesOf(await agent().waitRun({ assistant_id: 'echo', input: { input: 'two' } }, thread_id));
      expect(second).toMatchObject({ output: 'hello two', steps: ['prepare', 'answer', 'prepare', 'answer'] });
      const thread = await agent().getThread(thread_id);
      expect(thread).toMatchObject({ status: 'idle', values: second, metadata: { graph_id: 'echo' } });
      const state = await agent().getThreadState(thread_id);
      expect(state).toMatchObject({ values: second, next: [], checkpoint: { thread_id, checkpoint_ns: '' } });
    },
  );

  test('the state of a thread without runs is empty', async () => {
    const { thread_id } = await agent().createThread({});
    expect(await agent().getThreadState(thread_id)).toMatchObject({
      values: {},
      next: [],
      tasks: [],
      checkpoint: { thread_id },
    });
  });

  test('a deleted thread is missing, with its runs', { meta: { claims: ['agent.threads.delete'] } }, async () => {
    const { thread_id } = await agent().createThread({});
    const run = await agent().createRun({ assistant_id: 'echo', input: { input: 'x', sleep_ms: 5000 } }, thread_id);
    await agent().deleteThread(thread_id);
    expect(await refusalOf(agent().getThread(thread_id))).toMatchObject({ kind: 'missing', status: 404 });
    expect(await refusalOf(agent().getRun(thread_id, run.run_id))).toMatchObject({ kind: 'missing' });
    expect(await refusalOf(agent().getThreadState(thread_id))).toMatchObject({ kind: 'missing' });
    expect(await refusalOf(agent().deleteThread(thread_id))).toMatchObject({ kind: 'missing' });
    expect(await refusalOf(agent().getThread(UNKNOWN_ID))).toMatchObject({ kind: 'missing' });
  });

  test(
    'a thread is busy during a run, and error from a failure until a success',
    { meta: { claims: ['agent.threads.status-other-words'] } },
    async () => {
      const { thread_id } = await agent().createThread({});
      const run = await agent().createRun(
        { assistant_id: 'echo', input: { input: 'x', sleep_ms: 3_000, fail: 'no ink' } },
        thread_id,
      );
      expect((await agent().getThread(thread_id)).status).toBe('busy');
      expect(await agent().joinRun(thread_id, run.run_id)).toEqual({
        kind: 'error',
        error: { error: 'RequestedFailure', message: 'no ink' },
      });
      expect((await agent().getThread(thread_id)).status).toBe('error');
      await agent().waitRun({ assistant_id: 'echo', input: { input: 'again' } }, thread_id);
      expect((await agent().getThread(thread_id)).status).toBe('idle');
    },
  );

  test(
    'a thread is interrupted while waiting for a person, and resumes',
    { meta: { claims: ['agent.threads.status-other-words'] } },
    async () => {
      const { thread_id } = await agent().createThread({});
      const first = valuesOf(
        await agent().waitRun({ assistant_id: 'interrupts', input: { request: 'sing' } }, thread_id),
      );
      expect(first).toMatchObject({ request: 'sing', __interrupt__: [{ value: { question: 'May I sing?' } }] });
      const waiting = await agent().getThread(thread_id);
      expect(waiting).toMatchObject({ status: 'interrupted', values: { request: 'sing' } });
      expect(Object.values(waiting.interrupts ?? {})).toMatchObject([[{ value: { question: 'May I sing?' } }]]);
      expect(await agent().getThreadState(thread_id)).toMatchObject({ next: ['ask'], tasks: [{ name: 'ask' }] });
      const resumed = valuesOf(
        await agent().waitRun({ assistant_id: 'interrupts', command: { resume: 'softly' } }, thread_id),
      );
      expect(resumed).toEqual({ request: 'sing', answer: 'sing: softly' });
      expect(await agent().getThread(thread_id)).toMatchObject({ status: 'idle', interrupts: {}, values: resumed });
    },
  );

  test('a thread stops before a node on request, and continues without an input', async () => {
    const { thread_id } = await agent().createThread({});
    await agent().waitRun({ assistant_id: 'echo', input: { input: 'x' }, interrupt_before: ['answer'] }, thread_id);
    expect(await agent().getThread(thread_id)).toMatchObject({ status: 'interrupted', values: { steps: ['prepare'] } });
    expect(valuesOf(await agent().waitRun({ assistant_id: 'echo' }, thread_id))).toMatchObject({ output: 'hello x' });
    await until(async () => ((await agent().getThread(thread_id)).status === 'idle' ? true : undefined));
  });
}
