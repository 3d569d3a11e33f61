import asyncio
import socket
import threading
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pytest
from server import SECONDS, Server

from landfall_worker.connection import FIRST_CREDIT, Answer, Connection, ConnectionLost, ServerError
from landfall_worker.frames import Frame, ProtocolError
from landfall_worker.loading_error import LoadingError


@dataclass
class OneLoop:
    loop: asyncio.AbstractEventLoop
    #: Requests that are answered.
    answered: int = 0

    def of(self, op):
        return self.loop

    def done(self, loop):
        assert loop is self.loop
        self.answered += 1


@dataclass
class Connected:
    connection: Connection
    server: Server
    reader: threading.Thread
    #: What ended the reading, if it was an error.
    raised: list[BaseException] = field(default_factory=list)


@pytest.fixture
def connect(tmp_path, monkeypatch):
    # The path of a socket has to be short.
    monkeypatch.chdir(tmp_path)
    loop = asyncio.new_event_loop()
    loops = OneLoop(loop)
    answering = threading.Thread(target=loop.run_forever)
    answering.start()
    opened: list[Connected] = []

    def connect(handler=None) -> Connected:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("socket")
            listener.listen()
            connection = Connection("socket", handler, loops)
            end, _ = listener.accept()
        raised: list[BaseException] = []

        def read() -> None:
            try:
                connection.read()
            except BaseException as error:
                raised.append(error)

        reader = threading.Thread(target=read)
        reader.start()
        opened.append(Connected(connection, Server(end), reader, raised))
        return opened[-1]

    yield connect
    for each in opened:
        each.server.end.close()
        each.reader.join(SECONDS)
        each.connection.close()
    loop.call_soon_threadsafe(loop.stop)
    answering.join(SECONDS)
    loop.close()


def test_answers_requests_in_the_order_in_which_they_are_done(connect):
    later = asyncio.Event()

    async def answer(asked):
        if asked.op == "first":
            await later.wait()
        later.set()
        return Answer({"op": asked.op, **asked.args}, asked.attachments)

    server = connect(answer).server
    server.ask(1, "first", {"n": 1}, b"one", b"")
    server.ask(2, "second")
    assert server.receive() == Frame({"kind": "done", "id": 2, "value": {"op": "second"}}, [])
    assert server.receive() == Frame({"kind": "done", "id": 1, "value": {"op": "first", "n": 1}}, [b"one", b""])


def test_asks_the_server_also_while_it_answers(connect):
    async def answer(asked):
        stored = await asyncio.wrap_future(asked.ask("checkpoint.get", {"place": {}}, [b"?"]))
        return Answer(stored.value, stored.attachments)

    server = connect(answer).server
    server.ask(7, "state")
    wanted = {"kind": "ask", "id": 1, "of": 7, "op": "checkpoint.get", "args": {"place": {}}}
    assert server.receive() == Frame(wanted, [b"?"])
    server.send({"kind": "done", "id": 1, "value": "stored"}, b"!")
    assert server.receive() == Frame({"kind": "done", "id": 7, "value": "stored"}, [b"!"])


def test_raises_what_the_server_answers_with(connect):
    one = connect()
    answer = one.connection.ask(7, "checkpoint.put", {})
    one.server.header()
    one.server.send({"kind": "failed", "id": 1, "error": {"type": "RunOwnershipLost", "message": "The run has ended."}})
    with pytest.raises(ServerError, match=r"The run has ended\.") as raised:
        answer.result(SECONDS)
    assert raised.value.kind == "RunOwnershipLost"


def test_sends_no_more_events_than_the_server_takes(connect):
    async def answer(asked):
        if asked.op == "run":
            for at in range(FIRST_CREDIT + 3):
                await asked.event(at, [b"chunk"])
        return Answer()

    server = connect(answer).server
    server.ask(1, "run")
    for at in range(FIRST_CREDIT):
        assert server.receive() == Frame({"kind": "event", "id": 1, "value": at}, [b"chunk"])
    # The run stands still, its loop does not.
    server.ask(2, "state")
    assert server.header() == {"kind": "done", "id": 2, "value": None}
    server.send({"kind": "more", "id": 1, "events": 1})
    assert server.header()["value"] == FIRST_CREDIT
    server.ask(3, "state")
    assert server.header()["id"] == 3
    server.send({"kind": "more", "id": 1, "events": 128})
    assert [server.header()["kind"] for _ in range(3)] == ["event", "event", "done"]


def test_cancels_a_request_and_says_how_it_ended(connect):
    begun, cleaned = threading.Event(), threading.Event()

    async def answer(asked):
        try:
            begun.set()
            await asyncio.Event().wait()
        finally:
            cleaned.set()
        return Answer()

    server = connect(answer).server
    server.ask(1, "run")
    assert begun.wait(SECONDS)
    server.send({"kind": "cancel", "id": 1})
    assert server.header()["error"]["type"] == "CancelledError"
    assert cleaned.is_set()


def test_cancels_a_request_that_has_not_begun(connect):
    blocked = threading.Event()

    async def answer(asked):
        if asked.op == "block":
            blocked.wait(SECONDS)
        else:
            await asyncio.Event().wait()
        return Answer()

    one = connect(answer)
    one.server.ask(1, "block")
    one.server.ask(2, "run")
    one.server.send({"kind": "cancel", "id": 2})
    # Its answer comes once everything before it is read, and waits for the loop.
    read = one.connection.ask(1, "checkpoint.get", {})
    assert one.server.header()["kind"] == "ask"
    one.server.send({"kind": "done", "id": 1, "value": None})
    read.result(SECONDS)
    blocked.set()
    assert one.server.header() == {"kind": "done", "id": 1, "value": None}
    assert one.server.header()["error"]["type"] == "CancelledError"


