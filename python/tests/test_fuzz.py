"""Damaged frames of the server: each is answered, or ends the reading; no request stays open, and nothing is kept."""

import asyncio
import contextlib
import json
import random
import socket
import struct
import threading
import tracemalloc

import pytest
from server import SECONDS

from landfall_worker.connection import Answer, Connection, ConnectionLost, ServerError
from landfall_worker.frames import MOST_BYTES, Frame, ProtocolError, decode, encode

FRAMES = [
    Frame({"kind": "ask", "id": 2, "op": "state", "args": {"graph_id": "g", "config": {"configurable": {}}}}, [b"{}"]),
    Frame({"kind": "done", "id": 1, "value": {"place": None}}, [b"stored", b""]),
    Frame({"kind": "failed", "id": 1, "error": {"type": "RunOwnershipLost", "message": "The run has ended."}}),
    Frame({"kind": "more", "id": 1, "events": 128}),
    Frame({"kind": "cancel", "id": 1}),
]
ODD = [
    None,
    True,
    -1,
    0,
    1,
    2,
    1.5,
    10**30,
    "",
    "ask",
    "\ud83d",
    [],
    [0],
    {},
    {"id": 1},
    [[]],
    "x" * 5_000,
    float("nan"),
]
BATCHES, FRAMES_OF_BATCH = 500, 20


def mutated(chance: random.Random) -> bytes:
    """A frame with an odd member, without one, with damaged bytes, cut, or nested too deeply."""
    frame = chance.choice(FRAMES)
    header = dict(frame.header)
    data = encode(frame)
    how = chance.randrange(10)
    if how < 6:
        name = chance.choice([*header, "sizes", "events", "error"])
        if chance.random() < 0.2:
            header.pop(name, None)
        else:
            header[name] = chance.choice(ODD)
        sizes = {} if "sizes" in header else {"sizes": [len(each) for each in frame.attachments]}
        text = json.dumps({**sizes, **header}).encode()
        rest = b"".join(frame.attachments)
        return struct.pack(">II", 4 + len(text) + len(rest), len(text)) + text + rest
    if how == 6:
        return data
    if how == 7:
        deep = b"[" * 200_000
        return struct.pack(">II", 4 + len(deep), len(deep)) + deep
    damaged = bytearray(data)
    # Behind the length, which would take in the frames after it.
    for _ in range(3):
        damaged[chance.randrange(4 if how == 8 else 0, len(damaged))] = chance.randrange(256)
    return bytes(damaged) if how == 8 or chance.random() < 0.9 else data[: chance.randrange(len(data))]


class Loops:
    def __init__(self, loop):
        self.loop = loop

    def of(self, op):
        return self.loop

    def done(self, loop):
        pass


def test_ten_thousand_damaged_frames_leave_no_request_open(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    loop = asyncio.new_event_loop()
    unhandled = []
    loop.set_exception_handler(lambda _, context: unhandled.append(context))
    answering = threading.Thread(target=loop.run_forever)
    answering.start()

    async def answer(asked):
        found = await asyncio.wrap_future(asked.ask("checkpoint.get", {}))
        await asked.event(None)
        return Answer(found.value, found.attachments)

    chance = random.Random(28)
    ends, raised = set(), set()
    for _ in range(BATCHES):
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("socket")
            listener.listen()
            connection = Connection("socket", answer, Loops(loop))
            end, _ = listener.accept()
        (tmp_path / "socket").unlink()

        def read(connection=connection):
            try:
                connection.read()
            except Exception as error:
                raised.add(type(error))  # noqa: B023 -- not the variable of a loop
            finally:
                # As the end of the worker does: what is still sent fails.
                connection.close()

        reader = threading.Thread(target=read)
        reader.start()
        opened = [connection.ask(7, "checkpoint.get", {}) for _ in range(3)]
        frames = [encode(Frame({"kind": "ask", "id": 1, "op": "state", "args": {}}))]
        frames += [mutated(chance) for _ in range(FRAMES_OF_BATCH)]
        # What it answers is not read: it is little.
        with contextlib.suppress(OSError):
            end.sendall(b"".join(frames))
        end.close()
        reader.join(SECONDS)
        assert not reader.is_alive()
        for each in opened:
            error = each.exception(SECONDS)
            ends.add(type(error))
            assert error is None or isinstance(error, (ConnectionLost, ServerError))

    async def others():
        while len(tasks := asyncio.all_tasks()) > 1:
            await asyncio.wait(tasks - {asyncio.current_task()}, timeout=SECONDS)

    asyncio.run_coroutine_threadsafe(others(), loop).result(SECONDS)
    loop.call_soon_threadsafe(loop.stop)
    answering.join(SECONDS)
    loop.close()
    # What can't be sent any more is nobody's.
    assert [each for each in unhandled if not isinstance(each.get("exception"), OSError)] == []
    assert raised == {ProtocolError}
    assert ends == {type(None), ConnectionLost, ServerError}


def test_takes_memory_for_what_arrives_only(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        listener.listen()
        connection = Connection("socket", None, Loops(None))
        end, _ = listener.accept()
    end.sendall(struct.pack(">I", MOST_BYTES) + b"few")
    end.shutdown(socket.SHUT_WR)
    tracemalloc.start()
    try:
        connection.read()
        assert tracemalloc.get_traced_memory()[1] < 16 * 1024**2
    finally:
        tracemalloc.stop()
        end.close()
        connection.close()


def test_refuses_a_header_that_is_nested_too_deeply():
    with pytest.raises(ProtocolError):
        decode(struct.pack(">I", 200_000) + b"[" * 200_000)
