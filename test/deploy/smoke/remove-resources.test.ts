import { beforeEach, expect, test } from 'vitest';
import { atHold, removeResources } from '../../../src/deploy/smoke/remove-resources.ts';
import { serviceError } from '../machine/control-model.ts';
import { SimulatedClock } from '../machine/simulated-clock.ts';
import { AgentInMemory } from '../../app/verify/agent-in-memory.ts';

let clock: SimulatedClock;
let held: AgentInMemory;
let live: AgentInMemory;
let notes: string[];

beforeEach(() => {
  clock = new SimulatedClock();
  [held, live] = [new AgentInMemory(clock), new AgentInMemory(clock)];
  notes = [];
  for (const agent of [held, live]) {
    agent.threads.add('thread');
    agent.assistants.add('assistant');
  }
});

/** As the gateway answers at the address of a hold that is over. */
function endHold(): void {
  for (const call of ['deleteThread', 'deleteAssistant', 'cancelRun', 'ok'])
    held.failing.set(
      call,
      Array.from({ length: 5 }, () => serviceError('missing', call, { status: 404 })),
    );
}

const clean = (at: AgentInMemory | undefined, signal = new AbortController().signal) =>
  removeResources(
    { threadId: 'thread', assistantId: 'assistant', runId: 'run' },
    {
      agent: atHold(held, () => at),
      clock,
      signal,
      left: (what) => notes.push(what),
    },
  );

test('what a held agent made is removed there while it is held', async () => {
  await clean(live);
  expect([held.left, live.left, notes]).toEqual([[], ['thread', 'assistant'], []]);
});

test('and at the live one where the hold is over', async () => {
  endHold();
  await clean(live);
  expect([live.left, notes]).toEqual([[], []]);
});

test('what is missing at a healthy agent is removed already', async () => {
  held.threads.clear();
  held.assistants.clear();
  await clean(live);
  expect([live.left, notes]).toEqual([['thread', 'assistant'], []]);
});

test('what the agent refuses to remove is noted', async () => {
  held.failing.set('deleteAssistant', [serviceError('rejected', 'delete assistant', { status: 400 })]);
  await clean(undefined);
  expect([held.left, notes]).toEqual([['assistant'], [expect.stringContaining('assistant assistant (delete')]]);
});

test('a busy thread is tried again', async () => {
  const busy = serviceError('conflict', 'delete thread', { status: 409 });
  held.failing.set('deleteThread', [busy, busy]);
  await clean(undefined);
  expect([held.left, notes]).toEqual([[], []]);
});

test('after a cancellation it is still removed, and the cancellation is reported', async () => {
  const cancelled = AbortSignal.abort(new Error('cancelled'));
  await expect(clean(live, cancelled)).rejects.toThrow('cancelled');
  expect([held.left, notes]).toEqual([[], []]);
});

test('without a live one it is noted', async () => {
  endHold();
  await clean(undefined);
  expect(notes.toSorted()).toEqual([
    expect.stringContaining('assistant assistant (ok'),
    expect.stringContaining('thread thread (ok'),
  ]);
});
