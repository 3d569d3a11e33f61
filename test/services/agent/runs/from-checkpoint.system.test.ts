import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { askAt } from '../ask.ts';
import type { Ask } from '../ask.ts';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';
import { temporaryAgent } from '../temporary-agent.ts';
import type { TemporaryAgent } from '../temporary-agent.ts';

/** `whole` has a subgraph that interrupts and counts its steps. */
const graphs = `
  import { Annotation, interrupt, StateGraph } from '@langchain/langgraph';
  const State = Annotation.Root({
    steps: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
    answer: Annotation<string>,
  });
  const inside = new StateGraph(State)
    .addNode('think', async () => ({ steps: ['think'] }))
    .addNode('ask', async () => ({ answer: interrupt('May I?') }))
    .addEdge('__start__', 'think').addEdge('think', 'ask').addEdge('ask', '__end__').compile();
  export const whole = new StateGraph(State)
    .addNode('begin', async () => ({ steps: ['begin'] }))
    .addNode('inside', inside)
    .addEdge('__start__', 'begin').addEdge('begin', 'inside').addEdge('inside', '__end__');`;

let folder: TemporaryAgent;
let serving: Serving;
let ask: Ask;
beforeAll(async () => {
  folder = temporaryAgent({ 'langgraph.json': { graphs: { whole: './whole.ts:whole' } }, 'whole.ts': graphs });
  serving = await serveAgent({ configPath: folder.configPath });
  ask = askAt(serving.url);
});
afterAll(async () => {
  await serving.close();
  folder.remove();
});

/** A thread interrupted in a subgraph. */
async function waiting(): Promise<{ thread: string; runs: string }> {
  const { thread_id } = Object((await ask('POST', '/threads', {})).body);
  const runs = `/threads/${thread_id}/runs`;
  const first = await ask('POST', `${runs}/wait`, { assistant_id: 'whole', input: { steps: ['given'] } });
  expect(first.body).toMatchObject({ __interrupt__: [{ value: 'May I?' }] });
  return { thread: thread_id, runs };
}

test.each([
  ['by checkpoint', { checkpoint: { checkpoint_id: randomUUID() } }],
  ['by id', { checkpoint_id: randomUUID() }],
  ['by an invalid id', { checkpoint_id: 'nonsense' }],
  ['of an unreachable subgraph', { checkpoint: { checkpoint_id: randomUUID(), checkpoint_ns: 'x:1' } }],
  ['of a subgraph', { checkpoint: { checkpoint_id: randomUUID(), checkpoint_map: { '': randomUUID() } } }],
])('rejects a missing checkpoint (%s), without changes', async (_, from) => {
  const { thread, runs } = await waiting();
  const before = (await ask('GET', `/threads/${thread}`)).body;
  for (const way of ['', '/wait', '/stream']) {
    const refused = await ask('POST', `${runs}${way}`, { assistant_id: 'whole', input: { steps: ['new'] }, ...from });
    expect(refused).toMatchObject({
      status: 404,
      body: { detail: expect.stringMatching(/^Checkpoint not found\. There is no checkpoint /) },
    });
  }
  expect((await ask('GET', `/threads/${thread}`)).body).toEqual(before);
  expect((await ask('GET', runs)).body).toHaveLength(1);
});

test('rejects the checkpoint of another thread', async () => {
  const [one, other] = [await waiting(), await waiting()];
  const { checkpoint } = Object((await ask('GET', `/threads/${other.thread}/state`)).body);
  const refused = await ask('POST', `${one.runs}/wait`, {
    assistant_id: 'whole',
    command: { resume: 'yes' },
    checkpoint,
  });
  expect(refused.status).toBe(404);
});

test('a run may start at any state of its thread', async () => {
  const { thread, runs } = await waiting();
  const { checkpoint } = Object((await ask('GET', `/threads/${thread}/state`)).body);
  const resumed = await ask('POST', `${runs}/wait`, { assistant_id: 'whole', command: { resume: 'yes' }, checkpoint });
  expect(resumed.body).toMatchObject({ answer: 'yes', steps: expect.arrayContaining(['given', 'begin', 'think']) });
});

test('also at one of a subgraph: it continues there, and keeps the steps before', async () => {
  const { thread, runs } = await waiting();
  const state = Object((await ask('GET', `/threads/${thread}/state?subgraphs=true`)).body);
  const { checkpoint } = state.tasks[0].state;
  expect(checkpoint).toMatchObject({
    checkpoint_ns: expect.stringMatching(/^inside:/),
    checkpoint_map: { '': state.checkpoint.checkpoint_id },
  });
  const again = await ask('POST', `${runs}/wait`, { assistant_id: 'whole', checkpoint });
  expect(again.body).toMatchObject({ steps: ['given', 'begin'], __interrupt__: [{ value: 'May I?' }] });
  const resumed = await ask('POST', `${runs}/wait`, { assistant_id: 'whole', command: { resume: 'yes' } });
  expect(resumed.body).toMatchObject({ answer: 'yes', steps: expect.arrayContaining(['given', 'begin', 'think']) });
});

test('a run may start at the empty state of a new thread', async () => {
  const { thread_id } = Object((await ask('POST', '/threads', {})).body);
  const { checkpoint } = Object((await ask('GET', `/threads/${thread_id}/state`)).body);
  const run = { assistant_id: 'whole', input: { steps: ['given'] }, checkpoint };
  expect(await ask('POST', `/threads/${thread_id}/runs/wait`, run)).toMatchObject({ status: 200 });
});
