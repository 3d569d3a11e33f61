import { WebSocket } from 'ws';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { once } from 'node:events';
import { describePython } from '../../../../python/needs-python.ts';
import { serveAgent, type Serving } from '../../serving.ts';
import { temporaryAgent, type TemporaryAgent } from '../../temporary-agent.ts';

const files = {
  'langgraph.json': {
    dependencies: ['.'],
    graphs: { say: './agent.py:graph' },
    auth: { path: './rules.py:auth' },
    http: { app: './web.py:app', enable_custom_route_auth: true, mount_prefix: '/api' },
  },
  'agent.py': `
from typing import TypedDict
from langgraph.graph import StateGraph

class State(TypedDict, total=False):
    said: str

def say(state: State, config):
    return {"said": f"tea for {config['configurable']['langgraph_auth_user_id']}"}

graph = StateGraph(State).add_node("say", say).add_edge("__start__", "say").compile()
`,
  'rules.py': `
from langgraph_sdk import Auth, get_client

auth = Auth()

@auth.authenticate
async def authenticate(headers):
    if b"x-user" not in headers:
        raise Auth.exceptions.HTTPException(status_code=401, detail="Who are you?")
    user = headers[b"x-user"].decode()
    if user != "whoever":
        return user
    found = await get_client().assistants.search(headers={"x-user": "the rule"})
    return f"a friend of {found[0]['graph_id']}"
`,
  'web.py': `
import asyncio
from contextlib import asynccontextmanager
from langgraph_sdk import get_client
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute

left = asyncio.Event()

calls = asyncio.Queue()

async def work():
    while True:
        headers, answer = await calls.get()
        try:
            found = await get_client().assistants.search(headers=headers)
            answer.set_result([each["graph_id"] for each in found])
        except Exception as error:
            answer.set_result(error.response.status_code)

@asynccontextmanager
async def lifespan(app):
    print("The application starts.")
    working = asyncio.create_task(work())
    yield {"drink": "tea"}
    working.cancel()
    print("The application ends.")

class Marks(BaseHTTPMiddleware):
    async def dispatch(self, request, call_next):
        if request.query_params.get("stop"):
            return JSONResponse({"stopped": True}, 418)
        response = await call_next(request)
        response.headers["x-seen-by"] = "the agent"
        return response

async def hello(request):
    token = request.headers.get("x-landfall-agent-token")
    response = JSONResponse({"drink": request.state.drink, "user": request.user.identity, "token": token})
    response.set_cookie("a", "1")
    response.set_cookie("b", "2")
    return response

class Echo:
    async def __call__(self, scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        more = True
        while more:
            message = await receive()
            more = message["more_body"]
            await send({"type": "http.response.body", "body": message["body"].upper(), "more_body": more})

class Endless:
    async def __call__(self, scope, receive, send):
        async def pour():
            while True:
                await send({"type": "http.response.body", "body": b"x" * 65536, "more_body": True})
        await send({"type": "http.response.start", "status": 200, "headers": []})
        pouring = asyncio.create_task(pour())
        while (await receive())["type"] != "http.disconnect":
            pass
        pouring.cancel()
        left.set()

async def was_left(request):
    await left.wait()
    return Response()

async def broken(request):
    raise ValueError("no tea")

async def ask(request):
    state = await get_client().runs.wait(None, "say", input={})
    return JSONResponse({"said": state["said"]})

async def background(request):
    answer = asyncio.get_running_loop().create_future()
    await calls.put((dict(request.query_params), answer))
    return JSONResponse(await answer)

async def special(request):
    return JSONResponse({"special": True})

async def talk(socket):
    await socket.accept("tea")
    await socket.send_text(f"{socket.user.identity} {await socket.receive_text()}")
    await socket.send_bytes(await socket.receive_bytes())
    await socket.close(4000, "enough")

app = Starlette(
    routes=[
        Route("/hello", hello),
        Route("/echo", Echo()),
        Route("/endless", Endless()),
        Route("/was_left", was_left),
        Route("/broken", broken),
        Route("/ask", ask),
        Route("/background", background),
        Route("/assistants/special", special),
        WebSocketRoute("/talk", talk),
    ],
    middleware=[Middleware(Marks)],
    lifespan=lifespan,
)
`,
};

