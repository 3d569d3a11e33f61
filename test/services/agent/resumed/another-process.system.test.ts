import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../promises/fixture.ts';
import { asking, sharedDatabase } from '../runs/two-servers.ts';
import type { Asking, Servers } from '../runs/two-servers.ts';
import { askingAgent, waiting } from './agent.ts';

const agent = askingAgent();
let servers: Servers;
let there: Asking;
beforeAll(async () => {
  servers = await sharedDatabase();
});
afterAll(async () => {
  await servers.close();
  agent.remove();
});

/** The state of a thread: next nodes, questions, and the recorded path. */
async function look(at: Asking, thread: string) {
  const [state, row] = await Promise.all([
    at.json(at.get(`/threads/${thread}/state`)),
    at.json(at.get(`/threads/${thread}`)),
  ]);
  const requested = Object(state['interrupts']).map((one: unknown) => Object(one).value);
  return { status: row['status'], next: state['next'], requested, path: Object(state['values']).path };
}

/**
 * Runs `first` on a thread, then `second`, whose process shuts down midway; another one continues.
 *
 * @returns the resulting state of the thread.
 */
async function continued(
  graph: string,
  first: object | undefined,
  second: (thread: Asking, id: string) => Promise<object>,
) {
  const leaving = await servers.start({ configPath: agent.configPath });
  there = asking(await servers.start({ configPath: agent.configPath }));
  const here = asking(leaving);
  const thread = await here.thread();
  if (first) await here.json(here.post(`/threads/${thread}/runs/wait`, { assistant_id: graph, ...first }));
  const place = await here.run(thread, { assistant_id: graph, ...(await second(here, thread)) });
  await waitsInTheMiddle(place);
  await leaving.close();
  await there.json(there.get(`${place}/join`));
  expect(await there.status(place)).toBe('success');
  return { thread, place, ...(await look(there, thread)) };
}

/** Waits until a node of the run is blocking. */
async function waitsInTheMiddle(place: string): Promise<void> {
  const runId = place.split('/').at(-1);
  await until(async () => (waiting().includes(runId) ? true : undefined));
}

const stay = { input: { stay: true } };
const resume = (answer: unknown) => async () => ({ command: { resume: answer } });

describe('a run that another process continues', () => {
  test('does not reuse its answer for a question of a later node', async () => {
    const after = await continued('chain', stay, resume('yes'));
    expect(after).toMatchObject({
      status: 'interrupted',
      next: ['ask2'],
      requested: ['second?'],
      path: ['first? "yes"', 'waited'],
    });
    const end = await there.json(
      there.post(`/threads/${after.thread}/runs/wait`, { assistant_id: 'chain', command: { resume: 'no' } }),
    );
    expect(end['path']).toEqual(['first? "yes"', 'waited', 'second? "no"']);
  });

  test('does not reuse it for a second question of the same node', async () => {
    const after = await continued('twice', stay, resume('yes'));
    expect(after).toMatchObject({ status: 'interrupted', requested: ['second?'] });
    const end = await there.json(
      there.post(`/threads/${after.thread}/runs/wait`, {
        assistant_id: 'twice',
        command: { resume: 'no', update: { stay: false } },
      }),
    );
    expect(end['path']).toEqual(['both ["yes","no"]']);
  });

  test('also if the answer names its question', async () => {
    const byName = async (at: Asking, thread: string) => {
      const { interrupts } = await at.json(at.get(`/threads/${thread}/state`));
      return { command: { resume: { [Object(interrupts)[0].id]: 'yes' } } };
    };
    expect(await continued('twice', stay, byName)).toMatchObject({ status: 'interrupted', requested: ['second?'] });
    expect(await continued('chain', stay, byName)).toMatchObject({
      requested: ['second?'],
      path: ['first? "yes"', 'waited'],
    });
  });

  test('does not reuse it in a subgraph, which continues where it was', async () => {
    const after = await continued('within', stay, resume('yes'));
    expect(after).toMatchObject({ status: 'interrupted', next: ['inside'], requested: ['second?'] });
    const end = await there.json(
      there.post(`/threads/${after.thread}/runs/wait`, { assistant_id: 'within', command: { resume: 'no' } }),
    );
    expect(end['path']).toEqual(['before', 'before', 'first? "yes"', 'waited', 'second? "no"']);
  });

  test('keeps it, and the work of parallel nodes', async () => {
    const after = await continued('spread', stay, resume('yes'));
    expect(after).toMatchObject({ status: 'idle', next: [], requested: [], path: ['first? "yes"', 'quick'] });
  });

  test('applies a state update and a goto once', async () => {
    const done = { input: { path: ['started'] } };
    const reported = async () => ({ command: { update: { stay: true, path: ['updated'] }, goto: 'two' } });
    const after = await continued('plain', done, reported);
    expect(after).toMatchObject({
      status: 'idle',
      path: ['started', 'one', 'waited', 'three', 'updated', 'waited', 'three'],
    });
  });

  test('uses its input and its checkpoint once', async () => {
    expect(await continued('plain', undefined, async () => stay)).toMatchObject({ path: ['one', 'waited', 'three'] });
    const after = await continued('plain', { input: { path: ['started'] } }, async (at, thread) => {
      const history: unknown = await (await at.get(`/threads/${thread}/history`)).json();
      const [, , atTwo] = Object(history);
      return { input: { stay: true, path: ['again'] }, checkpoint: atTwo.checkpoint };
    });
    expect(after.path).toEqual(['started', 'one', 'again', 'one', 'waited', 'three']);
  });
});
