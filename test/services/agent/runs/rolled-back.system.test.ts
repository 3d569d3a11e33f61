import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../../src/kit/clock.ts';
import { until } from '../promises/fixture.ts';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';
import { temporaryAgent } from '../temporary-agent.ts';
import { asking } from './two-servers.ts';
import type { Asking } from './two-servers.ts';

/** Counts its steps, also in a subgraph; `action` makes it interrupt or sleep. */
const agent = temporaryAgent({
  'langgraph.json': { graphs: { steps: './steps.ts:steps' } },
  'steps.ts': `
    import { Annotation, interrupt, StateGraph } from '@langchain/langgraph';
    const State = Annotation.Root({
      action: Annotation<string>,
      path: Annotation<string[]>({ reducer: (before, more) => [...before, ...more], default: () => [] }),
    });
    const Inside = Annotation.Root({ action: Annotation<string>, within: Annotation<number> });
    const inside = new StateGraph(Inside)
      .addNode('count', async ({ within = 0 }) => ({ within: within + 1 }))
      .addEdge('__start__', 'count')
      .compile({ checkpointer: true });
    export const steps = new StateGraph(State)
      .addNode('one', async () => ({ path: ['one'] }))
      .addNode('inside', inside)
      .addNode('two', async ({ action }) => {
        if (action === 'ask') interrupt('what now?');
        if (action === 'sleep') await new Promise((resolve) => setTimeout(resolve, 600_000).unref());
        return { path: ['two'] };
      })
      .addEdge('__start__', 'one')
      .addEdge('one', 'inside')
      .addEdge('inside', 'two')
      .compile();`,
});

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

const action = (word: string) => ({ assistant_id: 'steps', input: { action: word } });

/** The rows of a thread in each checkpoint table, and the number of stored values without a state. */
async function stored(thread: string): Promise<Record<string, unknown>> {
  const { rows } = await database.query<Record<string, unknown>>(
    `select
       (select count(*)::int from checkpoints where thread_id = $1) as checkpoints,
       (select count(*)::int from checkpoint_writes where thread_id = $1) as writes,
       (select count(*)::int from checkpoint_blobs where thread_id = $1) as blobs,
       (select count(*)::int from checkpoint_blobs b where thread_id = $1 and not exists (
          select from checkpoints c where c.thread_id = b.thread_id and c.checkpoint_ns = b.checkpoint_ns
            and c.checkpoint -> 'channel_versions' ->> b.channel = b.version
        )) as unnamed`,
    [thread],
  );
  return rows[0] ?? {};
}

/** A run that sleeps in its last node, rolled back there or after the given milliseconds. */
async function rolledBack(thread: string, afterMs?: number): Promise<void> {
  const place = await server.run(thread, action('sleep'));
  if (afterMs === undefined) {
    await until(async () => {
      const { next, values } = Object(await server.json(server.get(`/threads/${thread}/state`)));
      return next?.[0] === 'two' && values.action === 'sleep' ? true : undefined;
    });
  } else await systemClock.sleep(afterMs);
  await server.post(`${place}/cancel?action=rollback&wait=1`);
  expect((await server.get(place)).status).toBe(404);
}

const look = async (thread: string) => {
  const { status, values, interrupts } = await server.json(server.get(`/threads/${thread}`));
  return { status, values, interrupts };
};

describe('a run that is rolled back', () => {
  test('removes all that it stored, and keeps what was there', async () => {
    const thread = await server.thread();
    await server.json(server.post(`/threads/${thread}/runs/wait`, action('go')));
    const before = [await stored(thread), await look(thread)];
    expect(before[0]).toMatchObject({ unnamed: 0, blobs: expect.any(Number) });
    await rolledBack(thread);
    expect([await stored(thread), await look(thread)]).toEqual(before);
    const after = await server.json(server.post(`/threads/${thread}/runs/wait`, action('go')));
    expect(after['path']).toEqual(['one', 'two', 'one', 'two']);
  });

  test('leaves nothing on an empty thread', async () => {
    const thread = await server.thread();
    await rolledBack(thread);
    expect(await stored(thread)).toEqual({ checkpoints: 0, writes: 0, blobs: 0, unnamed: 0 });
    expect(await look(thread)).toEqual({ status: 'idle', values: null, interrupts: {} });
  });

  test('leaves nothing whenever it is stopped, also with pending writes', async () => {
    const thread = await server.thread();
    await server.json(server.post(`/threads/${thread}/runs/wait`, action('go')));
    const before = [await stored(thread), await look(thread)];
    for (let ms = 0; ms < 40; ms += 2) {
      await rolledBack(thread, ms);
      expect([ms, await stored(thread), await look(thread)]).toEqual([ms, ...before]);
    }
  });

  test('leaves an interrupted thread interrupted', async () => {
    const thread = await server.thread();
    await server.json(server.post(`/threads/${thread}/runs/wait`, action('ask')));
    const before = await look(thread);
    expect(before).toMatchObject({ status: 'interrupted' });
    await rolledBack(thread);
    expect(await look(thread)).toEqual(before);
  });
});
