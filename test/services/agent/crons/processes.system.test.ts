import { Client } from '@langchain/langgraph-sdk';
import { Client as Database } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGate } from '../../../partners/clients/gate.ts';
import { startAgentProcess } from '../agent-process.ts';
import type { AgentProcess } from '../agent-process.ts';
import { until } from '../promises/fixture.ts';
import { sharedDatabase } from '../runs/two-servers.ts';
import type { Servers } from '../runs/two-servers.ts';
import { agentConfig } from '../serving.ts';

/** The process to kill; the other ones of its deployment run in the test process, where they start at once. */
let killed: AgentProcess;
let servers: Servers;
let database: Database;
beforeAll(async () => {
  servers = await sharedDatabase();
  killed = await startAgentProcess({ LANDFALL_GRAPH_CONFIG: agentConfig, DATABASE_URI: servers.databaseUrl });
  database = new Database({ connectionString: servers.databaseUrl });
  await database.connect();
});
afterAll(async () => {
  killed.child.kill('SIGKILL');
  await killed.gone;
  await database.end();
  await servers.close();
});

const clientOf = ({ url }: { url: string }): Client => new Client({ apiUrl: url, apiKey: null });

/** The next run is a moment from now, so that the test need not wait for the next minute. */
const soon = (cronId: string) =>
  database.query(
    `update crons set next_run_date = date_trunc('milliseconds', now()) + interval '300 ms' where cron_id = $1`,
    [cronId],
  );

describe('crons with several processes', () => {
  test('start one run per time, which continues after a process stops or is killed', async () => {
    await using gate = await startGate();
    gate.open();
    const leaving = await servers.start();
    const client = clientOf(killed);
    const { thread_id } = await client.threads.create();
    const cron = await client.crons.createForThread(thread_id, 'gated', {
      schedule: '@yearly',
      input: { input: 'Ada', gate: gate.url },
      metadata: { by: 'processes' },
    });
    const status = async (n: number) => (await client.runs.list(thread_id))[n]?.status;
    await soon(cron.cron_id);
    await until(async () => ((await status(0)) === 'success' ? true : undefined));
    gate.shut();
    await soon(cron.cron_id);
    await until(async () => ((await status(1)) === 'success' && (await status(0)) === 'running' ? true : undefined));
    // Either of the two may have it.
    killed.child.kill('SIGKILL');
    await Promise.all([killed.gone, leaving.close()]);
    gate.open();
    const next = clientOf(await servers.start());
    const runs = await until(async () => {
      const all = await next.runs.list(thread_id);
      return all.every((run) => run.status === 'success') ? all : undefined;
    });
    expect(runs).toHaveLength(2);
    expect(runs).toMatchObject([{ metadata: { cron_id: cron.cron_id } }, { metadata: { cron_id: cron.cron_id } }]);
    const [kept] = await next.crons.search({ threadId: thread_id });
    expect(kept).toMatchObject({ cron_id: cron.cron_id, schedule: '@yearly', enabled: true });
    expect(new Date(kept?.next_run_date ?? 0).getUTCMonth()).toBe(0);
  });
});
