"""Answers questions about refunds and deliveries, without a model: by rule, word by word."""

import re
from typing import Any

from langchain_core.messages import SystemMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.runtime import Runtime
from pydantic import BaseModel

from support_agent.scripted_model import ScriptedModel, text_of


class Context(BaseModel):
    """What an assistant may set."""

    company: str = "Acme"


class State(MessagesState):
    """The conversation, and what it is about."""

    topic: str


ANSWERS = {
    "refund": "You can return anything within 30 days. I have sent you a label.",
    "delivery": "Parcels leave the same day and arrive within two days.",
    "other": "Give me a few details, and I will find out.",
}


def topic_of(question: str) -> str:
    if re.search("refund|return|money back", question, re.IGNORECASE):
        return "refund"
    return "delivery" if re.search("deliver|parcel|ship", question, re.IGNORECASE) else "other"


model = ScriptedModel(answer=lambda question: ANSWERS[topic_of(question)])


def classify(state: State) -> dict[str, Any]:
    return {"topic": topic_of(text_of(state["messages"][-1]))}


async def answer(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    company = runtime.context.company if runtime.context else "Acme"
    instructions = SystemMessage(f"You answer for {company}.")
    return {"messages": [await model.ainvoke([instructions, *state["messages"]])]}


graph = (
    StateGraph(State, input_schema=MessagesState, context_schema=Context)
    .add_node("classify", classify)
    .add_node("answer", answer)
    .add_edge(START, "classify")
    .add_edge("classify", "answer")
    .add_edge("answer", END)
    .compile()
)
