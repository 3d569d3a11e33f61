import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { connectAgentServer } from '../../../../src/client/agent.ts';
import { systemClock } from '../../../../src/kit/clock.ts';
import type { TracedRun } from '../../../../src/contract/control/tracing-project.ts';
import { openStorage } from '../../../../src/services/agent/storage/open.ts';
import { runExporter } from '../../../../src/services/agent/tracing/run-exporter.ts';
import { silentLogger } from '../../../../src/kit/logger.ts';
import { startTestPostgres, type TestPostgres } from '../../../kit/postgres/postgres.ts';
import { startAgentProcess } from '../agent-process.ts';
import { until } from '../promises/fixture.ts';
import { agentConfig, serveAgent, type Serving } from '../serving.ts';
import { temporaryAgent, type TemporaryAgent } from '../temporary-agent.ts';
import { startCollector, type Collector } from './collector.ts';

let collector: Collector;
let talking: TemporaryAgent;
const atTheEnd: (() => Promise<unknown> | void)[] = [];
beforeAll(async () => {
  collector = await startCollector();
  talking = temporaryAgent({
    'langgraph.json': { graphs: { talk: './talk.ts:talk' } },
    'talk.ts': `
      import { AIMessage } from '@langchain/core/messages';
      import { interrupt, MessagesAnnotation, StateGraph } from '@langchain/langgraph';
      let said = 0;
      export const talk = new StateGraph(MessagesAnnotation)
        .addNode('say', async ({ messages }) => {
          const last = String(messages.at(-1)?.content);
          if (last === 'fail') throw new TypeError('no model\\u0000 ' + 'x'.repeat(20_000));
          if (last === 'ask') interrupt('Send it?');
          if (last === 'slow') await new Promise((resolve) => setTimeout(resolve, 60_000));
          said += 1;
          const usage_metadata = { input_tokens: 10, output_tokens: said, total_tokens: 10 + said };
          return { messages: [new AIMessage({ id: 'said-' + said, content: 'yes', usage_metadata })] };
        })
        .addEdge('__start__', 'say')
        .addEdge('say', '__end__');`,
  });
});
afterEach(async () => {
  for (const end of atTheEnd.splice(0).reverse()) await end();
  collector.answers = 200;
  collector.runs.length = 0;
});
afterAll(async () => {
  talking.remove();
  await collector.close();
});

const tracing = () => ({ url: collector.url, token: collector.token });

/** Makes the pauses between exports a tenth as long. */
const clock = { ...systemClock, sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms / 10, signal) };

async function serve(more = {}): Promise<Serving & { agent: ReturnType<typeof connectAgentServer> }> {
  const server = await serveAgent({
    configPath: talking.configPath,
    tracing: tracing(),
    revisionId: 'r-1',
    clock,
    ...more,
  });
  const agent = connectAgentServer({ url: server.url, userAgent: 'test' });
  atTheEnd.push(
    () => server.close(),
    () => agent.close(),
  );
  return { ...server, agent };
}

const say = (content: string) => ({ assistant_id: 'talk', input: { messages: [{ role: 'user', content }] } });
const reported = (count: number): Promise<TracedRun[]> =>
  until(async () => (collector.runs.length >= count ? collector.runs : undefined));
const becomesTrue = (look: () => Promise<boolean>): Promise<true> =>
  until(async () => ((await look()) ? true : undefined));
const outbox = async (url: string): Promise<number> => {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ count: string }>('select count(*) from trace_outbox');
  await client.end();
  return Number(rows[0]?.count);
};

