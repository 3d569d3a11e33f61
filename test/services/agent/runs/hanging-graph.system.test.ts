import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../promises/fixture.ts';
import { temporaryAgent } from '../temporary-agent.ts';
import type { TemporaryAgent } from '../temporary-agent.ts';
import { asking, sharedDatabase } from './two-servers.ts';
import type { Servers } from './two-servers.ts';

let servers: Servers;
let agent: TemporaryAgent;
let client: Client;
beforeAll(async () => {
  servers = await sharedDatabase();
  client = new Client({ connectionString: servers.databaseUrl });
  await client.connect();
  agent = temporaryAgent({
    'langgraph.json': { graphs: { slow: './slow.ts:slow' } },
    'slow.ts': `
      import { Annotation, StateGraph } from '@langchain/langgraph';
      const graph = new StateGraph(Annotation.Root({ said: Annotation<string> }))
        .addNode('say', () => ({ said: 'so' })).addEdge('__start__', 'say').addEdge('say', '__end__').compile();
      let calls = 0;
      export const slow = async () => {
        calls += 1;
        if (calls > 1) await new Promise((resolve) => setTimeout(resolve, 6000));
        return graph;
      };`,
  });
});
afterAll(async () => {
  await client.end();
  await servers.close();
  agent.remove();
});

test('a process whose graph factory is slow for an orphaned run counts as alive', async () => {
  const server = await servers.start({ configPath: agent.configPath, leaseMs: 1500 });
  const thread = await asking(server).thread();
  // Its client's connection ended with its process.
  const run = randomUUID();
  await client.query(
    `insert into runs (run_id, thread_id, assistant_id, graph_id, status, metadata, kwargs, multitask_strategy, temporary,
       detached, created_at, updated_at)
     values ($1, $2, $1, 'slow', 'running', '{}', '{}', 'enqueue', false, false, now(), now())`,
    [run, thread],
  );
  await until(async () => (servers.lines.join('\n').includes(`${run} was left`) ? true : undefined));
  const lapsed = async () => {
    const { rows } = await client.query('select from processes where lease_until < clock_timestamp()');
    return rows.length;
  };
  let seen = 0;
  await until(async () => {
    seen += await lapsed();
    const { rows } = await client.query<{ status: string }>('select status from runs where run_id = $1', [run]);
    return rows[0]?.status === 'interrupted' ? true : undefined;
  });
  expect(seen).toBe(0);
});
