import { afterAll, beforeAll, expect, test } from 'vitest';
import { askInProcess, type Ask } from '../ask.ts';
import { serveAgent, type Serving } from '../serving.ts';
import { temporaryAgent } from '../temporary-agent.ts';

const agent = temporaryAgent({
  'langgraph.json': { graphs: { keeps: './keeps.ts:keeps' } },
  'keeps.ts': `
    import { Annotation, StateGraph } from '@langchain/langgraph';
    const State = Annotation.Root({ given: Annotation<unknown>, seen: Annotation<string> });
    export const keeps = new StateGraph(State)
      .addNode('look', ({ given }) => ({ seen: typeof given }))
      .addEdge('__start__', 'look')
      .addEdge('look', '__end__')
      .compile();`,
});
let serving: Serving;
let ask: Ask;
beforeAll(async () => {
  serving = await serveAgent({ configPath: agent.configPath });
  ask = askInProcess(serving);
});
afterAll(async () => {
  await serving.close();
  agent.remove();
});

test.each([
  ['of an unknown package', ['acme', 'Widget'], {}],
  ['of a class that refuses its arguments', ['langchain_core', 'prompts', 'prompt', 'PromptTemplate'], {}],
  ['of a message without content', ['langchain_core', 'messages', 'HumanMessage'], {}],
])('a thread with an input like a serialized object %s goes on', async (_, id, kwargs) => {
  const given = { lc: 1, type: 'constructor', id, kwargs };
  const { thread_id } = Object((await ask('POST', '/threads', {})).body);
  const at = `/threads/${thread_id}`;
  const run = { assistant_id: 'keeps', input: { given } };
  expect(await ask('POST', `${at}/runs/wait`, run)).toMatchObject({ status: 200, body: { seen: 'object' } });

  expect(await ask('GET', `${at}/state`)).toMatchObject({ status: 200, body: { values: { seen: 'object' } } });
  const history = await ask('GET', `${at}/history`);
  expect(history).toMatchObject({ status: 200, body: { length: 3 } });
  expect((await ask('POST', '/runs/wait', run)).body).toMatchObject({ seen: 'object' });

  const { checkpoint } = Object(Object(history.body)[1]);
  const fork = await ask('POST', `${at}/runs/wait`, { assistant_id: 'keeps', input: null, checkpoint });
  expect(fork).toMatchObject({ status: 200, body: { seen: 'object' } });
  const copy = await ask('POST', `${at}/copy`);
  expect(await ask('GET', `/threads/${Object(copy.body).thread_id}/state`)).toMatchObject({ status: 200 });

  expect(await ask('POST', `${at}/state`, { values: { given: 'repaired' } })).toMatchObject({ status: 200 });
  const next = { assistant_id: 'keeps', input: { given: 1 } };
  expect(await ask('POST', `${at}/runs/wait`, next)).toMatchObject({ status: 200, body: { seen: 'number' } });
});
