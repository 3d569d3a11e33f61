import { Client } from '@langchain/langgraph-sdk';
import { Client as Database } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { startTestPostgres } from '../../database/postgres.ts';
import type { TestPostgres } from '../../database/postgres.ts';
import { startAgentProcess } from '../agent-process.ts';
import type { AgentProcess } from '../agent-process.ts';
import { until } from '../promises/given.ts';
import { agentConfig } from '../serving.ts';

/** Starting a process takes seconds where many tests run at once. */
vi.setConfig({ testTimeout: 120_000 });

let postgres: TestPostgres;
let database: Database;
const begun: AgentProcess[] = [];
beforeAll(async () => {
  postgres = await startTestPostgres();
  database = new Database({ connectionString: postgres.url });
  await database.connect();
});
afterEach(async () => {
  for (const { child } of begun) child.kill('SIGKILL');
  await Promise.all(begun.splice(0).map(({ gone }) => gone));
});
afterAll(async () => {
  await database.end();
  await postgres.stop();
});

async function start(): Promise<{ process: AgentProcess; client: Client }> {
  const process = await startAgentProcess({ LANDFALL_GRAPH_CONFIG: agentConfig, DATABASE_URI: postgres.url });
  begun.push(process);
  return { process, client: new Client({ apiUrl: process.url, apiKey: null }) };
}

/** Nobody wants to wait for the end of a minute: the time of a cron's next run is a moment from now. */
const soon = (cronId: string) =>
  database.query(
    `update crons set next_run_date = date_trunc('milliseconds', now()) + interval '300 ms' where cron_id = $1`,
    [cronId],
  );

describe('crons of several processes', () => {
  test('start one run each time, and it goes on when the processes are killed', async () => {
    const [one, another] = await Promise.all([start(), start()]);
    const { client } = one;
    const { thread_id } = await client.threads.create();
    const cron = await client.crons.createForThread(thread_id, 'echo', {
      schedule: '@yearly',
      input: { input: 'Ada', sleep_ms: 1000 },
      metadata: { by: 'processes' },
    });
    const status = async (n: number) => (await client.runs.list(thread_id))[n]?.status;
    await soon(cron.cron_id);
    await until(async () => ((await status(0)) === 'success' ? true : undefined));
    await soon(cron.cron_id);
    await until(async () => ((await status(1)) === 'success' && (await status(0)) === 'running' ? true : undefined));
    for (const { process } of [one, another]) process.child.kill('SIGKILL');
    await Promise.all([one.process.gone, another.process.gone]);
    const { client: next } = await start();
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
