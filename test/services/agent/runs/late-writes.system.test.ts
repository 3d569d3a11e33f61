import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../promises/fixture.ts';
import { temporaryAgent } from '../temporary-agent.ts';
import type { TemporaryAgent } from '../temporary-agent.ts';
import { asking, sharedDatabase } from './two-servers.ts';
import type { Servers } from './two-servers.ts';

/** What its node does when it may continue, although the run was stopped. */
declare global {
  var goOn: (() => void) | undefined;
  var wentOn: string | undefined;
}

let servers: Servers;
let agent: TemporaryAgent;
let client: Client;
beforeAll(async () => {
  servers = await sharedDatabase();
  client = new Client({ connectionString: servers.databaseUrl });
  await client.connect();
  agent = temporaryAgent({
    'langgraph.json': { graphs: { deaf: './deaf.ts:deaf', quick: './deaf.ts:quick' } },
    'deaf.ts': `
      import { Annotation, StateGraph } from '@langchain/langgraph';
      const State = Annotation.Root({ said: Annotation<string> });
      const inner = new StateGraph(State).addNode('say', () => ({ said: 'late' }))
        .addEdge('__start__', 'say').addEdge('say', '__end__').compile();
      const node = async (state, config) => {
        await new Promise((resolve) => (globalThis.goOn = resolve));
        await inner.invoke(state, { ...config, signal: undefined }).then(
          () => (globalThis.wentOn = 'to its end'),
          (error) => (globalThis.wentOn = error.name),
        );
        return {};
      };
      export const deaf = new StateGraph(State).addNode('node', node)
        .addEdge('__start__', 'node').addEdge('node', '__end__').compile();
      export const quick = new StateGraph(State).addNode('say', () => ({ said: 'done' }))
        .addEdge('__start__', 'say').addEdge('say', '__end__').compile();`,
  });
});
afterAll(async () => {
  await client.end();
  await servers.close();
  agent.remove();
});

test('discards the result of a node whose run was stopped meanwhile', async () => {
  const here = asking(await servers.start({ configPath: agent.configPath }));
  const place = await here.run(await here.thread(), { assistant_id: 'deaf', input: { said: 'early' } });
  await until(async () => (globalThis.goOn ? true : undefined));
  expect((await here.post(`${place}/cancel?wait=1`)).status).toBe(204);
  const kept = async () => {
    const count = (table: string) => `(select count(*) from ${table}) as ${table}`;
    const tables = ['checkpoints', 'checkpoint_blobs', 'checkpoint_writes'].map(count);
    return (await client.query(`select ${tables.join(', ')}`)).rows[0];
  };
  const before: unknown = await kept();
  globalThis.goOn?.();
  await until(async () => globalThis.wentOn);
  expect(await kept()).toEqual(before);
});

test.each(['async', 'sync', 'exit'])('fails a run whose states can not be stored: %s', async (durability) => {
  const here = asking(await servers.start({ configPath: agent.configPath }));
  const run = (threadId: string) =>
    here.json(here.post(`/threads/${threadId}/runs/wait`, { assistant_id: 'quick', input: { said: '' }, durability }));
  const [refused, later] = [await here.thread(), await here.thread()];
  await client.query(`
    create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no space'; end $$;
    create trigger refuse before insert on checkpoints for each row execute function refuse();`);
  const answer = await run(refused);
  await client.query('drop function refuse cascade');
  expect(answer).toMatchObject({ __error__: { message: expect.stringContaining('no space') } });
  expect(await here.json(here.get(`/threads/${refused}`))).toMatchObject({ status: 'error' });
  expect(await run(later)).toEqual({ said: 'done' });
});
