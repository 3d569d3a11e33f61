"""Checkpoints that a run tells the server of, or waits for."""

import asyncio
from concurrent.futures import Future

import pytest

from landfall_worker.connection import Answer
from landfall_worker.saver import BridgeSaver

CONFIG = {"configurable": {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": "c"}}


class Recorded:
    """A request of the server that answers at once."""

    def __init__(self, state=None):
        self.sent = []
        self.args = {"state": state}
        self.attachments = ()

    def ask(self, op, args, attachments=()):
        self.sent.append("ask")
        answer = Future()
        answer.set_result(Answer())
        return answer

    def tell(self, op, args, attachments=()):
        self.sent.append("tell")


def written(count, value, **options):
    """How so many writes of a value reach the server."""
    recorded = Recorded()
    saver = BridgeSaver(recorded, **options)

    async def write():
        for _ in range(count):
            await saver.aput_writes(CONFIG, [("said", value)], "task")

    asyncio.run(write())
    return recorded.sent


@pytest.mark.parametrize(
    ("count", "value", "options", "expected"),
    [
        pytest.param(2, "x", {}, ["ask", "ask"], id="waits by default"),
        pytest.param(2, "x", {"waits": False}, ["tell", "tell"], id="tells"),
        pytest.param(64, "x", {"waits": False}, ["tell"] * 63 + ["ask"], id="waits for one of many"),
        pytest.param(2, "x" * 4_200_000, {"waits": False}, ["ask", "ask"], id="waits for long ones"),
    ],
)
def test_writes(count, value, options, expected):
    assert written(count, value, **options) == expected


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        pytest.param({"thread_id": "t"}, [], id="the one that it begins at"),
        pytest.param({"thread_id": "t", "checkpoint_ns": "", "run_id": "r"}, [], id="the same, in other words"),
        pytest.param({"thread_id": "t", "checkpoint_id": "c"}, ["ask"], id="another one"),
        pytest.param({"thread_id": "t", "checkpoint_ns": "node:1"}, ["ask"], id="that of a subgraph"),
        pytest.param({"thread_id": "other"}, ["ask"], id="that of another thread"),
    ],
)
def test_reads_a_state(place, expected):
    recorded = Recorded({"place": {"thread_id": "t", "checkpoint_ns": ""}, "value": None})
    saver = BridgeSaver(recorded)
    asyncio.run(saver.aget_tuple({"configurable": place}))
    assert recorded.sent == expected
    # It may have changed since.
    asyncio.run(saver.aget_tuple({"configurable": place}))
    assert recorded.sent == [*expected, "ask"]
