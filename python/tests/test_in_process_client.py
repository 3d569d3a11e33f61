import asyncio
import os
import subprocess
import sys
from concurrent.futures import Future

import pytest
from langgraph_sdk import get_client

from landfall_worker.connection import Answer
from landfall_worker.in_process_client import enter_request, provide_client


class Run:
    """A request of the server, which answers what is asked for it from a list."""

    def __init__(self, *answers):
        self.is_over = False
        self.asked = []
        self._answers = list(answers)

    def ask(self, op, args, attachments=()):
        self.asked.append((op, {key: each for key, each in args.items() if key != "call"}, attachments))
        answer = Future()
        if self._answers:
            answer.set_result(self._answers.pop(0))
        return answer


OUTSIDE = Run()


@pytest.fixture(autouse=True)
def provided():
    provide_client(OUTSIDE)
    yield
    OUTSIDE.asked.clear()
    for name in [each for each in sys.modules if each.partition(".")[0] == "langgraph_api"]:
        del sys.modules[name]


JSON = Answer({"status": 200, "headers": [["content-type", "application/json"]]})
EVENTS = Answer({"status": 200, "headers": [["content-type", "text/event-stream"]]})
END = Answer({"ended": True})


def part(data):
    return Answer({"ended": False}, [data])


def test_a_client_without_a_url_calls_the_server_for_its_run():
    run = Run(JSON, part(b'{"thread_id":'), part(b'"t"}'), END)

    async def node():
        enter_request(run)
        # The SDK's own: this fails where it looks for its server elsewhere.
        return await get_client(api_key="key").threads.create(metadata={"tea": 1})

    assert asyncio.run(node()) == {"thread_id": "t"}
    op, args, attachments = run.asked[0]
    assert (op, args["method"], args["path"]) == ("client.request", "POST", "/threads")
    assert ["x-api-key", "key"] in [list(each) for each in args["headers"]]
    assert attachments == (b'{"metadata":{"tea":1}}',)
    assert [op for op, *_ in run.asked] == ["client.request", "client.read", "client.read", "client.read"]


def test_reads_a_stream_part_by_part_and_says_when_it_leaves():
    run = Run(EVENTS, part(b'event: values\ndata: {"n": 1}\n\n'))

    async def node():
        enter_request(run)
        client = get_client(api_key=None)
        async for each in client.runs.stream(None, "graph", stream_mode="values"):
            # The second part is not there yet.
            assert [op for op, *_ in run.asked] == ["client.request", "client.read"]
            return each.data

    assert asyncio.run(node()) == {"n": 1}
    assert "client.close" in [op for op, *_ in run.asked]


def test_a_call_that_is_cancelled_ends_on_the_server():
    run = Run()

    async def node():
        enter_request(run)
        async with asyncio.timeout(0.01):
            await get_client(api_key=None).threads.get("t")

    with pytest.raises(TimeoutError):
        asyncio.run(node())
    assert [op for op, *_ in run.asked] == ["client.request", "client.close"]


@pytest.mark.parametrize("is_over", [False, True])
def test_calls_in_the_background_for_no_request(is_over):
    run = Run()

    async def background():
        if is_over:
            enter_request(run)
            run.is_over = True
        async with asyncio.timeout(0.01):
            await get_client(api_key=None).threads.get("t")

    with pytest.raises(TimeoutError):
        asyncio.run(background())
    assert [op for op, *_ in OUTSIDE.asked] == ["client.request", "client.close"]
    assert run.asked == []


def test_comes_before_the_server_that_an_agent_has_installed(tmp_path):
    package = tmp_path / "langgraph_api"
    package.mkdir()
    (package / "__init__.py").touch()
    for module in ("server", "asgi_transport"):
        (package / f"{module}.py").write_text("raise AssertionError('It is imported.')\n")
    program = (
        "import asyncio; from landfall_worker.in_process_client import provide_client; provide_client(None); "
        "from langgraph_sdk import get_client; asyncio.run(get_client(api_key=None).threads.get('t'))"
    )
    path = os.pathsep.join([str(tmp_path), *sys.path])
    ended = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert "in_process_client.py" in ended.stderr
    assert "It is imported." not in ended.stderr


def test_imports_neither_the_sdk_nor_what_it_calls_with():
    program = (
        "import sys; from landfall_worker.in_process_client import provide_client; provide_client(None); "
        "sys.exit([each for each in ('langgraph_sdk', 'httpx') if each in sys.modules] or 0)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
