import asyncio
import json
from typing import TypedDict

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import StateGraph
from langgraph.stream.transformers import UpdatesTransformer
from langgraph.types import interrupt

from landfall_worker.runs import send_thread_events
from landfall_worker.thread_events import ThreadEvents

# These events are new in the engine, which says so.
pytestmark = pytest.mark.filterwarnings("ignore:.* is (experimental|in beta)")


class State(TypedDict, total=False):
    said: str


class Run:
    """A request of the server that keeps the events."""

    def __init__(self, **args):
        self.args = {"input": {}, "config": {"configurable": {"thread_id": "t"}}, "subgraphs": True, **args}
        self.events = []

    async def event(self, value, attachments):
        self.events.append(json.loads(attachments[0]))


async def speak(state):
    stream = await GenericFakeChatModel(messages=iter([AIMessage("Hello world", id="m")])).astream_events(
        [], version="v3"
    )
    async for _ in stream:
        pass
    return {"said": "Hello world"}


def ask(state):
    return {"said": interrupt("Really?")}


def ask2(state):
    return {"said": "said"}


def fixed(state):
    return {"said": "fixed"}


def graph_of(*nodes, **options):
    graph = (
        StateGraph(State)
        .add_sequence(list(nodes))
        .add_edge("__start__", nodes[0].__name__ if callable(nodes[0]) else nodes[0][0])
    )
    return graph.compile(checkpointer=InMemorySaver(), **options)


def events_of(graph, method, **args):
    run = Run(**args)
    asyncio.run(send_thread_events(graph, run))
    return [each["params"] for each in run.events if each["method"] == method]


def test_shows_a_question_in_the_values():
    last = events_of(graph_of(fixed, ask), "values")[-1]
    assert [last["data"]["said"], last["data"]["__interrupt__"][0]["value"]] == ["fixed", "Really?"]
    assert "interrupts" not in last


@pytest.mark.parametrize("given", [{"interrupt_before": ["ask"]}, {"interrupt_after": ["fixed"]}])
def test_shows_a_stop_without_a_question(given):
    assert events_of(graph_of(fixed, ask), "values", **given)[-1]["data"] == {"__interrupt__": []}
    assert events_of(graph_of(fixed, ask, **given), "values")[-1]["data"] == {"__interrupt__": []}


def test_shows_no_stop_of_a_run_that_begins_at_an_earlier_state():
    graph = graph_of(fixed, ask2)
    place = {"configurable": {"thread_id": "t"}}
    graph.invoke({}, place, interrupt_before=["ask2"])
    earlier = {"configurable": {**place["configurable"], **graph.get_state(place).config["configurable"]}}
    shown = events_of(graph, "values", input=None, config=earlier, interrupt_after=["fixed"])
    assert shown[-1]["data"] == {"said": "said"}


def test_shows_no_stop_at_the_end():
    assert events_of(graph_of(fixed), "values", interrupt_before=["other"])[-1]["data"] == {"said": "fixed"}


def test_says_whose_an_update_is():
    graph = graph_of(fixed, ask)
    graph.stream_transformers = (UpdatesTransformer,)
    first, question = [each["data"] for each in events_of(graph, "updates")]
    assert first == {"node": "fixed", "values": {"fixed": {"said": "fixed"}}}
    assert [question["node"], question["values"][0]["value"]] == ["__interrupt__", "Really?"]


def test_shows_the_pieces_of_a_message_with_its_id_and_node():
    pieces = events_of(graph_of(speak), "messages")
    kinds = [each["data"]["event"] for each in pieces]
    assert [kinds[0], kinds[-1]] == ["message-start", "message-finish"]
    assert {each["node"] for each in pieces} == {"speak"}
    assert pieces[0]["data"]["metadata"]["langgraph_node"] == "speak"
    assert len({each["data"]["id"] for each in pieces}) == 1
    said = [each["data"]["delta"]["text"] for each in pieces if each["data"]["event"] == "content-block-delta"]
    assert "".join(said) == "Hello world"


def test_shows_where_a_subgraph_begins_and_ends():
    shown = events_of(graph_of(("inner", graph_of(fixed))), "lifecycle")
    assert [[each["namespace"][0].split(":")[0], each["data"]["event"]] for each in shown] == [
        ["inner", "started"],
        ["inner", "completed"],
    ]


def test_shows_a_question_beside_values_that_are_no_dictionary():
    params = {"namespace": [], "timestamp": 1, "data": "said", "interrupts": [{"id": "q"}]}
    shown = list(ThreadEvents().shown({"type": "event", "method": "values", "params": params}))
    assert [each["params"]["data"] for each in shown] == ["said", {"__interrupt__": [{"id": "q"}]}]