describePython('an application of ASGI beside the server', (python) => {
  let agent: TemporaryAgent;
  let serving: Serving;
  const ask = (path: string, init: RequestInit = {}, user = 'ann') => {
    const headers = new Headers(init.headers);
    headers.set('x-user', user);
    headers.set('x-landfall-agent-token', 'front');
    return fetch(`${serving.url}${path}`, { ...init, headers });
  };
  beforeAll(async () => {
    agent = temporaryAgent(files);
    serving = await serveAgent({ configPath: agent.configPath, python, token: 'front' });
  });
  afterAll(async () => {
    await serving?.close();
    agent?.remove();
  });

  test('calls the server from a task in the background, with the rights of its headers alone', async () => {
    expect(await (await ask('/background?x-user=bob')).json()).toEqual(['say']);
    expect(await (await ask('/background')).json()).toBe(401);
  });

  test('answers its own routes, which see the user and no token, also below the prefix', async () => {
    expect(serving.lines).toContainEqual(expect.stringContaining('The application starts.'));
    for (const path of ['/hello', '/api/hello']) {
      const response = await ask(path);
      expect(await response.json()).toEqual({ drink: 'tea', user: 'ann', token: null });
      expect(response.headers.getSetCookie()).toEqual([expect.stringContaining('a=1'), expect.stringContaining('b=2')]);
    }
    expect(await (await ask('/assistants/special')).json()).toEqual({ special: true });
    const headers = { 'x-landfall-agent-token': 'front' };
    expect((await fetch(`${serving.url}/hello`, { headers })).status).toBe(401);
  });

  test('calls the server by clients without an address, with the rights of its sender', async () => {
    expect(await (await ask('/ask')).json()).toEqual({ said: 'tea for ann' });
    expect(await (await ask('/ask', {}, 'whoever')).json()).toEqual({ said: 'tea for a friend of say' });
  });

  test('has its middleware around the routes of the server, with their streams', async () => {
    const run = { method: 'POST', body: JSON.stringify({ assistant_id: 'say', input: {} }) };
    const stream = await ask('/runs/stream', { ...run, headers: { origin: 'https://a.test' } });
    expect([stream.headers.get('x-seen-by'), stream.headers.get('access-control-allow-origin')]).toEqual([
      'the agent',
      '*',
    ]);
    expect(await stream.text()).toContain('{"said":"tea for ann"}');
    const missing = await ask('/threads/00000000-0000-4000-8000-000000000000');
    expect([missing.status, missing.headers.get('x-seen-by')]).toEqual([404, 'the agent']);
    const stopped = await ask('/runs/wait?stop=1', run);
    expect([stopped.status, await stopped.json()]).toEqual([418, { stopped: true }]);
    expect((await ask('/nowhere')).status).toBe(404);
    expect((await ask('/hello', { method: 'DELETE' })).status).toBe(405);
  });

  test('streams bodies both ways, and hears that a client has left', async () => {
    const body = new TransformStream<Uint8Array, Uint8Array>();
    const writer = body.writable.getWriter();
    void writer.write(Buffer.from('tea')).catch(() => undefined);
    const response = await ask('/echo', { method: 'POST', body: body.readable, duplex: 'half' });
    const reader = response.body?.getReader();
    // The first piece is answered before the last one is sent.
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('TEA');
    await writer.write(Buffer.from('pot'));
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('POT');
    await writer.close();
    expect((await reader?.read())?.done).toBe(true);
    const endless = await ask('/endless');
    await endless.body?.cancel();
    expect((await ask('/was_left')).status).toBe(200);
  });

  test('returns 500 when it raises, which the log shows', async () => {
    expect((await ask('/broken')).status).toBe(500);
    await expect.poll(() => serving.lines.join('\n')).toContain('ValueError: no tea');
  });

  test('talks by WebSockets', async () => {
    const url = `${serving.url.replace('http', 'ws')}/talk`;
    const headers = { 'x-user': 'ann', 'x-landfall-agent-token': 'front' };
    const socket = new WebSocket(url, ['coffee', 'tea'], { headers });
    const heard: string[] = [];
    socket.on('message', (data, isBinary) => {
      if (Buffer.isBuffer(data)) heard.push(`${isBinary ? 'bytes' : 'text'} ${data.toString()}`);
    });
    await once(socket, 'open');
    expect(socket.protocol).toBe('tea');
    socket.send('asks');
    socket.send(Buffer.from('tea'));
    const [code, reason]: unknown[] = await once(socket, 'close');
    expect([heard, code, String(reason)]).toEqual([['text ann asks', 'bytes tea'], 4000, 'enough']);
    const refused = new WebSocket(url.replace('talk', 'nothing'), { headers });
    const [error]: unknown[] = await once(refused, 'error');
    expect(String(error)).toContain('404');
  });

  test('ends a start with the traceback of its startup', async () => {
    const broken = temporaryAgent({
      ...files,
      'web.py': `
from contextlib import asynccontextmanager
from starlette.applications import Starlette

@asynccontextmanager
async def lifespan(app):
    raise OSError("no database")
    yield

app = Starlette(lifespan=lifespan)
`,
    });
    await expect(serveAgent({ configPath: broken.configPath, python })).rejects.toThrow(
      /`http\.app` can't be loaded: .*OSError: no database[^]*web\.py/,
    );
    broken.remove();
  });

  test('shuts down with the server', async () => {
    await serving.close();
    expect(serving.lines).toContainEqual(expect.stringContaining('The application ends.'));
  });
});
