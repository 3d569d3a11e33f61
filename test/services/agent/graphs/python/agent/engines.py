"""A graph of what every engine has."""

import operator
from dataclasses import dataclass
from typing import Annotated, Any

from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langgraph.config import get_store, get_stream_writer
from langgraph.graph import StateGraph
from langgraph.runtime import Runtime
from langgraph.types import interrupt
from typing_extensions import TypedDict


class State(TypedDict, total=False):
    name: str
    steps: Annotated[list[str], operator.add]
    found: Any


@dataclass
class Context:
    word: str = "Nothing"


async def greet(state: State, runtime: Runtime[Context]) -> State:
    get_stream_writer()({"heard": state["name"]})
    model = FakeListChatModel(responses=[f"{runtime.context.word} {state['name']}"])
    return {"steps": [str((await model.ainvoke("Greet")).content)]}


def note(state: State) -> State:
    return {"found": "inside"}


def ask(state: State) -> State:
    return {"steps": [interrupt("Really?")]}


async def keep(state: State) -> State:
    store = get_store()
    await store.aput(("users", "ada"), "name", {"name": state["name"]})
    found = await store.aget(("users", "ada"), "name")
    return {"found": [found and found.value, [each.value["name"] for each in await store.asearch(("users",))]]}


def fail(state: State) -> State:
    raise ValueError("no tea")


class Inner(TypedDict, total=False):
    found: Any


inside = StateGraph(Inner).add_node("note", note).add_edge("__start__", "note").compile()
graph = (
    StateGraph(State, context_schema=Context)
    .add_sequence([("greet", greet), ("inside", inside), ("ask", ask), ("keep", keep)])
    .add_edge("__start__", "greet")
    .compile()
)
fails = StateGraph(State).add_node("fail", fail).add_edge("__start__", "fail").compile()
