import { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describePython } from '../../../../python/needs-python.ts';
import { serveAgent, type Serving } from '../../serving.ts';
import { temporaryAgent, type TemporaryAgent } from '../../temporary-agent.ts';

const files = {
  'langgraph.json': {
    dependencies: ['.'],
    graphs: { who: './agent.py:graph', calls: './calls.py:calls', speaks: './calls.py:speaks' },
    auth: { path: './rules.py:auth' },
    store: { index: { dims: 2, embed: './agent.py:embed' } },
  },
  'agent.py': `
from typing import Any, TypedDict
from langgraph.config import get_config, get_store
from langgraph.graph import StateGraph

class State(TypedDict, total=False):
    user: str
    found: list[str]

async def look(state):
    user = get_config()["configurable"]["langgraph_auth_user"]
    store = get_store()
    for key in ("tea", "coffee"):
        await store.aput(("drinks",), key, {"text": key})
    found = await store.asearch(("drinks",), query="tea", limit=1)
    return {"user": f"{user.identity} {user['role']}", "found": [each.key for each in found]}

def embed(texts: list[str]) -> list[list[float]]:
    return [[1.0, 0.0] if "tea" in each else [0.0, 1.0] for each in texts]

graph = StateGraph(State).add_node("look", look).add_edge("__start__", "look").compile()
`,
  'calls.py': `
import asyncio
from typing import Any
from langgraph.config import get_config, get_stream_writer
from langgraph.graph import StateGraph
from langgraph.pregel.remote import RemoteGraph
from langgraph_sdk import get_client
from typing_extensions import TypedDict

client = get_client()
heard = asyncio.Event()

class State(TypedDict, total=False):
    said: Any

async def speak(state):
    write = get_stream_writer()
    write("first")
    # A response that is not streamed never gets on from here.
    await heard.wait()
    write(get_config()["configurable"]["langgraph_auth_user"].identity)
    return {}

async def call(state):
    parts = []
    async for part in client.runs.stream(None, "speaks", input={}, stream_mode="custom"):
        if part.event == "custom":
            parts.append(part.data)
            heard.set()
    thread = await get_client().threads.create()
    remote = await RemoteGraph("who", client=client).ainvoke({})
    return {"said": [parts, thread["metadata"], remote["user"]]}

def graph_of(node):
    return StateGraph(State).add_node("node", node).add_edge("__start__", "node").compile()

calls, speaks = graph_of(call), graph_of(speak)
`,
  '.landfall-build/python-schemas.json': { who: { input_schema: { title: 'of the build' }, state_schema: {} } },
  'rules.py': `
from langgraph_sdk import Auth

auth = Auth()

@auth.authenticate
async def authenticate(authorization: str | None):
    if not authorization:
        raise Auth.exceptions.HTTPException(status_code=401, detail="Who are you?")
    return {"identity": authorization.removeprefix("Bearer "), "role": "guest"}

@auth.on.threads.create
async def create(ctx, value):
    value.setdefault("metadata", {})["owner"] = ctx.user.identity

@auth.on.threads
async def threads(ctx, value):
    return {"owner": ctx.user.identity}

@auth.on.assistants.delete
async def keep(ctx, value):
    return False
`,
};

describePython('an agent with rules in Python', (python) => {
  let agent: TemporaryAgent;
  let serving: Serving;
  const clientOf = (name?: string) =>
    new Client({
      apiUrl: serving.url,
      apiKey: null,
      callerOptions: { maxRetries: 0 },
      ...(name === undefined ? {} : { defaultHeaders: { authorization: `Bearer ${name}` } }),
    });
  beforeAll(async () => {
    agent = temporaryAgent(files);
    serving = await serveAgent({ configPath: agent.configPath, python });
  });
  afterAll(async () => {
    await serving?.close();
    agent?.remove();
  });

  test('knows its callers, and keeps their threads apart', async () => {
    await expect(clientOf().threads.create()).rejects.toThrow('Who are you?');
    const [ann, bob] = [clientOf('ann'), clientOf('bob')];
    const { thread_id, metadata } = await ann.threads.create({ metadata: { a: 1 } });
    expect(metadata).toEqual({ a: 1, owner: 'ann' });
    await expect(bob.threads.get(thread_id)).rejects.toThrow('404');
    expect(await bob.threads.search()).toEqual([]);
    const { assistant_id } = await ann.assistants.create({ graphId: 'who' });
    await expect(ann.assistants.delete(assistant_id)).rejects.toThrow('403');
    expect(await ann.runs.wait(thread_id, 'who', { input: {} })).toMatchObject({ user: 'ann guest' });
    await expect(bob.runs.wait(thread_id, 'who', { input: {} })).rejects.toThrow('404');
  });

  test('calls its server with the rights of the user of its run, streams as they grow', async () => {
    expect(await clientOf('ann').runs.wait(null, 'calls', { input: {} })).toEqual({
      said: [['first', 'ann'], { owner: 'ann' }, 'ann guest'],
    });
  });

  test('has the schemas that its build kept', async () => {
    const of = async (graph: string) => (await clientOf('ann').assistants.getSchemas(graph)).input_schema;
    expect(await of('who')).toEqual({ title: 'of the build' });
    expect(await of('calls')).toMatchObject({ properties: { said: {} } });
  });

  test('finds items of the store by their meaning, with embeddings in Python', async () => {
    const ann = clientOf('ann');
    expect(await ann.runs.wait(null, 'who', { input: {} })).toMatchObject({ found: ['tea'] });
    const { items } = await ann.store.searchItems(['drinks'], { query: 'coffee', limit: 1 });
    expect(items.map(({ key }) => key)).toEqual(['coffee']);
  });
});
