import { expectSame, fieldOf, statusOfError, waitUntilSame } from './case.ts';
import { namesOf, sdkCases } from './sdk.ts';
import type { StreamEvent } from './sdk.ts';

const hello = { input: { input: 'Ada' } };
const say = (content: string) => ({ input: { messages: [{ role: 'user', content }] } });
const long = { input: { each: 60_000 } };
const steps = ['first', 'second', 'third'];

/** Runs with the official client. */
export const sdkRunCases = [
  ...sdkCases('`runs.wait` on a thread and stateless', async ({ runs, threads }) => {
    const { thread_id } = await threads.create();
    expectSame(await runs.wait(thread_id, 'greeter', hello), { input: 'Ada', output: 'hello Ada' });
    expectSame(await runs.wait(null, 'greeter', hello), { input: 'Ada', output: 'hello Ada' });
  }),
  ...sdkCases('`runs.wait` throws the error of the run', async ({ runs }) => {
    const failing = { input: { input: 'Ada', fail: 'no ink' } };
    const message = await runs.wait(null, 'greeter', failing).then(() => 'no error', String);
    expectSame(message, 'Error: RequestedFailure: no ink');
  }),
  ...sdkCases('`runs.create`, `get`, `list`, `join`, `delete`', async ({ runs, threads }) => {
    const { thread_id: on } = await threads.create();
    const { run_id } = await runs.create(on, 'slow', { input: { each: 20 }, metadata: { by: 'sdk' } });
    expectSame(await runs.join(on, run_id), { each: 20, steps });
    const { status, metadata } = await runs.get(on, run_id);
    expectSame({ status, by: metadata?.['by'] }, { status: 'success', by: 'sdk' });
    expectSame((await runs.list(on)).length, 1);
    await runs.delete(on, run_id);
    expectSame(await statusOfError(runs.get(on, run_id)), 404);
  }),
  ...sdkCases('`runs.createBatch`', async ({ runs }) => {
    const made = await runs.createBatch(['Ada', 'Bea'].map((input) => ({ assistantId: 'greeter', input: { input } })));
    expectSame(
      made.map(({ status }) => status),
      ['pending', 'pending'],
    );
  }),
  ...sdkCases('`runs.cancel`', async ({ runs, threads }) => {
    const { thread_id: on } = await threads.create();
    const { run_id } = await runs.create(on, 'slow', long);
    await waitUntilSame(async () => (await runs.get(on, run_id)).status, 'running');
    await runs.cancel(on, run_id, true);
    expectSame((await runs.get(on, run_id)).status, 'interrupted');
  }),
  ...sdkCases('the stream of a cancelled run ends without an error', async ({ runs, threads }) => {
    const { thread_id: on } = await threads.create();
    const { run_id } = await runs.create(on, 'slow', { ...long, streamMode: 'updates' });
    const heard: Promise<StreamEvent[]> = Array.fromAsync(runs.joinStream(on, run_id));
    await waitUntilSame(async () => (await runs.get(on, run_id)).status, 'running');
    await runs.cancel(on, run_id, true);
    if (namesOf(await heard).includes('error')) throw new Error('it ends with an error');
  }),
  ...sdkCases('`multitaskStrategy`: `reject`, `enqueue`, `interrupt`', async ({ runs, threads }) => {
    const { thread_id: on } = await threads.create();
    const quick = (multitaskStrategy: 'reject' | 'enqueue' | 'interrupt') =>
      runs.wait(on, 'greeter', { ...hello, multitaskStrategy });
    const first = await runs.create(on, 'slow', long);
    await waitUntilSame(async () => (await runs.get(on, first.run_id)).status, 'running');
    const refused = await statusOfError(quick('reject'));
    if (refused !== 409 && refused !== 422) throw new Error(`reject: ${String(refused)}`);
    await quick('interrupt');
    expectSame((await runs.get(on, first.run_id)).status, 'interrupted');
    const second = await runs.create(on, 'slow', { input: { each: 50 }, multitaskStrategy: 'enqueue' });
    await quick('enqueue');
    expectSame((await runs.get(on, second.run_id)).status, 'success');
  }),
  ...sdkCases('`multitaskStrategy: "rollback"` deletes the former run', async ({ runs, threads }) => {
    const { thread_id: on } = await threads.create();
    const { run_id } = await runs.create(on, 'slow', long);
    await waitUntilSame(async () => (await runs.get(on, run_id)).status, 'running');
    await runs.wait(on, 'greeter', { ...hello, multitaskStrategy: 'rollback' });
    await waitUntilSame(() => statusOfError(runs.get(on, run_id)), 404, 5_000);
  }),
  ...sdkCases('an interrupt and `command.resume`', async ({ runs, threads }) => {
    const { thread_id: on } = await threads.create();
    await runs.wait(on, 'interrupts', { input: { request: 'dance' } });
    const { status, interrupts } = await threads.get(on);
    expectSame(status, 'interrupted');
    const [[interrupt] = []] = Object.values(interrupts);
    expectSame(interrupt?.value, { question: 'May I dance?' });
    const resumed = await runs.wait(on, 'interrupts', { command: { resume: 'yes' } });
    expectSame(resumed, { request: 'dance', answer: 'dance: yes' });
  }),
  ...sdkCases('`interruptBefore`, `interruptAfter`, `command.goto`', async ({ runs, threads }) => {
    const { thread_id: on } = await threads.create();
    const done = async () => fieldOf((await threads.getState(on)).values, 'steps');
    await runs.wait(on, 'slow', { input: { each: 1 }, interruptBefore: ['second'] });
    expectSame(await done(), ['first']);
    await runs.wait(on, 'slow', { input: null, interruptAfter: ['second'] });
    expectSame(await done(), ['first', 'second']);
    await runs.wait(on, 'slow', { command: { goto: 'third' } });
    expectSame(await done(), steps);
  }),
  ...sdkCases('`checkpoint`: a run from an earlier state', async ({ runs, threads }) => {
    const { thread_id: on } = await threads.create();
    await runs.wait(on, 'chat', say('one'));
    const { checkpoint } = await threads.getState(on);
    await runs.wait(on, 'chat', say('two'));
    const forked = await runs.wait(on, 'chat', { ...say('three'), checkpoint });
    const messages: unknown = Reflect.get(forked, 'messages');
    expectSame(Array.isArray(messages) && messages.map((each) => Reflect.get(Object(each), 'content')), [
      'one',
      'Good day to you',
      'three',
      'Good day to you',
    ]);
  }),
];
