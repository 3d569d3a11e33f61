import { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestPostgres } from '../../../kit/postgres/postgres.ts';
import type { TestPostgres } from '../../../kit/postgres/postgres.ts';
import { startAgentProcess } from '../agent-process.ts';
import type { AgentProcess } from '../agent-process.ts';
import type { TemporaryAgent } from '../temporary-agent.ts';
import { rememberingAgent } from './remembering-agent.ts';

let postgres: TestPostgres;
let agent: TemporaryAgent;
let processes: AgentProcess[] = [];
beforeAll(async () => {
  postgres = await startTestPostgres();
  agent = rememberingAgent({ ttl: { default_ttl: 60, sweep_interval_minutes: 1 } });
  const environment = { LANDFALL_GRAPH_CONFIG: agent.configPath, DATABASE_URI: postgres.url };
  processes = await Promise.all([startAgentProcess(environment), startAgentProcess(environment)]);
});
afterAll(async () => {
  for (const { child } of processes) child.kill('SIGKILL');
  await Promise.all(processes.map(({ gone }) => gone));
  await postgres.stop();
  agent.remove();
});

test(
  'an item stored by one process is readable by another after a kill',
  { meta: { claims: ['agent.store.persistent'] } },
  async () => {
    const [first, second] = processes.map(({ url }) => new Client({ apiUrl: url, apiKey: null }));
    if (!first || !second) throw new Error('Expected two processes.');
    const keys = Array.from({ length: 20 }, (_, n) => `k${n}`);
    await Promise.all(keys.map((key) => first.store.putItem(['taken'], key, { key })));
    await first.runs.wait(null, 'remembers', { input: { user: 'ada', says: { by: 'a graph' } } });
    processes[0]?.child.kill('SIGKILL');
    const kept = await second.store.searchItems(['taken'], { limit: 99 });
    expect(kept.items.map(({ key }) => key).sort()).toEqual(keys.toSorted());
    expect(await second.store.getItem(['users', 'ada'], 'last')).toMatchObject({ value: { by: 'a graph' } });
    expect(await second.runs.wait(null, 'remembers', { input: { user: 'ada' } })).toMatchObject({
      heard: { value: { by: 'a graph' } },
    });
  },
);
