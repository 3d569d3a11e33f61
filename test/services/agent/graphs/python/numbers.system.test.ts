import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { describePython } from '../../../../python/needs-python.ts';
import { startReceiver, type Receiver } from '../../webhooks/receiver.ts';
import { serveAgent, type Serving } from '../../serving.ts';
import { temporaryAgent, type TemporaryAgent } from '../../temporary-agent.ts';

const files = (port: number) => ({
  'langgraph.json': {
    dependencies: ['.'],
    graphs: { counts: './agent.py:graph' },
    auth: { path: './rules.py:auth' },
    webhooks: { url: { allowed_ports: [port] } },
  },
  'rules.py': `
from langgraph_sdk import Auth

auth = Auth()
user = 1234567890123456789

@auth.authenticate
async def authenticate(headers):
    return {"identity": "ada"}

@auth.on.threads
async def only_own(ctx, value):
    value.setdefault("metadata", {})["user"] = user
    return {"user": user}
`,
  'agent.py': `
from typing import Any, TypedDict
from langgraph.config import get_config, get_store, get_stream_writer
from langgraph.graph import StateGraph
from langgraph.runtime import get_runtime
from langgraph.types import interrupt

class State(TypedDict, total=False):
    given: Any
    kinds: Any
    asks: bool
    answer: Any

class Context(TypedDict, total=False):
    given: Any

async def count(state):
    given = {"state": state["given"], "context": (get_runtime().context or {}).get("given")}
    given["config"] = get_config()["configurable"].get("given")
    if state.get("asks"):
        given["answer"] = interrupt(state["given"])
    store = get_store()
    await store.aput(("numbers",), "given", state["given"])
    given["store"] = (await store.aget(("numbers",), "given")).value
    get_stream_writer()(given)
    return {"answer": given, "kinds": kinds_of(given)}

def kinds_of(value):
    if isinstance(value, dict):
        return {key: kinds_of(each) for key, each in value.items()}
    return repr(value)

graph = StateGraph(State, context_schema=Context).add_node("count", count).add_edge("__start__", "count").compile()
`,
});

/** Numbers that JavaScript rounds, or writes as others; in the order in which the database has the keys. */
const given =
  '{"id":1234567890123456789,"far":10000000000000000000000.0,"half":0.5,"huge":123456789012345678901234567890,"none":0.0,"whole":2.0}';
const kinds = {
  id: '1234567890123456789',
  far: '1e+22',
  huge: '123456789012345678901234567890',
  whole: '2.0',
  none: '0.0',
  half: '0.5',
};

