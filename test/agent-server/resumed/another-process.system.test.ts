import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { until } from '../promises/given.ts';
import { asking, sharedDatabase } from '../runs/two-servers.ts';
import type { Asking, Servers } from '../runs/two-servers.ts';
import { askingAgent, waiting } from './agent.ts';

vi.setConfig({ testTimeout: 90_000 });

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

/** The state of a thread: what is next, what it asks, and what nodes said so far. */
async function look(at: Asking, thread: string) {
  const [state, row] = await Promise.all([
    at.json(at.get(`/threads/${thread}/state`)),
    at.json(at.get(`/threads/${thread}`)),
  ]);
  const requested = Object(state['interrupts']).map((one: unknown) => Object(one).value);
  return { status: row['status'], next: state['next'], requested, path: Object(state['values']).path };
}

/**
 * Begins on a thread what `first` asks for and then `second`, whose process leaves in the middle; another one goes on.
 *
 * @returns how the thread stands then.
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

/** Until a node of the run says that it waits. */
async function waitsInTheMiddle(place: string): Promise<void> {
  const runId = place.split('/').at(-1);
  await until(async () => (waiting().includes(runId) ? true : undefined));
}

const stay = { input: { stay: true } };
const resume = (answer: unknown) => async () => ({ command: { resume: answer } });

describe('a run that another process goes on with', () => {
  test('gives the answer that it was told to no other question, in a later node', async () => {
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

  test('gives it to no other question of the same node, which asks both again', async () => {
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

  test('does so where the answer names its question', async () => {
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

  test('gives it to no other question of a graph inside, which goes on where it was', async () => {
    const after = await continued('within', stay, resume('yes'));
    expect(after).toMatchObject({ status: 'interrupted', next: ['inside'], requested: ['second?'] });
    const end = await there.json(
      there.post(`/threads/${after.thread}/runs/wait`, { assistant_id: 'within', command: { resume: 'no' } }),
    );
    expect(end['path']).toEqual(['before', 'before', 'first? "yes"', 'waited', 'second? "no"']);
  });

  test('does not lose it, and keeps what was done beside', async () => {
    const after = await continued('spread', stay, resume('yes'));
    expect(after).toMatchObject({ status: 'idle', next: [], requested: [], path: ['first? "yes"', 'quick'] });
  });

  test('changes the state once where it was told to, and goes once where it was told to go', async () => {
    const done = { input: { path: ['started'] } };
    const reported = async () => ({ command: { update: { stay: true, path: ['told'] }, goto: 'two' } });
    const after = await continued('plain', done, reported);
    expect(after).toMatchObject({
      status: 'idle',
      path: ['started', 'one', 'waited', 'three', 'told', 'waited', 'three'],
    });
  });

  test('takes its input once, and the state at which it was begun', async () => {
    expect(await continued('plain', undefined, async () => stay)).toMatchObject({ path: ['one', 'waited', 'three'] });
    const after = await continued('plain', { input: { path: ['started'] } }, async (at, thread) => {
      const history: unknown = await (await at.get(`/threads/${thread}/history`)).json();
      const [, , atTwo] = Object(history);
      return { input: { stay: true, path: ['again'] }, checkpoint: atTwo.checkpoint };
    });
    expect(after.path).toEqual(['started', 'one', 'again', 'one', 'waited', 'three']);
  });
});
