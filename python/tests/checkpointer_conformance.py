"""Answers the request for the report of the public conformance suite: `python checkpointer_conformance.py SOCKET`."""

import asyncio
import sys
import threading
from collections.abc import Sequence

from langgraph.checkpoint.conformance import checkpointer_test, validate

from landfall_worker.connection import Answer, Asked, Connection
from landfall_worker.saver import BridgeSaver


class Saver(BridgeSaver):
    """What the server does by itself, and no worker asks for: it is the test's to answer."""

    async def adelete_thread(self, thread_id: str) -> None:
        await self._ask("server.delete_thread", {"thread_id": thread_id})

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        await self._ask("server.roll_back", {"run_ids": list(run_ids)})

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        await self._ask("server.copy_thread", {"source": source_thread_id, "target": target_thread_id})

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        await self._ask("server.prune", {"thread_ids": list(thread_ids), "strategy": strategy})


async def report(asked: Asked) -> Answer:
    @checkpointer_test(name="BridgeSaver")
    async def saver():
        yield Saver(asked)

    return Answer((await validate(saver)).to_dict()["results"])


class OneLoop:
    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

    def of(self, op: str) -> asyncio.AbstractEventLoop:
        return self._loop

    def done(self, loop: asyncio.AbstractEventLoop) -> None:
        pass


Connection(sys.argv[1], report, OneLoop()).read()
