"""A graph that does nothing but stream a long answer."""

from typing import Any

from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langgraph.graph import MessagesState, StateGraph

#: How many pieces an answer has.
TOKENS = 1_000

model = FakeListChatModel(responses=["x" * TOKENS])


async def say(state: MessagesState) -> dict[str, Any]:
    return {"messages": [await model.ainvoke(state["messages"])]}


graph = StateGraph(MessagesState).add_node("say", say).add_edge("__start__", "say").compile()
