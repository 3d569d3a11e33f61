import os

from langgraph.graph import StateGraph
from typing_extensions import TypedDict

from .words import greeting


class State(TypedDict):
    input: str
    said: str
    pid: int


async def talk(state: State) -> dict[str, object]:
    return {"said": greeting(state["input"]), "pid": os.getpid()}


graph = StateGraph(State).add_node(talk).set_entry_point("talk").set_finish_point("talk").compile()
