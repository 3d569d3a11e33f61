import asyncio
from contextlib import asynccontextmanager

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route, WebSocketRoute

from landfall_worker.connection import Answer
from landfall_worker.http_app import HttpApp
from landfall_worker.loading_error import LoadingError


class Asked:
    """A request of a server that has one route of its own, `/ours`."""

    def __init__(self, path="/", method="GET", body=b"", **given):
        self.args = {
            "type": "http",
            "scheme": "http",
            "method": method,
            "path": path,
            "query": "",
            "headers": [["host", "a.test"]],
            "has_body": bool(body),
            "most_bytes": 10,
            "unknown": False,
            **given,
        }
        self.attachments = []
        self.events = []
        self.asks = []
        self.pieces = [*body]
        self.sent = b""

    async def event(self, value, attachments=()):
        self.events.append(value)
        self.sent += b"".join(attachments)

    def ask(self, op, args, attachments=()):
        from concurrent.futures import Future

        self.asks.append((op, args, b"".join(attachments)))
        answer = Future()
        answer.set_result(self._answer(op))
        return answer

    def _answer(self, op):
        if op == "http.next":
            ours = self.args["path"] == "/ours" or self.args["path"] == "/openapi.json"
            return Answer({"status": 200 if ours else 404, "headers": [["x-ours", "1"]], "unknown": not ours})
        if op == "http.next_read":
            return Answer({"more": False}, [b"from us"])
        if self.pieces:
            return Answer({"gone": False, "more": len(self.pieces) > 1}, [bytes([self.pieces.pop(0)])])
        return Answer({"gone": False, "more": False})

    @property
    def kinds(self):
        return [event["type"] for event in self.events]

    @property
    def status(self):
        return self.events[0].get("status")


def answered(app, *requests, own_paths=()):
    """What the application does with these requests."""

    async def answer():
        served = HttpApp(app, own_paths)
        await served.start()
        for each in requests:
            await served.answer(each)
        await served.stop()

    asyncio.run(answer())
    return requests[0]


async def hello(request):
    return JSONResponse({"hello": (await request.body()).decode()})


class Marks(BaseHTTPMiddleware):
    async def dispatch(self, request, call_next):
        response = await call_next(request)
        response.headers["x-marked"] = "yes"
        return response


ROUTES = [Route("/hello", hello, methods=["GET", "POST"]), Route("/openapi.json", hello)]


def test_answers_its_routes_with_the_body_of_the_request():
    asked = answered(Starlette(routes=ROUTES), Asked("/hello", "POST", b"tea"))
    assert asked.status == 200
    assert asked.sent == b'{"hello":"tea"}'


def test_passes_what_it_has_no_part_in_to_the_server_untouched():
    for path, method in (("/ours", "POST"), ("/nowhere", "GET"), ("/openapi.json", "GET")):
        asked = answered(Starlette(routes=ROUTES), Asked(path, method, b"tea"), own_paths=["/openapi.json"])
        assert asked.kinds == ["pass"]
        assert asked.asks == []


def test_has_its_middleware_around_the_routes_of_the_server():
    app = Starlette(routes=ROUTES, middleware=[Middleware(Marks)])
    asked = answered(app, Asked("/ours", "POST", b"tea"))
    assert asked.sent == b"from us"
    assert ["x-marked", "yes"] in asked.events[0]["headers"]
    assert ["x-ours", "1"] in asked.events[0]["headers"]
    assert ("http.next", {}, b"tea") in asked.asks


def test_cuts_a_body_that_is_too_long_for_the_server():
    asked = answered(Starlette(middleware=[Middleware(Marks)]), Asked("/ours", "POST", b"x" * 99))
    assert next(body for op, _, body in asked.asks if op == "http.next") == b"x" * 11


def test_tells_the_server_which_headers_its_middleware_has_changed():
    def adding(app):
        async def call(scope, receive, send):
            if scope["type"] == "http":
                scope = {**scope, "headers": [*scope["headers"], (b"x-more", b"1")]}
            await app(scope, receive, send)

        return call

    asked = answered(Starlette(middleware=[Middleware(adding)]), Asked("/ours", "POST", b"tea"))
    assert asked.asks[0] == ("http.next", {"headers": [["host", "a.test"], ["x-more", "1"]]}, b"")


