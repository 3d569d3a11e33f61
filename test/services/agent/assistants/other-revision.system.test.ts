import { silentLogger } from '../../../../src/kit/logger.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAgentServer } from '../../../../src/services/agent/server.ts';
import type { AgentServerProcess } from '../../../../src/services/agent/server.ts';
import { systemClock } from '../../../../src/kit/clock.ts';
import { askAt } from '../ask.ts';
import type { Ask } from '../ask.ts';
import { agentConfig, serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';
import { temporaryAgent } from '../temporary-agent.ts';
import { made, numbersOf } from './fixture.ts';

/** The next revision of the same deployment, without the previous one's graphs. */
const next = temporaryAgent({
  'langgraph.json': { graphs: { fresh: './fresh.ts:fresh' } },
  'fresh.ts': `
    import { Annotation, StateGraph } from '@langchain/langgraph';
    import * as z from 'zod';
    export const fresh = new StateGraph(Annotation.Root({ said: Annotation<string> }), z.object({ tone: z.enum(['warm']) }))
      .addNode('say', async (_, { context }) => ({ said: context.tone }))
      .addEdge('__start__', 'say')
      .compile();`,
});
let former: Serving;
let server: AgentServerProcess;
beforeAll(async () => {
  former = await serveAgent({ configPath: agentConfig });
  server = await startAgentServer({
    configPath: next.configPath,
    databaseUrl: former.databaseUrl,
    host: '127.0.0.1',
    port: 0,
    clock: systemClock,
    log: silentLogger,
    drainMs: 0,
  });
});
afterAll(async () => {
  await server.close();
  await former.close();
  next.remove();
});

describe('an assistant whose graph the next revision does not have, over HTTP', () => {
  const before: Ask = (...request) => askAt(former.url)(...request);
  const ask: Ask = (...request) => askAt(server.url)(...request);

  test('exists, can be renamed, moved to another graph, and rolled back', async () => {
    const { assistant_id } = await made(before, { context: { greeting: 'hi' } });
    const path = `/assistants/${assistant_id}`;
    expect(await ask('GET', path)).toMatchObject({ status: 200, body: { graph_id: 'echo' } });
    expect(await ask('PATCH', path, { name: 'old friend' })).toMatchObject({ status: 200, body: { version: 2 } });
    for (const part of ['graph', 'schemas', 'subgraphs'])
      expect(await ask('GET', `${path}/${part}`)).toMatchObject({ status: 404 });
    expect(await ask('PATCH', path, { context: { greeting: 'hey' } })).toMatchObject({ status: 404 });
    expect(await ask('PATCH', path, { graph_id: 'fresh', context: { tone: 'warm' } })).toMatchObject({ status: 200 });
    const run = { assistant_id, input: {} };
    expect(await ask('POST', '/runs/wait', run)).toMatchObject({ status: 200, body: { said: 'warm' } });
    expect(await ask('POST', `${path}/latest`, { version: 1 })).toMatchObject({ status: 200 });
    expect(await ask('POST', '/runs/wait', run)).toMatchObject({ status: 404 });
    expect(await numbersOf(ask, assistant_id)).toEqual([3, 2, 1]);
  });
});

test('the default assistant of a removed graph can be deleted', async () => {
  const ask = (method: string, id: string) =>
    server.fetch(new Request(`http://agent.test/assistants/${id}`, { method }));
  expect((await ask('DELETE', 'chat')).status).toBe(204);
  expect((await ask('GET', 'chat')).status).toBe(404);
  expect((await ask('DELETE', 'fresh')).status).toBe(409);
});
