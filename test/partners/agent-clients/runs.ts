import type { Client } from '@langchain/langgraph-sdk';
import { expect, test, vi } from 'vitest';
import type { Receiver } from '../../services/agent/webhooks/receiver.ts';
import { startGate } from '../clients/gate.ts';
import { refusalOf } from './deployed.ts';

/** All methods of the client for runs, except streams. */
export function runsOf(given: () => Client, receiver: () => Receiver): void {
  const thread = async () => (await given().threads.create()).thread_id;
  const steps = ['first', 'second', 'third'];
  const long = { input: { each: 60_000 } };
  const running = (threadId: string, runId: string) =>
    vi.waitFor(
      async () => expect(await given().runs.get(threadId, runId)).toMatchObject({ status: 'running' }),
      30_000,
    );

  test('wait returns the values, or throws the error of the run', async () => {
    const { runs } = given();
    for (const on of [null, await thread()]) {
      let known: unknown;
      const options = {
        input: { input: 'Ada' },
        context: { greeting: 'hi' },
        onRunCreated: (run: unknown) => (known = run),
      };
      expect(
        await (on === null ? runs.wait(null, 'greeter', options) : runs.wait(on, 'greeter', options)),
      ).toMatchObject({
        output: 'hi Ada',
      });
      expect(known).toMatchObject({ run_id: expect.any(String), ...(on === null ? {} : { thread_id: on }) });
    }
    const failing = { input: { input: 'Ada', fail: 'no ink' } };
    expect((await refusalOf(runs.wait(null, 'greeter', failing))).words).toContain('RequestedFailure: no ink');
    expect(await runs.wait(null, 'greeter', { ...failing, raiseError: false })).toEqual({
      __error__: { error: 'RequestedFailure', message: 'no ink' },
    });
  });

  test('create, get, list, join and delete, on a thread', async () => {
    const { runs } = given();
    const on = await thread();
    const made = await runs.create(on, 'slow', { input: { each: 50 }, metadata: { by: 'sdk' } });
    expect(made).toMatchObject({ thread_id: on, status: 'pending', metadata: { by: 'sdk' } });
    expect(await runs.join(on, made.run_id)).toEqual({ each: 50, steps });
    expect(await runs.get(on, made.run_id)).toMatchObject({ run_id: made.run_id, status: 'success' });
    const failed = await runs.create(on, 'greeter', { input: { input: 'x', fail: 'no ink' } });
    await runs.join(on, failed.run_id);
    expect((await runs.list(on)).map(({ run_id, status }) => [run_id, status])).toEqual([
      [failed.run_id, 'error'],
      [made.run_id, 'success'],
    ]);
    expect(await runs.list(on, { status: 'error', limit: 5, select: ['run_id', 'status'] })).toEqual([
      { run_id: failed.run_id, status: 'error' },
    ]);
    expect(await runs.list(on, { offset: 2 })).toEqual([]);
    await runs.delete(on, failed.run_id);
    expect(await refusalOf(runs.get(on, failed.run_id))).toMatchObject({ status: 404 });
    expect(await runs.list(on)).toHaveLength(1);
  });

  test('createBatch starts several, each with a webhook for its result', async () => {
    const { runs } = given();
    const made = await runs.createBatch(
      ['a', 'b'].map((input) => ({ assistantId: 'greeter', input: { input }, webhook: receiver().at('/batch') })),
    );
    expect(made).toMatchObject([{ status: 'pending' }, { status: 'pending' }]);
    await vi.waitFor(() => expect(receiver().to('/batch')).toHaveLength(2), 30_000);
    const reported = receiver()
      .to('/batch')
      .map(({ body }): unknown => JSON.parse(body));
    const bodies = made.map(({ run_id }) => reported.find((body) => Reflect.get(Object(body), 'run_id') === run_id));
    expect(bodies).toMatchObject([
      { status: 'success', error: null },
      { status: 'success', error: null },
    ]);
  });

  test('cancel ends a run; rollback deletes it', async () => {
    const { runs, threads } = given();
    const on = await thread();
    const kept = await runs.create(on, 'slow', long);
    await running(on, kept.run_id);
    expect(await threads.get(on)).toMatchObject({ status: 'busy' });
    await runs.cancel(on, kept.run_id, true, 'interrupt');
    expect(await runs.get(on, kept.run_id)).toMatchObject({ status: 'interrupted' });
    const forgotten = await runs.create(on, 'slow', long);
    await running(on, forgotten.run_id);
    await runs.cancel(on, forgotten.run_id, true, 'rollback');
    expect(await refusalOf(runs.get(on, forgotten.run_id))).toMatchObject({ status: 404 });
    expect(await refusalOf(runs.cancel(on, forgotten.run_id))).toMatchObject({ status: 404 });
  });

  test('cancelMany ends those of a thread', async () => {
    const { runs } = given();
    const on = await thread();
    const made = [await runs.create(on, 'slow', long), await runs.create(on, 'slow', long)];
    await runs.cancelMany({ threadId: on, runIds: made.map(({ run_id }) => run_id), action: 'interrupt' });
    await vi.waitFor(
      async () => expect((await runs.list(on)).map(({ status }) => status)).toEqual(['interrupted', 'interrupted']),
      30_000,
    );
    const again = await runs.create(on, 'slow', long);
    await running(on, again.run_id);
    await runs.cancelMany({ threadId: on, runIds: [again.run_id] });
    await vi.waitFor(
      async () => expect(await runs.get(on, again.run_id)).toMatchObject({ status: 'interrupted' }),
      30_000,
    );
  });

  test('a disconnecting caller ends the run on request', async () => {
    const { runs } = given();
    const on = await thread();
    const gone = new AbortController();
    let runId = '';
    const waited = runs.wait(on, 'slow', {
      ...long,
      onDisconnect: 'cancel',
      signal: gone.signal,
      onRunCreated: (run) => (runId = run.run_id),
    });
    const refused = refusalOf(waited);
    await vi.waitFor(async () => expect(await runs.list(on, { status: 'running' })).toHaveLength(1), 30_000);
    runId ||= (await runs.list(on))[0]?.run_id ?? '';
    gone.abort();
    await refused;
    await vi.waitFor(async () => expect(await runs.get(on, runId)).toMatchObject({ status: 'interrupted' }), 30_000);

    const joined = await runs.create(on, 'slow', long);
    const left = new AbortController();
    const end = refusalOf(runs.join(on, joined.run_id, { cancelOnDisconnect: true, signal: left.signal }));
    await running(on, joined.run_id);
    await vi.waitFor(
      async () => {
        left.abort();
        expect(await runs.get(on, joined.run_id)).toMatchObject({ status: 'interrupted' });
      },
      { timeout: 30_000, interval: 500 },
    );
    await end;
  });

  test('multitaskStrategy decides what happens on a busy thread', async () => {
    const { runs } = given();
    const on = await thread();
    await using gate = await startGate();
    const slow = await runs.create(on, 'slow', { input: { each: 1, until: gate.url } });
    const quick = { input: { input: 'Ada' } };
    expect(await refusalOf(runs.create(on, 'greeter', { ...quick, multitaskStrategy: 'reject' }))).toMatchObject({
      status: 409,
    });
    const queued = runs.wait(on, 'slow', { input: { each: 1 }, multitaskStrategy: 'enqueue' });
    await vi.waitFor(async () => expect(await runs.list(on)).toHaveLength(2), 30_000);
    gate.open();
    expect(await queued).toMatchObject({ steps: [...steps, ...steps] });
    expect(await runs.get(on, slow.run_id)).toMatchObject({ status: 'success' });

    const first = await runs.create(on, 'slow', long);
    await running(on, first.run_id);
    expect(await runs.wait(on, 'greeter', { ...quick, multitaskStrategy: 'interrupt' })).toMatchObject({
      output: 'hello Ada',
    });
    expect(await runs.get(on, first.run_id)).toMatchObject({ status: 'interrupted' });
    const second = await runs.create(on, 'slow', long);
    await running(on, second.run_id);
    await runs.wait(on, 'greeter', { ...quick, multitaskStrategy: 'rollback' });
    expect(await refusalOf(runs.get(on, second.run_id))).toMatchObject({ status: 404 });
  });

  test('a command resumes an interrupt, also one before a node', async () => {
    const { runs } = given();
    const on = await thread();
    await runs.wait(on, 'interrupts', { input: { request: 'dance' } });
    expect(await runs.wait(on, 'interrupts', { command: { resume: 'yes' } })).toEqual({
      request: 'dance',
      answer: 'dance: yes',
    });
    const other = await thread();
    expect(await runs.wait(other, 'slow', { input: { each: 1 }, interruptBefore: ['second'] })).toMatchObject({
      steps: ['first'],
    });
    expect(await runs.wait(other, 'slow', { input: null, interruptAfter: ['second'] })).toMatchObject({
      steps: ['first', 'second'],
    });
    expect(await runs.wait(other, 'slow', { command: { update: { each: 2 }, goto: 'third' } })).toMatchObject({
      each: 2,
    });
  });

  test('afterSeconds delays a run, ifNotExists creates its thread', async () => {
    const { runs } = given();
    const on = crypto.randomUUID();
    expect(await refusalOf(runs.create(on, 'greeter', { input: { input: 'a' } }))).toMatchObject({ status: 404 });
    const started = performance.now();
    const put = await runs.create(on, 'greeter', { input: { input: 'a' }, ifNotExists: 'create', afterSeconds: 1 });
    expect(await runs.join(on, put.run_id)).toMatchObject({ output: 'hello a' });
    expect(performance.now() - started).toBeGreaterThan(900);
  });
}