@pytest.mark.parametrize(
    ("path", "method", "status"), [("/hello", "DELETE", 405), ("/hello/", "GET", 307), ("/nowhere", "GET", 404)]
)
def test_answers_what_the_server_does_not_know_once_that_is_sure(path, method, status):
    assert answered(Starlette(routes=ROUTES), Asked(path, method)).kinds == ["pass"]
    assert answered(Starlette(routes=ROUTES), Asked(path, method, unknown=True)).status == status
    app = Starlette(routes=ROUTES, middleware=[Middleware(Marks)])
    asked = answered(app, Asked(path, method))
    assert [op for op, *_ in asked.asks] == ["http.next"]
    assert asked.status == status


def test_gives_plain_applications_what_they_ask_for():
    seen = {}

    async def app(scope, receive, send):
        if scope["type"] == "lifespan":
            raise NotImplementedError
        seen.update(scope, message=await receive(), later=await receive())
        await send({"type": "http.response.start", "status": 201, "headers": [(b"a", b"\xe9")]})
        await send({"type": "http.response.body", "body": b"12", "more_body": True})
        await send({"type": "http.response.body"})
        seen["end"] = await receive()

    user = {"identity": "ann", "permissions": ["read"]}
    asked = answered(app, Asked("/a%20b", "PUT", b"12", query="c=d", user=user))
    assert not HttpApp(app).is_mounted
    assert (seen["path"], seen["raw_path"], seen["query_string"]) == ("/a b", b"/a%20b", b"c=d")
    assert (seen["user"].identity, seen["auth"].scopes) == ("ann", ["read"])
    assert (seen["message"]["body"], seen["message"]["more_body"], seen["later"]["more_body"]) == (b"1", True, False)
    assert seen["end"] == {"type": "http.disconnect"}
    assert asked.events == [
        {"type": "start", "status": 201, "headers": [["a", "\xe9"]]},
        {"type": "body", "more": True},
        {"type": "body", "more": False},
    ]


def test_starts_up_and_shuts_down_and_keeps_the_state_between():
    steps = []

    @asynccontextmanager
    async def lifespan(app):
        steps.append("up")
        yield {"pool": "ready"}
        steps.append("down")

    async def state(request):
        steps.append(request.state.pool)
        return PlainTextResponse("")

    answered(Starlette(routes=[Route("/state", state)], lifespan=lifespan), Asked("/state"))
    assert steps == ["up", "ready", "down"]


def test_raises_what_the_startup_raises():
    @asynccontextmanager
    async def lifespan(app):
        raise OSError("no database")
        yield

    with pytest.raises(OSError, match="no database"):
        answered(Starlette(lifespan=lifespan), Asked())


@pytest.mark.parametrize("exported", [7, Starlette, lambda: None])
def test_refuses_what_is_no_application(exported):
    with pytest.raises(LoadingError):
        HttpApp(exported)


class AskedSocket(Asked):
    def __init__(self, path, *messages):
        super().__init__(path, type="websocket", headers=[["sec-websocket-protocol", "a, b"]])
        self.messages = [*messages]

    def _answer(self, op):
        return self.messages.pop(0) if self.messages else Answer({"gone": True, "code": 1001, "reason": ""})


def test_talks_by_a_web_socket():
    async def echo(socket):
        await socket.accept(socket.scope["subprotocols"][-1], [(b"x-a", b"1")])
        await socket.send_text(await socket.receive_text())
        await socket.send_bytes(await socket.receive_bytes())
        await socket.close(4000, "enough")

    app = Starlette(routes=[WebSocketRoute("/echo", echo)], middleware=[Middleware(Marks)])
    messages = Answer({"gone": False, "text": "tea"}), Answer({"gone": False, "text": None}, [b"\x00"])
    asked = answered(app, AskedSocket("/echo", *messages))
    assert asked.events == [
        {"type": "accept", "subprotocol": "b", "headers": [["x-a", "1"]]},
        {"type": "send", "text": "tea"},
        {"type": "send", "text": None},
        {"type": "close", "code": 4000, "reason": "enough"},
    ]
    assert asked.sent == b"\x00"
    # A socket of the server is left to it, once the middleware has let it through.
    assert answered(app, AskedSocket("/ours")).kinds == ["pass"]
