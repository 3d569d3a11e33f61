import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../promises/fixture.ts';
import { asking, sharedDatabase } from '../runs/two-servers.ts';
import type { Servers } from '../runs/two-servers.ts';
import { askingAgent, waiting } from './agent.ts';

const agent = askingAgent();
let servers: Servers;
let database: Client;
beforeAll(async () => {
  servers = await sharedDatabase();
  database = new Client({ connectionString: servers.databaseUrl });
  await database.connect();
});
afterAll(async () => {
  await database.end();
  await servers.close();
  agent.remove();
});

test('the next process completes a rollback that its process left undone', async () => {
  const first = await servers.start({ configPath: agent.configPath });
  const here = asking(first);
  const thread = await here.thread();
  await here.json(here.post(`/threads/${thread}/runs/wait`, { assistant_id: 'twice', input: { stay: true } }));
  const { updated_at: _, ...before } = await here.json(here.get(`/threads/${thread}`));
  const place = await here.run(thread, { assistant_id: 'twice', command: { resume: 'NO' } });
  await until(async () => (waiting().includes(place.split('/').at(-1)) ? true : undefined));
  await first.close();
  await database.query(`update runs set cancel_action = 'rollback' where thread_id = $1 and status = 'running'`, [
    thread,
  ]);
  const there = asking(await servers.start({ configPath: agent.configPath }));
  await until(async () => ((await there.get(place)).status === 404 ? true : undefined));
  expect(await there.json(there.get(`/threads/${thread}`))).toMatchObject(before);
  const { rows } = await database.query(
    `select from checkpoint_writes where thread_id = $1 and channel = '__resume__'`,
    [thread],
  );
  expect(rows).toEqual([]);
});
