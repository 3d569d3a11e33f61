"""Runs of the graphs by the engine alone, with the public saver in a Postgres: what every server of them has to do.

Reads a round as a line of JSON, and answers with its times (`bench/run-load.ts`).
"""

import asyncio
import json
import sys
import time
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[2] / "examples/python-echo-agent"))

from echo_agent.graph import graph as echo
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from many_tokens import TOKENS
from many_tokens import graph as tokens
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool

Times = dict[str, float]


def place() -> Any:
    return {"configurable": {"thread_id": str(uuid.uuid4())}}


def runs(saver: Any) -> dict[str, Callable[[], Awaitable[Times]]]:
    """One run of each kind."""
    greeter, teller = echo.copy({"checkpointer": saver}), tokens.copy({"checkpointer": saver})

    async def wait() -> Times:
        began = time.perf_counter()
        found = await greeter.ainvoke({"input": "Ada"}, place())
        assert found["output"] == "hello Ada", found
        return {"last": time.perf_counter() - began}

    memory = InMemorySaver()
    forgetful = echo.copy({"checkpointer": memory})

    async def alone() -> Times:
        began, where = time.perf_counter(), place()
        found = await forgetful.ainvoke({"input": "Ada"}, where)
        assert found["output"] == "hello Ada", found
        await memory.adelete_thread(where["configurable"]["thread_id"])
        return {"last": time.perf_counter() - began}

    async def streamed(graph: Any, given: Any, modes: list[str], counted: str, wanted: int) -> Times:
        began = time.perf_counter()
        times: Times = {}
        seen = 0
        async for mode, _ in graph.astream(given, place(), stream_mode=modes):
            times["last"] = time.perf_counter() - began
            times.setdefault("first", times["last"])
            if mode == counted:
                times.setdefault("first_update", times["last"])
                seen += 1
        assert seen >= wanted, seen
        return times

    messages = {"messages": [{"role": "user", "content": "Tell"}]}
    return {
        "wait": wait,
        "alone": alone,
        "stream": lambda: streamed(greeter, {"input": "Ada"}, ["updates", "values"], "updates", 2),
        "tokens": lambda: streamed(teller, messages, ["messages"], "messages", TOKENS),
    }


async def one_round(asked: dict[str, Any], run: Callable[[], Awaitable[Times]]) -> dict[str, Any]:
    """Does the runs of a round, so many at once."""
    done: list[Times] = []
    left = asked["count"]
    began = time.perf_counter()

    async def some() -> None:
        nonlocal left
        while left > 0 and (time.perf_counter() - began) * 1000 < asked.get("withinMs", float("inf")):
            left -= 1
            done.append(await run())

    await asyncio.gather(*(some() for _ in range(asked["atOnce"])))
    took = time.perf_counter() - began

    def of(name: str) -> list[float]:
        return [each[name] * 1000 for each in done if name in each]

    return {
        "perSecond": len(done) / took,
        "times": of("last"),
        "toFirst": of("first"),
        "toFirstUpdate": of("first_update"),
    }


async def main(url: str) -> None:
    options = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    async with AsyncConnectionPool(url, max_size=10, kwargs=options) as pool:
        saver = AsyncPostgresSaver(pool)
        await saver.setup()
        known = runs(saver)
        print(json.dumps({"ready": True}), flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            asked = json.loads(line)
            print(json.dumps(await one_round(asked, known[asked["kind"]])), flush=True)


asyncio.run(main(sys.argv[1]))
