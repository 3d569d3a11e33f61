import asyncio
import contextvars
from concurrent.futures import Future
from functools import lru_cache

import pytest

from landfall_worker.connection import Answer
from landfall_worker.store import BridgeStore, enter_store


class Request:
    """A request of the server, which finds nothing in the store."""

    def __init__(self):
        self.is_over = False
        self.asked = 0

    def ask(self, op, args, attachments=()):
        assert op == "store.batch"
        assert not self.is_over, "It has ended."
        self.asked += 1
        answer = Future()
        answer.set_result(Answer([None for _ in args["operations"]]))
        return answer


async def run(request, node):
    store = enter_store(request)
    await node(store)
    request.is_over = True


@pytest.mark.parametrize("read", ["get", "aget"])
def test_a_store_that_code_has_kept_is_that_of_the_run_that_uses_it(read):
    keep = lru_cache(maxsize=1)(lambda: kept[0])
    kept: list[BridgeStore] = []

    async def node(store):
        kept.append(store)
        await asyncio.to_thread(keep().get, ("a",), "b") if read == "get" else await keep().aget(("a",), "b")

    async def runs():
        # Each in a context of its own, as the requests of the server are.
        first, second, third = Request(), Request(), Request()
        await asyncio.create_task(run(first, node))
        await asyncio.gather(asyncio.create_task(run(second, node)), asyncio.create_task(run(third, node)))
        return [each.asked for each in (first, second, third)]

    assert asyncio.run(runs()) == [1, 1, 1]


def test_a_store_outside_a_run_is_that_of_its_own_request():
    request = Request()
    store = contextvars.Context().run(enter_store, request)
    assert store.get(("a",), "b") is None
    assert request.asked == 1
