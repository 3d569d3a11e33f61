"""The graphs of `test/services/agent/agent`, in Python."""

import os
import re
import urllib.request
from collections.abc import AsyncIterator
from typing import Any, Literal, TypedDict

from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.outputs import ChatGenerationChunk
from langgraph.config import get_stream_writer
from langgraph.graph import MessagesState, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import interrupt
from pydantic import BaseModel


class Teller(FakeListChatModel):
    """Says its words letter by letter. `until` and an address in the message: it goes on after the first once that answers."""

    async def _astream(self, messages: Any, *args: Any, **options: Any) -> AsyncIterator[ChatGenerationChunk]:
        import asyncio

        gate = re.search(r"until (http:\S+)", str(messages[-1].content))
        said = 0
        async for letter in super()._astream(messages, *args, **options):
            if gate and said == 1:
                await asyncio.to_thread(urllib.request.urlopen, gate[1])
            said += 1
            yield letter


model = Teller(responses=["Good day to you"], sleep=0.02)


async def say(state: MessagesState) -> dict[str, Any]:
    return {"messages": [await model.ainvoke(state["messages"])]}


#: Not compiled: the server compiles it.
chat = StateGraph(MessagesState).add_node("say", say).add_edge("__start__", "say").add_edge("say", "__end__")


class Asked(TypedDict):
    request: str
    answer: str


async def think(state: Asked) -> dict[str, Any]:
    return {}


async def ask(state: Asked) -> dict[str, Any]:
    request = state["request"]
    return {"answer": f"{request}: {interrupt({'question': f'May I {request}?'})}"}


#: Interrupts in its second node.
interrupts = (
    StateGraph(Asked)
    .add_node("think", think)
    .add_node("ask", ask)
    .add_edge("__start__", "think")
    .add_edge("think", "ask")
    .add_edge("ask", "__end__")
    .compile()
)


class Word(TypedDict):
    word: str


async def shout(state: Word) -> dict[str, Any]:
    get_stream_writer()({"heard": state["word"]})
    return {"word": state["word"].upper()}


inner = StateGraph(Word).add_node("shout", shout).add_edge("__start__", "shout").add_edge("shout", "__end__").compile()

#: Has a subgraph that streams its own messages.
outer = (
    StateGraph(Word).add_node("inside", inner).add_edge("__start__", "inside").add_edge("inside", "__end__").compile()
)


class Said(TypedDict):
    said: str


class Tone(BaseModel):
    tone: Literal["warm", "cold"]
    volume: float | None = None


async def speak(state: Said, runtime: Runtime[Tone]) -> dict[str, Any]:
    return {"said": f"{runtime.context.tone} words"}


#: Requires a context.
toned = (
    StateGraph(Said, context_schema=Tone)
    .add_node("speak", speak)
    .add_edge("__start__", "speak")
    .add_edge("speak", "__end__")
    .compile()
)


async def made(config: dict[str, Any]) -> Any:
    """Created for each run, from the run's configuration."""
    word = config.get("configurable", {}).get("word", "nothing")

    async def repeat(state: Said) -> dict[str, Any]:
        return {"said": f"{word}, {os.environ['AGENT_MOOD']}"}

    return (
        StateGraph(Said)
        .add_node("repeat", repeat)
        .add_edge("__start__", "repeat")
        .add_edge("repeat", "__end__")
        .compile()
    )
