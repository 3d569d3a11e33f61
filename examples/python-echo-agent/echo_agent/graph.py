"""Greets whoever writes to it. Its input can make it slow, or fail."""

import asyncio
import operator
from typing import Annotated, Any

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from pydantic import BaseModel, Field
from typing_extensions import NotRequired, TypedDict


class Context(BaseModel):
    """What an assistant may set: the word that every answer begins with."""

    greeting: str | None = None


class Options(TypedDict):
    sleep_ms: NotRequired[
        Annotated[float | None, Field(ge=0, le=600_000, description="How long the answer takes, in ms.")]
    ]
    fail: NotRequired[Annotated[str | None, Field(description="The message to fail with.")]]


class Input(Options):
    """What a run takes: the console makes a form of it."""

    input: Annotated[str, Field(description="The name to greet.")]


class State(Input):
    """What the graph leaves on a thread: `steps` remembers every node that ran there."""

    options: NotRequired[Options]
    output: NotRequired[str]
    steps: Annotated[list[str], operator.add]


class RequestedFailure(Exception):
    """The agent server reports the name as the type of the error."""


def prepare(state: State) -> dict[str, Any]:
    # A thread keeps the input of a run. Move this run's options aside, so that the next run starts without them.
    options = {name: state[name] for name in ("sleep_ms", "fail") if state.get(name) is not None}
    return {"steps": ["prepare"], "options": options, "sleep_ms": None, "fail": None}


async def answer(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    options = state.get("options") or {}
    if sleep_ms := options.get("sleep_ms"):
        await asyncio.sleep(sleep_ms / 1000)
    if fail := options.get("fail"):
        raise RequestedFailure(fail)
    greeting = (runtime.context and runtime.context.greeting) or "hello"
    return {"steps": ["answer"], "output": f"{greeting} {state['input']}"}


graph = (
    StateGraph(State, input_schema=Input, context_schema=Context)
    .add_node("prepare", prepare)
    .add_node("answer", answer)
    .add_edge(START, "prepare")
    .add_edge("prepare", "answer")
    .add_edge("answer", END)
    .compile()
)