def test_ignores_what_is_about_a_request_that_has_ended(connect):
    async def answer(asked):
        return Answer()

    server = connect(answer).server
    server.send({"kind": "cancel", "id": 1})
    server.ask(1, "state")
    assert server.header()["kind"] == "done"
    server.send({"kind": "cancel", "id": 1})
    server.send({"kind": "more", "id": 1, "events": 128})
    server.ask(2, "state")
    assert server.header() == {"kind": "done", "id": 2, "value": None}


async def node_of_the_agent():
    raise KeyError("no tea")


def test_answers_with_an_error_and_the_traceback_of_the_agent(connect):
    async def answer(asked):
        await node_of_the_agent()

    server = connect(answer).server
    server.ask(1, "run")
    header = server.header()
    stack = header["error"].pop("stack")
    assert header == {"kind": "failed", "id": 1, "error": {"type": "KeyError", "message": "'no tea'"}}
    assert "in node_of_the_agent" in stack
    assert stack.endswith("KeyError: 'no tea'\n")
    # The frames of the worker above those of the agent say nothing to people.
    assert str(Path("landfall_worker") / "connection.py") not in stack


def test_keeps_the_end_of_a_traceback_that_is_too_long_for_a_log(connect):
    async def answer(asked):
        def even(depth):
            return odd(depth + 1)

        def odd(depth):
            return even(depth + 1)

        even(0)

    server = connect(answer).server
    server.ask(1, "run")
    stack = server.header()["error"]["stack"]
    assert stack.startswith("  ...\n")
    assert len(stack) < 8_000
    assert "RecursionError" in stack.splitlines()[-1]


def test_answers_with_what_an_error_is_caused_by(connect):
    class RateLimited(Exception):
        status_code = 429
        response = SimpleNamespace(status_code=500, headers={"retry-after": "7", "set-cookie": "secret"})

    class Odd(Exception):
        def __str__(self):
            raise RuntimeError("no text")

        @property
        def status_code(self):
            raise RuntimeError("no status")

    async def answer(asked):
        try:
            raise RateLimited("slow down")
        except RateLimited as error:
            raise Odd from error

    server = connect(answer).server
    server.ask(1, "run")
    error = server.header()["error"]
    assert (error["type"], error["message"]) == ("Odd", "A Odd without a text")
    waits = {"retry-after": "7"}
    assert error["cause"] == {"type": "RateLimited", "message": "slow down", "status": 429, "headers": waits}


def test_answers_with_the_errors_of_a_group(connect):
    class Group(Exception):
        exceptions = (ValueError("no tea"), OSError("no water"), "no error")

    async def answer(asked):
        raise Group("2 sub-exceptions")

    server = connect(answer).server
    server.ask(1, "run")
    error = server.header()["error"]
    assert error["message"] == "2 sub-exceptions: ValueError: no tea; OSError: no water"


def test_ends_with_an_error_that_is_caused_by_itself(connect):
    async def answer(asked):
        one, other = ValueError("one"), ValueError("other")
        one.__cause__, other.__cause__ = other, one
        raise one

    server = connect(answer).server
    server.ask(1, "run")
    assert server.header()["error"]["cause"] == {"type": "ValueError", "message": "other"}


def test_answers_with_an_error_whose_text_is_no_unicode(connect):
    async def answer(asked):
        raise ValueError("half of a pair: \ud83d")

    server = connect(answer).server
    server.ask(1, "run")
    error = server.header()["error"]
    assert (error["type"], error["message"]) == ("ValueError", "half of a pair: \ud83d")


def test_answers_with_the_code_of_what_the_worker_found(connect):
    async def answer(asked):
        raise LoadingError("graph-file-missing", "agent.py is not there.")

    server = connect(answer).server
    server.ask(1, "load")
    assert server.header()["error"]["code"] == "graph-file-missing"


def test_answers_with_an_error_where_a_value_is_no_json(connect):
    async def answer(asked):
        return Answer(float("inf") if asked.op == "infinite" else object())

    server = connect(answer).server
    server.ask(1, "infinite")
    assert server.header()["error"]["type"] == "ValueError"
    server.ask(2, "object")
    assert server.header()["error"]["type"] == "TypeError"


def test_fails_what_is_open_where_the_server_ends_the_connection(connect):
    one = connect()
    answer = one.connection.ask(7, "checkpoint.get", {})
    one.server.end.close()
    with pytest.raises(ConnectionLost):
        answer.result(SECONDS)
    one.reader.join(SECONDS)
    assert one.raised == []
    with pytest.raises(ConnectionLost):
        one.connection.ask(7, "checkpoint.get", {}).result(SECONDS)


@pytest.mark.parametrize("header", [{"kind": "hum", "id": 1}, {"kind": "ask"}, {"kind": "cancel", "id": "1"}])
def test_stops_reading_where_the_server_breaks_the_protocol(connect, header):
    one = connect()
    answer = one.connection.ask(7, "checkpoint.get", {})
    one.server.header()
    one.server.send(header)
    one.reader.join(SECONDS)
    assert [type(each) for each in one.raised] == [ProtocolError]
    with pytest.raises(ConnectionLost):
        answer.result(SECONDS)
