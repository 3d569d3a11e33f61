"""Answers the request for the report of the public conformance suite: `python checkpointer_conformance.py SOCKET`."""

import asyncio
import sys
import threading

from langgraph.checkpoint.conformance import checkpointer_test, validate

from landfall_worker.connection import Answer, Asked, Connection
from landfall_worker.saver import BridgeSaver


class Saver(BridgeSaver):
    """Threads are deleted by the server, which the suite knows nothing of."""

    async def adelete_thread(self, thread_id: str) -> None:
        await self._ask("checkpoint.delete", {"thread_id": thread_id})


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