describe('exports finished runs', () => {
  test('with their times, graph and the tokens of their own messages', async () => {
    const { agent, databaseUrl } = await serve();
    const { thread_id } = await agent.createThread({});
    await agent.waitRun(say('hello'), thread_id);
    await agent.waitRun(say('again'), thread_id);
    const [first, second] = await reported(2);
    expect(first).toMatchObject({
      id: expect.any(String),
      thread_id,
      assistant_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      graph_id: 'talk',
      revision_id: 'r-1',
      status: 'success',
      error: null,
      tokens: { input: 10, output: 1, total: 11 },
      created_at: expect.any(String),
      started_at: expect.any(String),
      ended_at: expect.any(String),
    });
    expect(second?.tokens).toEqual({ input: 10, output: 2, total: 12 });
    expect(Date.parse(second?.ended_at ?? '')).toBeGreaterThanOrEqual(Date.parse(second?.started_at ?? ''));
    await becomesTrue(async () => (await outbox(databaseUrl)) === 0);
  });

  test('a failed one with its truncated error; one without a thread too', async () => {
    const { agent } = await serve();
    await agent.waitRun(say('fail'), undefined);
    const [run] = await reported(1);
    expect(run).toMatchObject({
      status: 'error',
      trigger: 'api',
      thread_id: null,
      tokens: null,
      error: { error: 'TypeError' },
    });
    expect(run?.error?.message).toHaveLength(10_000);
    expect(run?.error?.message).toMatch(/x \[\.\.\.\]$/);
    expect(run?.error?.message).toMatch(/^no model x/);
  });

  test('one that waits for a person as interrupted, with what started it', async () => {
    const { agent } = await serve();
    const { thread_id } = await agent.createThread({});
    await agent.waitRun({ ...say('ask'), metadata: { landfall_trigger: 'playground' } }, thread_id);
    expect((await reported(1))[0]).toMatchObject({ status: 'interrupted', trigger: 'playground', error: null });
  });

  test('one without a thread that waits for a person as interrupted', async () => {
    const { agent } = await serve();
    await agent.waitRun(say('ask'), undefined);
    expect((await reported(1))[0]).toMatchObject({ status: 'interrupted', thread_id: null, error: null });
  });

  test('an interrupted one', async () => {
    const { agent, url } = await serve();
    const { thread_id } = await agent.createThread({});
    const run = await agent.createRun(say('slow'), thread_id);
    await fetch(`${url}/threads/${thread_id}/runs/${run.run_id}/cancel`, { method: 'POST' });
    expect((await reported(1))[0]).toMatchObject({ id: run.run_id, status: 'interrupted' });
  });

  test('none without a tracing configuration', async () => {
    const { agent, databaseUrl } = await serve({ tracing: undefined });
    await agent.waitRun(say('hello'), undefined);
    expect(await outbox(databaseUrl)).toBe(0);
  });
});

describe('an unavailable tracing project', () => {
  test.each(['nothing', 503, 401] as const)(
    '(%s) does not affect runs, which are exported once it responds',
    async (answers) => {
      collector.answers = answers;
      const { agent, databaseUrl, lines } = await serve();
      const before = collector.requested;
      for (const word of ['one', 'two', 'three'])
        expect(await agent.waitRun(say(word), undefined)).toMatchObject({ kind: 'values' });
      await becomesTrue(async () => collector.requested > before);
      expect(await outbox(databaseUrl)).toBe(3);
      collector.answers = 200;
      expect(await reported(3)).toHaveLength(3);
      expect(lines.filter((line) => line.includes('could not be exported'))).toHaveLength(1);
      expect(lines.join()).not.toContain(collector.token);
    },
  );

  test('that rejects runs or no longer exists is not retried', async () => {
    collector.answers = 422;
    const { agent, databaseUrl, lines } = await serve();
    await agent.waitRun(say('one'), undefined);
    await agent.waitRun(say('two'), undefined);
    await becomesTrue(async () => (await outbox(databaseUrl)) === 0);
    collector.answers = 404;
    await agent.waitRun(say('three'), undefined);
    await becomesTrue(
      async () => (await outbox(databaseUrl)) === 0 && lines.some((line) => line.includes('no longer exists')),
    );
    expect(collector.runs).toEqual([]);
  });

  test('that rejects a batch and is away for its single runs is tried again later', async () => {
    const postgres = await startTestPostgres();
    const storage = await openStorage(postgres.url, 'test', silentLogger);
    atTheEnd.push(
      () => storage.close(),
      () => postgres.stop(),
    );
    await storage.db
      .insertInto('trace_outbox')
      .values([{ run: '{}' }, { run: '{}' }])
      .execute();
    collector.answers = (runs) => (runs.length > 1 ? 422 : 503);
    const before = collector.requested;
    await runExporter({ ...tracing(), storage, clock, log: silentLogger }).exportRuns();
    expect(collector.requested - before).toBe(2);
    expect(await outbox(postgres.url)).toBe(2);
  });
});

describe('a separate process', () => {
  let postgres: TestPostgres;
  beforeAll(async () => {
    postgres = await startTestPostgres();
  });
  afterAll(() => postgres.stop());
  const start = () =>
    startAgentProcess({
      LANDFALL_GRAPH_CONFIG: agentConfig,
      DATABASE_URI: postgres.url,
      LANDFALL_TRACING_URL: collector.url,
      LANDFALL_TRACING_TOKEN: collector.token,
    });

  test('the next process exports the runs of a killed one at least once', async () => {
    collector.answers = 503;
    const first = await start();
    const agent = connectAgentServer({ url: first.url, userAgent: 'test' });
    for (const input of ['a', 'b', 'c']) await agent.waitRun({ assistant_id: 'echo', input: { input } }, undefined);
    await agent.close();
    first.child.kill('SIGKILL');
    await first.gone;
    expect(await outbox(postgres.url)).toBe(3);
    collector.answers = 200;
    const second = await start();
    atTheEnd.push(async () => {
      second.child.kill('SIGKILL');
      await second.gone;
    });
    expect(new Set((await reported(3)).map(({ id }) => id)).size).toBe(3);
  });
});
