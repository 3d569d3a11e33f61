"""Graphs that do what a server must bear."""

import asyncio
import logging
import operator
import os
import signal
import subprocess
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langgraph.config import get_store
from langgraph.graph import StateGraph
from langgraph.types import interrupt
from langgraph_sdk.runtime import ServerRuntime


class State(TypedDict, total=False):
    steps: Annotated[list[str], operator.add]
    #: How many times the process is killed, and the file that counts them.
    kills: int
    counted_in: str
    seconds: float
    said: Any


def graph_of(*nodes: Any) -> Any:
    """A graph of nodes, one after the other."""
    return StateGraph(State).add_sequence(list(nodes)).add_edge("__start__", nodes[0].__name__).compile()


def first(state: State) -> State:
    return {"steps": ["first"]}


def die(state: State) -> State:
    """Ends its process, as many times as it is told to."""
    counter = Path(state["counted_in"])
    done = len(counter.read_text()) if counter.exists() else 0
    if done < state["kills"]:
        counter.write_text("x" * (done + 1))
        # It lives on until the test is over, and has what this process prints to open.
        subprocess.Popen(["sh", "-c", 'while test -e "$0"; do sleep 0.2; done', str(counter)])
        print("the last words")
        os.kill(os.getpid(), signal.SIGKILL)
    return {"steps": ["survived"]}


async def block(state: State) -> State:
    time.sleep(state["seconds"])
    return {"steps": ["blocked"]}


async def wait(state: State) -> State:
    """Waits until there is a file."""
    while not Path(state["counted_in"]).exists():
        await asyncio.sleep(0.05)
    return {"steps": ["waited"]}


def fail(state: State) -> State:
    try:
        raise ConnectionError("no line")
    except ConnectionError as error:
        raise ValueError("no answer") from error


def refuse(state: State) -> State:
    raise ValueError("no answer")


async def remember(state: State) -> State:
    store = get_store()
    await store.aput(("users", "ann"), "name", {"name": "Ann"})
    await store.aput(("users", "bob"), "name", {"name": "Bob"}, index=False, ttl=5)
    found = await store.aget(("users", "ann"), "name")
    await store.adelete(("users", "bob"), "name")
    names = [each.value["name"] for each in await store.asearch(("users",), filter={"name": "Ann"})]
    places = await store.alist_namespaces(prefix=("users",), max_depth=2)
    logging.getLogger("odd.agent").warning("remembered")
    return {"said": [found and found.value, names, places, await store.aget(("users", "bob"), "name")]}


@dataclass
class Note:
    text: str


def note(state: State) -> State:
    return {"said": Note("kept")}


def ask(state: State) -> State:
    return {"steps": [interrupt("Really?")]}


@asynccontextmanager
async def made(config: dict[str, Any], runtime: ServerRuntime):  # type: ignore[type-arg]
    """Sees why it is called, and reads the store."""
    assert await runtime.store.aget(("users", "nobody"), "name") is None
    execution = runtime.execution_runtime
    seen = [runtime.access_context, config["configurable"].get("who"), execution and execution.context]

    def see(state: State) -> State:
        return {"said": seen}

    yield graph_of(see)


dies, blocks, fails, waits = graph_of(first, die), graph_of(block), graph_of(fail), graph_of(wait)
remembers, notes = graph_of(remember), graph_of(note, ask)

_outer = StateGraph(State).add_node("inner", graph_of(first)).add_node(refuse).add_edge("__start__", "inner")
nested = _outer.add_edge("inner", "refuse").compile()


class Answer(TypedDict, total=False):
    said: Any


shows = StateGraph(State, output_schema=Answer).add_node(first).add_node(note).add_edge("__start__", "first")
shows = shows.add_edge("first", "note").compile()  # type: ignore[assignment]
