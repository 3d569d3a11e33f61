"""Greets its caller, whom `auth.py` knows."""

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from typing_extensions import NotRequired, TypedDict


class Input(TypedDict):
    words: NotRequired[str]


class State(Input):
    output: NotRequired[str]


def greet(state: State, config: RunnableConfig) -> State:
    user = config["configurable"]["langgraph_auth_user"]
    return {"output": f"{state.get('words') or 'hello'} {user.display_name}"}


graph = (
    StateGraph(State, input_schema=Input)
    .add_node("greet", greet)
    .add_edge(START, "greet")
    .add_edge("greet", END)
    .compile()
)
