import { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describePython } from '../../../../python/needs-python.ts';
import { serveAgent, type Serving } from '../../serving.ts';
import { temporaryAgent, type TemporaryAgent } from '../../temporary-agent.ts';

const files = {
  'langgraph.json': {
    dependencies: ['.'],
    graphs: { first: './first.py:graph', second: './second.ts:graph' },
  },
  'first.py': `
from typing import Any, TypedDict
from langgraph.config import get_store
from langgraph.graph import StateGraph

class State(TypedDict, total=False):
    given: Any
    said: str

async def say(state):
    await get_store().aput(("both",), "said", {"given": state["given"]})
    return {"said": f"Python has {state['given']!r}"}

graph = StateGraph(State).add_node("say", say).add_edge("__start__", "say").compile()
`,
  'second.ts': `
import { Annotation, StateGraph, type LangGraphRunnableConfig } from '@langchain/langgraph';

const State = Annotation.Root({ given: Annotation<unknown>, said: Annotation<string> });

async function say({ given }: typeof State.State, { store }: LangGraphRunnableConfig) {
  const stored = await store?.get(['both'], 'said');
  return { said: \`JavaScript has a \${typeof given}, and a \${typeof stored?.value['given']} of the other\` };
}

export const graph = new StateGraph(State).addNode('say', say).addEdge('__start__', 'say').compile();
`,
};

describePython('an agent with graphs in Python and in TypeScript', (python) => {
  let agent: TemporaryAgent;
  let serving: Serving;
  let client: Client;
  beforeAll(async () => {
    agent = temporaryAgent(files);
    serving = await serveAgent({ configPath: agent.configPath, python });
    client = new Client({ apiUrl: serving.url, apiKey: null });
  });
  afterAll(async () => {
    await serving?.close();
    agent?.remove();
  });

  test('runs both, which share the store', async () => {
    const input = { given: 1.5 };
    expect(await client.runs.wait(null, 'first', { input })).toMatchObject({ said: 'Python has 1.5' });
    expect(await client.runs.wait(null, 'second', { input })).toMatchObject({
      said: 'JavaScript has a number, and a number of the other',
    });
  });

  test('gives numbers to JavaScript as such, whatever they are', async () => {
    const wait = async (graph: string): Promise<unknown> => {
      const response = await fetch(`${serving.url}/runs/wait`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: `{"assistant_id":"${graph}","input":{"given":12345678901234567890}}`,
      });
      return response.json();
    };
    // As JavaScript rounds it.
    expect(await wait('first')).toMatchObject({ said: 'Python has 12345678901234567000' });
    expect(await wait('second')).toMatchObject({ said: 'JavaScript has a number, and a number of the other' });
  });

  test('refuses to go on in the other language, and says in which the thread is', async () => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, 'first', { input: { given: 1 } });
    const going = client.runs.wait(thread_id, 'second', { input: { given: 1 } });
    await expect(going).rejects.toThrow(/409.*was written by a graph in Python, which one in JavaScript/);
    expect(await client.threads.getState(thread_id)).toMatchObject({ values: { said: 'Python has 1' } });
  });

  test('shows drawings and schemas of both', async () => {
    for (const graph of ['first', 'second']) {
      const { nodes } = await client.assistants.getGraph(graph);
      expect(nodes.map(({ id }) => id)).toContain('say');
      const { input_schema } = await client.assistants.getSchemas(graph);
      expect(Object.keys(input_schema?.properties ?? {})).toEqual(['given', 'said']);
    }
    const info: unknown = await (await fetch(`${serving.url}/info`)).json();
    expect(info).toMatchObject({ langgraph_py_version: expect.stringMatching(/^\d+\.\d+\./) });
  });
});
