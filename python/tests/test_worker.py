import json
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from server import SECONDS, Server

AGENT = """
import sys
from typing import TypedDict
from langgraph.graph import START, StateGraph

class State(TypedDict):
    notes: list[str]

class Enough(BaseException):
    pass

def leave(state):
    sys.exit("The node has enough.")

async def interrupt(state):
    raise KeyboardInterrupt("The node has enough.")

async def end(state):
    raise Enough("The node has enough.")

async def leave_async(state):
    leave(state)

def graph_of(node):
    builder = StateGraph(State)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    return builder.compile()

graph = graph_of(lambda state: {"notes": ["tea"]})
named = graph.copy({"name": "Notes"})
leaving = graph_of(leave)
leaving_async = graph_of(leave_async)
interrupting, ending = graph_of(interrupt), graph_of(end)
"""


class Worker:
    """A worker in a process of its own."""

    def __init__(self, folder: Path) -> None:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("socket")
            listener.listen()
            listener.settimeout(SECONDS)
            program = Path(__file__).parent.parent / "landfall_worker"
            self.process = subprocess.Popen([sys.executable, str(program), str(folder / "socket")], cwd=folder)
            self.server = Server(listener.accept()[0])
        self.hello = self.server.header()
        self._last = 0

    def ask(self, op, args=None):
        """The header that ends the answer to a request."""
        self.events = []
        self._last += 1
        self.server.ask(self._last, op, args)
        # Signs of life arrive all the time.
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            frame = self.server.receive()
            header = frame.header
            if header["kind"] == "event":
                self.events.append(json.loads(frame.attachments[0]))
            if header["kind"] in ("done", "failed"):
                assert header["id"] == self._last
                return header
        raise TimeoutError(f"{op} is not answered.")

    def load(self, export, module="./agent.py"):
        return self.ask("load", {"graph_id": export, "module": module, "export": export})

    def run(self, graph_id, op="run"):
        place = {"configurable": {"thread_id": graph_id}}
        given = {"input": {"notes": []}, "modes": ["updates"], "subgraphs": False, "in_memory": True}
        return self.ask(op, {"graph_id": graph_id, "config": place, **given})


@pytest.fixture
def worker(tmp_path, monkeypatch):
    # The path of a socket has to be short.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "leaves.py").write_text("import sys\nsys.exit('This is a program.')\n")
    started = Worker(tmp_path)
    started.ask("prepare", {"folder": str(tmp_path), "dependencies": ["."]})
    yield started
    started.server.end.close()
    started.process.kill()
    started.process.wait()


def test_says_its_versions_first(worker):
    assert worker.hello["kind"] == "hello"
    assert worker.hello["python"].startswith(f"{sys.version_info.major}.{sys.version_info.minor}.")
    assert worker.hello["engine"]


def test_fails_what_exits_and_goes_on(worker):
    refused = worker.load("graph", "./leaves.py")["error"]
    assert (refused["type"], refused["message"]) == ("SystemExit", "This is a program.")
    for export in ("graph", "leaving", "leaving_async"):
        assert worker.load(export)["kind"] == "done"
    for export in ("leaving", "leaving_async"):
        ended = worker.run(export)["error"]
        assert (ended["type"], ended["message"]) == ("SystemExit", "The node has enough.")
        assert "in leave" in ended["stack"]
    assert worker.run("graph")["kind"] == "done"


@pytest.mark.parametrize(("export", "kind"), [("interrupting", "KeyboardInterrupt"), ("ending", "Enough")])
def test_fails_what_raises_what_is_no_exception(worker, export, kind):
    for each in (export, "graph"):
        assert worker.load(each)["kind"] == "done"
    ended = worker.run(export)["error"]
    assert (ended["type"], ended["message"]) == (kind, "The node has enough.")
    assert worker.run("graph")["kind"] == "done"


@pytest.mark.parametrize(("export", "name"), [("graph", "graph"), ("named", "Notes")])
def test_a_run_has_the_name_of_its_graph(worker, export, name):
    worker.load(export)
    assert worker.run(export, "events")["kind"] == "done"
    assert next(each for each in worker.events if each.get("event") == "on_chain_start")["name"] == name


def test_loads_a_module_that_runs_a_loop_of_its_own(worker, tmp_path):
    (tmp_path / "looping.py").write_text(
        "import asyncio\nimport agent\nasync def make():\n    return agent.graph\ngraph = asyncio.run(make())\n"
    )
    assert worker.load("graph", "./looping.py")["kind"] == "done"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_leaves_the_signals_of_terminals_and_services_to_the_server(worker, number):
    assert worker.load("graph")["kind"] == "done"
    worker.process.send_signal(number)
    assert worker.run("graph")["kind"] == "done"


def test_exits_once_the_server_ends_the_connection(worker):
    worker.server.end.close()
    assert worker.process.wait(SECONDS) == 0


def test_exits_if_the_server_breaks_the_protocol(worker):
    worker.server.send({"kind": "hum", "id": 1})
    assert worker.process.wait(SECONDS) != 0
