import { beforeEach, expect, test } from 'vitest';
import { atHold, cleanUp } from '../../../app/verify/cleanup.ts';
import { serviceError } from '../../deploy/machine/control-model.ts';
import { SimulatedClock } from '../../deploy/machine/simulated-clock.ts';
import { AgentInMemory } from './agent-in-memory.ts';

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

const clean = (at: AgentInMemory | undefined) =>
  cleanUp(
    { test: 'greets', threadId: 'thread', assistantId: 'assistant', runId: 'run' },
    {
      agent: atHold(held, at),
      clock,
      signal: new AbortController().signal,
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

test('without a live one it is noted', async () => {
  endHold();
  await clean(undefined);
  expect(notes).toEqual([
    expect.stringContaining('smoke test greets could not remove thread thread (ok'),
    expect.stringContaining('smoke test greets could not remove assistant assistant (ok'),
  ]);
});