describePython('numbers of graphs in Python', (python) => {
  let agent: TemporaryAgent;
  let serving: Serving;
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await startReceiver();
    agent = temporaryAgent(files(receiver.port));
    serving = await serveAgent({ configPath: agent.configPath, python, webhooks: { privateNetworks: true } });
  });
  afterAll(async () => {
    await serving?.close();
    agent?.remove();
    await receiver?.close();
  });

  const headers = { 'content-type': 'application/json' };
  const send = (path: string, method: string, body?: string): Promise<Response> =>
    fetch(`${serving.url}${path}`, { method, headers, ...(body === undefined ? {} : { body }) });

  async function call(path: string, body?: string, method = body === undefined ? 'GET' : 'POST'): Promise<string> {
    const response = await send(path, method, body);
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} was answered with ${response.status}: ${text}`);
    // A page of JSON in spaces, as a slow response has, or without.
    return text.trim().replaceAll(/(?<=[:,]) /g, '');
  }

  const newThread = async (): Promise<string> =>
    z.object({ thread_id: z.string() }).parse(JSON.parse(await call('/threads', '{}'))).thread_id;

  const run = (more = ''): string =>
    `{"assistant_id":"counts","input":{"given":${given}},"context":{"given":${given}},"config":{"configurable":{}}${more}}`;

  const answer = z.object({ kinds: z.unknown() });

  test('reach the nodes as they were sent, in input and context', async () => {
    const values = await call('/runs/wait', run());
    expect(answer.parse(JSON.parse(values)).kinds).toEqual({
      state: kinds,
      context: kinds,
      config: 'None',
      store: kinds,
    });
    expect(values).toContain(`"given":${given}`);
  });

  test('reach the nodes as they were sent, in a configuration', async () => {
    const values = await call(
      '/runs/wait',
      `{"assistant_id":"counts","input":{"given":1.0},"config":{"configurable":{"given":${given}},"recursion_limit":25.0}}`,
    );
    expect(answer.parse(JSON.parse(values)).kinds).toMatchObject({ config: kinds, state: '1.0' });
  });

  test.each(['values', 'updates', 'custom', 'tasks', 'checkpoints', 'debug', 'events', 'messages'])(
    'are streamed as the nodes have them, in the mode "%s"',
    async (mode) => {
      const thread = await newThread();
      const modes = mode === 'messages' ? '["messages","values"]' : `["${mode}"]`;
      const streamed = await call(`/threads/${thread}/runs/stream`, run(`,"stream_mode":${modes}`));
      expect(streamed).toContain(given);
      expect(streamed).not.toContain('rawJSON');
    },
  );

  test('are kept in states, histories, runs, items and what webhooks tell', async () => {
    const thread = await newThread();
    await call(
      `/threads/${thread}/runs/wait`,
      run(`,"webhook":"${receiver.at('/hook')}","metadata":{"given":${given}}`),
    );
    const paths = ['', '/state', '/history', '/runs'].map((path) => `/threads/${thread}${path}`);
    for (const path of [...paths, '/store/items?namespace=numbers&key=given']) {
      const kept = await call(path);
      expect([path, kept.includes(given), kept.includes('rawJSON')]).toEqual([path, true, false]);
    }
    await expect.poll(() => receiver.to('/hook')).toHaveLength(1);
    const [told] = receiver.to('/hook');
    expect(told?.body).toContain(`"values":{"given":${given}`);
    expect(told?.body).toContain(`"metadata":{"user":1234567890123456789,"given":${given}`);
  });

  test('are kept in assistants, and compared in searches', async () => {
    const made = await call(
      '/assistants',
      `{"graph_id":"counts","context":{"given":${given}},"metadata":{"given":${given}}}`,
    );
    expect(made).toContain(`"context":{"given":${given}}`);
    const found = async (metadata: string) => JSON.parse(await call('/assistants/search', `{"metadata":${metadata}}`));
    expect(await found(`{"given":${given}}`)).toHaveLength(1);
    expect(await found('{"given":{"id":1234567890123456788}}')).toEqual([]);
    await call('/store/items', `{"namespace":["n"],"key":"k","value":{"given":1234567890123456789}}`, 'PUT');
    const items = async (filter: string) =>
      JSON.parse(await call('/store/items/search', `{"namespace_prefix":["n"],"filter":{"given":${filter}}}`)).items;
    expect(await items('1234567890123456789')).toHaveLength(1);
    expect(await items('1234567890123456788')).toEqual([]);
    expect(await items('{"$gt":1234567890123456788}')).toHaveLength(1);
    expect(await items('{"$gt":1234567890123456789}')).toEqual([]);
  });

  test('are kept in answers, updates and what is asked', async () => {
    const thread = await newThread();
    const asked = await call(
      `/threads/${thread}/runs/wait`,
      `{"assistant_id":"counts","input":{"given":${given},"asks":true}}`,
    );
    expect(asked).toMatch(/"__interrupt__":\[\{[^]*1234567890123456789/);
    const answered = await call(
      `/threads/${thread}/runs/wait`,
      `{"assistant_id":"counts","command":{"resume":1234567890123456789}}`,
    );
    expect(answered).toContain('"answer":1234567890123456789');
    await call(`/threads/${thread}/state`, `{"values":{"answer":${given}},"as_node":"count"}`);
    expect(await call(`/threads/${thread}/state`)).toContain(`"answer":${given}`);
  });

  test('are kept in the metadata of states', async () => {
    const thread = await newThread();
    await call(`/threads/${thread}/runs/wait`, run(`,"metadata":{"given":${given}}`));
    const metadata = `{"given":{"id":1234567890123456789}}`;
    const found = await call(`/threads/${thread}/history`, `{"metadata":${metadata}}`);
    expect(found).toMatch(new RegExp(`"metadata":\\{[^{}]*"given":${given.replaceAll('.', '\\.')}`));
    const other = metadata.replace('789', '788');
    expect(await call(`/threads/${thread}/history`, `{"metadata":${other}}`)).toBe('[]');
  });

  test('are kept by the commands of a WebSocket, whose own numbers are plain', async () => {
    const thread = await newThread();
    const socket = new WebSocket(`${serving.url.replace('http', 'ws')}/threads/${thread}/stream/events`);
    await once(socket, 'open');
    socket.send(`{"id":1.0,"method":"run.start","params":{"assistant_id":"counts","input":{"given":${given}}}}`);
    const [{ data }] = z.tuple([z.object({ data: z.string() })]).parse(await once(socket, 'message'));
    expect(JSON.parse(data)).toMatchObject({ id: 1, type: 'success' });
    socket.close();
    await expect.poll(async () => call(`/threads/${thread}`)).toContain('"status":"idle"');
    expect(await call(`/threads/${thread}/state`)).toContain(`"given":${given}`);
  });

  test('are plain ones where the API has numbers of its own', async () => {
    await newThread();
    expect(JSON.parse(await call('/threads/search', '{"limit":1.0}'))).toHaveLength(1);
    const { assistant_id: id } = JSON.parse(await call('/assistants', '{"graph_id":"counts"}'));
    await call(`/assistants/${id}`, '{"name":"another"}', 'PATCH');
    expect(JSON.parse(await call(`/assistants/${id}/latest`, '{"version":1.0}'))).toMatchObject({ version: 1 });
  });

  test.each([
    ['/threads/search', 'POST', '{"limit":12345678901234567890}', ['body', 'limit']],
    ['/threads', 'POST', '{"metadata":1.0}', ['body', 'metadata']],
    ['/runs/wait', 'POST', '{"assistant_id":"counts","context":1.0}', ['body', 'context']],
    ['/store/items', 'PUT', '{"namespace":["n"],"key":2.0,"value":{}}', ['body', 'key']],
    ['/store/items', 'PUT', '{"namespace":["n"],"key":"k","value":2.0}', ['body', 'value']],
    ['/threads/search', 'POST', `{"ids":[${'1.0,'.repeat(20_000)}1]}`, ['body', 'ids', 0]],
  ])('are refused in the wrong places of %s (%s) as others are', async (path, method, body, place) => {
    const response = await send(path, method, body);
    const { detail } = z.object({ detail: z.array(z.object({ loc: z.unknown() })) }).parse(await response.json());
    expect([response.status, detail[0]?.loc]).toEqual([422, place]);
  });
});
