"""The graph of `test/services/agent/soak/agent/soak.ts`, in Python."""

import asyncio
import operator
import os
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langgraph.graph import StateGraph
from langgraph.runtime import Runtime
from langgraph.types import interrupt


class RequestedFailure(Exception):
    """Callers see its name as the error type."""


class State(TypedDict, total=False):
    #: Identifies the request: it appears in the steps, the response and the file of marks.
    mark: str
    sleep_ms: float
    fail: bool
    ask: bool
    output: str
    steps: Annotated[list[str], operator.add]


class Context(TypedDict, total=False):
    greeting: str


def note(file: str, line: str) -> None:
    """Appends a line to a file that outlives the process."""
    with Path(os.environ[file]).open("a") as notes:
        notes.write(f"{line}\n")


async def prepare(state: State) -> State:
    note("SOAK_MARKS", f"prepare {state['mark']}")
    return {"steps": [f"prepare {state['mark']}"]}


async def answer(state: State, runtime: Runtime[Any]) -> State:
    mark = state["mark"]
    note("SOAK_MARKS", f"answer {mark}")
    await asyncio.sleep(state.get("sleep_ms", 0) / 1000)
    if state.get("fail"):
        raise RequestedFailure(mark)
    if state.get("ask"):
        interrupt("May I?")
    greeting = (runtime.context or {}).get("greeting", "hello")
    return {"steps": [f"answer {mark}"], "output": f"{greeting} {mark}"}


soak = (
    StateGraph(State, context_schema=Context).add_sequence([prepare, answer]).add_edge("__start__", "prepare").compile()
)
# Who is killed.
note("SOAK_PIDS", str(os.getpid()))
