import asyncio
import json

from langchain_core.callbacks import BaseCallbackHandler
from langgraph.graph import StateGraph
from langgraph.types import interrupt

from landfall_worker.steps import _MOST_CHARACTERS, with_steps


class Run:
    """A request of the server that keeps what it is told."""

    def __init__(self, **args):
        self.args = args
        self.is_over = False
        self.told = []

    def ask(self, op, args, attachments):
        self.told.append((op, args, json.loads(attachments[0])))


class Own(BaseCallbackHandler):
    def __init__(self):
        self.heard = 0

    def on_chain_start(self, *args, **kwargs):
        self.heard += 1


def run(graph, given, **args):
    asked = Run(steps=True, **args)
    asyncio.run(graph.ainvoke(given, with_steps({}, graph, asked)))
    return asked.told


def graph_of(*nodes):
    return StateGraph(dict).add_sequence(list(nodes)).add_edge("__start__", nodes[0].__name__).compile()


def test_tells_of_nodes_that_a_thread_runs_too():
    def shout(state):
        return {"text": state["text"].upper()}

    inner = graph_of(shout)

    def call(state):
        return inner.invoke(state)

    told = run(graph_of(call), {"text": "hi"})
    assert [(op, args.get("node"), value) for op, args, value in told] == [
        ("step.start", "call", {"text": "hi"}),
        ("step.start", "shout", {"text": "hi"}),
        ("step.end", None, {"text": "HI"}),
        ("step.end", None, {"text": "HI"}),
    ]
    assert told[0][1]["step"] == told[3][1]["step"]


def test_leaves_the_handlers_of_a_graph_where_they_are():
    own = Own()
    graph = graph_of(lambda_node).with_config(callbacks=[own])
    told = run(graph, {})
    assert len(told) == 2
    assert own.heard > 0
    assert with_steps({"tags": ["a"]}, graph, Run(steps=False)) == {"tags": ["a"]}


def lambda_node(state):
    return {}


def test_tells_a_question_from_an_error():
    def ask(state):
        return {"text": interrupt("Which?")}

    told = run(graph_of(ask), {})
    assert told[-1][0] == "step.error"
    assert told[-1][1]["error"] is None


def test_sends_no_more_of_a_long_value_than_the_server_needs():
    told = run(graph_of(lambda_node), {"text": ["x" * 1_000] * 10_000})
    sent = len(json.dumps(told[0][2]))
    assert _MOST_CHARACTERS < sent < 2 * _MOST_CHARACTERS
