import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../promises/fixture.ts';
import { asking } from '../runs/two-servers.ts';
import type { Asking } from '../runs/two-servers.ts';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';
import { askingAgent, waiting } from './agent.ts';

const agent = askingAgent();
let serving: Serving;
let server: Asking;
let database: Client;
beforeAll(async () => {
  serving = await serveAgent({ configPath: agent.configPath });
  server = asking(serving);
  database = new Client({ connectionString: serving.databaseUrl });
  await database.connect();
});
afterAll(async () => {
  await database.end();
  await serving.close();
  agent.remove();
});

const ran = (thread: string, body: object) => server.json(server.post(`/threads/${thread}/runs/wait`, body));

/** All that is stored of a thread, except for its update time. */
async function all(thread: string): Promise<unknown> {
  const { updated_at: _, ...row } = await server.json(server.get(`/threads/${thread}`));
  const { rows } = await database.query(
    `select checkpoint_ns, checkpoint_id, task_id, idx, channel, encode(blob, 'hex') as blob
     from checkpoint_writes where thread_id = $1 order by 1, 2, 3, 4`,
    [thread],
  );
  return { row, rows, state: await server.json(server.get(`/threads/${thread}/state`)) };
}

/** Starts a run, and rolls it back once a node of it blocks. */
async function undone(thread: string, body: object): Promise<void> {
  const place = await server.run(thread, body);
  await until(async () => (waiting().includes(place.split('/').at(-1)) ? true : undefined));
  expect((await server.post(`${place}/cancel?wait=1&action=rollback`)).status).toBe(204);
  expect((await server.get(place)).status).toBe(404);
}

const stay = { assistant_id: 'plain', input: { stay: true } };

describe('a run that is rolled back', () => {
  test.each(['twice', 'spread', 'within'])('discards its answer (%s)', async (graph) => {
    const thread = await server.thread();
    await ran(thread, { assistant_id: graph, input: { stay: true } });
    const before = await all(thread);
    await undone(thread, { assistant_id: graph, command: { resume: 'NO' } });
    expect(await all(thread)).toEqual(before);
    await ran(thread, { assistant_id: graph, input: null });
    expect(JSON.stringify(await all(thread))).not.toContain('NO');
    expect(await all(thread)).toMatchObject({ row: { status: 'interrupted' } });
  });

  test('restores the graph and status of its thread', async () => {
    const thread = await server.thread();
    await ran(thread, { assistant_id: 'fails', input: {} });
    await ran(thread, { assistant_id: 'fails', command: { resume: 'bad' } });
    const before = await all(thread);
    expect(before).toMatchObject({ row: { status: 'error', metadata: { graph_id: 'fails' } } });
    await undone(thread, stay);
    expect(await all(thread)).toEqual(before);
  });

  test('leaves a thread without a graph as it was', async () => {
    const thread = await server.thread();
    const before = await all(thread);
    await undone(thread, stay);
    expect(await all(thread)).toEqual(before);
  });

  test('restores the state from before it if the next run is rolled back too', async () => {
    const thread = await server.thread();
    await ran(thread, { assistant_id: 'both', input: {} });
    const before = await all(thread);
    const first = await server.run(thread, stay);
    await until(async () => (waiting().includes(first.split('/').at(-1)) ? true : undefined));
    await undone(thread, { ...stay, multitask_strategy: 'rollback' });
    expect((await server.get(first)).status).toBe(404);
    expect(await all(thread)).toEqual(before);
    expect(before).toMatchObject({ row: { status: 'interrupted', metadata: { graph_id: 'both' } } });
  });

  test('restores the state if several runs are rolled back at once', async () => {
    const thread = await server.thread();
    const before = await all(thread);
    const first = await server.run(thread, stay);
    await until(async () => (waiting().includes(first.split('/').at(-1)) ? true : undefined));
    const others = await Promise.all(
      ['plain', 'twice', 'both'].map((id) => server.run(thread, { ...stay, assistant_id: id })),
    );
    await Promise.all([first, ...others].map((place) => server.post(`${place}/cancel?wait=1&action=rollback`)));
    expect(await all(thread)).toEqual(before);
  });

  test('leaves no notes, like runs that end', async () => {
    const noted = async () => (await database.query('select from checkpoint_writes_before')).rowCount;
    expect(await noted()).toBe(0);
  });
});
