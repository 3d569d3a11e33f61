"""Uses an agent with the official Python client, and prints as JSON what held: `[feature, null or the error]`.

Argument: the agent's address.
"""

import asyncio
import json
import sys
import traceback
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
from langgraph.pregel.remote import RemoteGraph
from langgraph.types import Command
from langgraph_sdk import get_client, get_sync_client

URL = sys.argv[1]
HELLO = {"input": "Ada"}
SLOW = {"input": "Ada", "sleep_ms": 60_000}
REFUND = {"messages": [{"role": "user", "content": "Can I have my money back?"}]}
LABEL = "You can return anything within 30 days. I have sent you a label."

client = get_client(url=URL, api_key=None)
sync = get_sync_client(url=URL, api_key=None)
features: list[tuple[str, Callable[[], Awaitable[None]]]] = []


def feature(name: str) -> Callable[[Callable[[], Awaitable[None]]], None]:
    def add(use: Callable[[], Awaitable[None]]) -> None:
        features.append((name, use))

    return add


def same(seen: Any, expected: Any) -> None:
    if seen != expected:
        raise AssertionError(f"{seen!r} instead of {expected!r}")


async def thread() -> str:
    return str((await client.threads.create())["thread_id"])


async def until_running(on: str, run: str) -> None:
    while (await client.runs.get(on, run))["status"] != "running":
        await asyncio.sleep(0.05)


async def status_of_error(call: Awaitable[Any]) -> int | None:
    try:
        await call
    except httpx.HTTPStatusError as error:
        return error.response.status_code
    return None


@feature("`assistants`: create, update, versions, `set_latest`, search, schemas, drawing, delete")
async def _() -> None:
    made = await client.assistants.create("echo", context={"greeting": "good morning"}, name="polite")
    one = made["assistant_id"]
    await client.assistants.update(one, context={"greeting": "good evening"})
    same((await client.runs.wait(None, one, input=HELLO))["output"], "good evening Ada")
    same([each["version"] for each in await client.assistants.get_versions(one)], [2, 1])
    await client.assistants.set_latest(one, 1)
    same((await client.runs.wait(None, one, input=HELLO))["output"], "good morning Ada")
    found = await client.assistants.search(graph_id="echo")
    same(one in [each["assistant_id"] for each in found], True)
    schemas = await client.assistants.get_schemas(one)
    same(schemas["input_schema"]["required"], ["input"])
    drawing = await client.assistants.get_graph("outer", xray=True)
    same("inside:shout" in [node["id"] for node in drawing["nodes"]], True)
    subgraphs = await client.assistants.get_subgraphs("outer")
    same(list(subgraphs), ["inside"])
    await client.assistants.delete(one)
    same(await status_of_error(client.assistants.get(one)), 404)


@feature("`threads`: create, update, search, count, copy, delete")
async def _() -> None:
    made = await client.threads.create(metadata={"user": "ada"})
    one = made["thread_id"]
    await client.threads.update(one, metadata={"topic": "refund"})
    same((await client.threads.get(one))["metadata"]["topic"], "refund")
    same([each["thread_id"] for each in await client.threads.search(metadata={"user": "ada"})], [one])
    same(await client.threads.count(metadata={"user": "ada"}), 1)
    copy = await client.threads.copy(one)
    same((await client.threads.get(copy["thread_id"]))["metadata"]["user"], "ada")
    await client.threads.delete(one)
    same(await status_of_error(client.threads.get(one)), 404)


@feature("`runs.wait` on a thread and without one, and the error of a run")
async def _() -> None:
    on = await thread()
    same((await client.runs.wait(on, "support", input=REFUND))["messages"][-1]["content"], LABEL)
    same((await client.runs.wait(None, "echo", input=HELLO))["output"], "hello Ada")
    failed = await client.runs.wait(None, "echo", input={**HELLO, "fail": "no ink"}, raise_error=False)
    same(failed["__error__"], {"error": "RequestedFailure", "message": "no ink"})


@feature("`runs.stream`: values, updates, messages, custom, subgraphs")
async def _() -> None:
    modes = ["values", "updates", "messages-tuple"]
    parts = [part async for part in client.runs.stream(None, "support", input=REFUND, stream_mode=modes)]
    same({part.event for part in parts}, {"metadata", "values", "updates", "messages"})
    pieces = [part.data[0]["content"] for part in parts if part.event == "messages"]
    same(len(pieces) > 5 and "".join(pieces), LABEL)
    inside = client.runs.stream(
        None, "outer", input={"word": "oh"}, stream_mode=["updates", "custom"], stream_subgraphs=True
    )
    events = [part.event.split("|")[0] + ("|" if "|" in part.event else "") async for part in inside]
    same(events, ["metadata", "custom|", "updates|", "updates"])


@feature("`runs.create`, `get`, `list`, `join`, `join_stream`, `delete`")
async def _() -> None:
    on = await thread()
    made = await client.runs.create(on, "echo", input={**HELLO, "sleep_ms": 300}, stream_mode="updates")
    run = made["run_id"]
    heard = [part.event async for part in client.runs.join_stream(on, run)]
    same("updates" in heard, True)
    same((await client.runs.join(on, run))["output"], "hello Ada")
    same((await client.runs.get(on, run))["status"], "success")
    same([each["run_id"] for each in await client.runs.list(on)], [run])
    await client.runs.delete(on, run)
    same(await status_of_error(client.runs.get(on, run)), 404)


@feature("`runs.cancel`, and `multitask_strategy`: reject, interrupt, rollback")
async def _() -> None:
    on = await thread()
    first = (await client.runs.create(on, "echo", input=SLOW))["run_id"]
    await until_running(on, first)
    reject = client.runs.create(on, "echo", input=HELLO, multitask_strategy="reject")
    same(await status_of_error(reject), 409)
    again = await client.runs.wait(on, "echo", input=HELLO, multitask_strategy="interrupt")
    same(again["output"], "hello Ada")
    same((await client.runs.get(on, first))["status"], "interrupted")
    second = (await client.runs.create(on, "echo", input=SLOW))["run_id"]
    await until_running(on, second)
    await client.runs.wait(on, "echo", input=HELLO, multitask_strategy="rollback")
    same(await status_of_error(client.runs.get(on, second)), 404)
    third = (await client.runs.create(on, "echo", input=SLOW))["run_id"]
    await until_running(on, third)
    await client.runs.cancel(on, third, wait=True)
    same((await client.runs.get(on, third))["status"], "interrupted")


@feature("`runs.create_batch`")
async def _() -> None:
    made = await client.runs.create_batch([{"assistant_id": "echo", "input": HELLO}] * 2)
    same([each["status"] for each in made], ["pending", "pending"])


@feature("an interrupt and `command` with `resume`")
async def _() -> None:
    on = await thread()
    stopped = await client.runs.wait(on, "interrupts", input={"request": "dance"})
    same(stopped["__interrupt__"][0]["value"], {"question": "May I dance?"})
    same((await client.threads.get(on))["status"], "interrupted")
    ended = await client.runs.wait(on, "interrupts", command={"resume": "yes"})
    same(ended["answer"], "dance: yes")


@feature("`interrupt_before`, then a run without input")
async def _() -> None:
    on = await thread()
    await client.runs.wait(on, "echo", input=HELLO, interrupt_before=["answer"])
    same((await client.threads.get_state(on))["next"], ["answer"])
    same((await client.runs.wait(on, "echo", input=None))["output"], "hello Ada")


@feature("`get_state`, `update_state`, `get_history`, a run from a checkpoint")
async def _() -> None:
    on = await thread()
    await client.runs.wait(on, "echo", input=HELLO)
    same((await client.threads.get_state(on))["values"]["steps"], ["prepare", "answer"])
    await client.threads.update_state(on, {"input": "Bea"}, as_node="prepare")
    same((await client.runs.wait(on, "echo", input=None))["output"], "hello Bea")
    history = await client.threads.get_history(on, limit=100)
    same(len(history), 6)
    before = next(each for each in reversed(history) if each["next"] == ["answer"])
    again = await client.runs.wait(on, "echo", input=None, checkpoint=before["checkpoint"])
    same(again["output"], "hello Ada")


@feature("`store`: put, get, search, namespaces, delete")
async def _() -> None:
    await client.store.put_item(["users", "ada"], "likes", {"tea": True})
    same((await client.store.get_item(["users", "ada"], "likes"))["value"], {"tea": True})
    found = await client.store.search_items(["users"], filter={"tea": True})
    same([each["key"] for each in found["items"]], ["likes"])
    same((await client.store.list_namespaces(prefix=["users"]))["namespaces"], [["users", "ada"]])
    await client.store.delete_item(["users", "ada"], "likes")
    same((await client.store.search_items(["users"]))["items"], [])


@feature("`crons`: create, on a thread, update, search, count, delete")
async def _() -> None:
    on = await thread()
    one = (await client.crons.create("echo", schedule="0 3 1 1 *", input=HELLO))["cron_id"]
    other = (await client.crons.create_for_thread(on, "echo", schedule="0 4 1 1 *", input=HELLO))["cron_id"]
    same({each["cron_id"] for each in await client.crons.search(limit=10)}, {one, other})
    await client.crons.update(one, enabled=False)
    same(await client.crons.count(), 2)
    for each in (one, other):
        await client.crons.delete(each)
    same(await client.crons.search(limit=10), [])


@feature("the synchronous client: threads, `runs.wait`, `runs.stream`, state, store")
async def _() -> None:
    def use() -> None:
        on = sync.threads.create()["thread_id"]
        same(sync.runs.wait(on, "echo", input=HELLO)["output"], "hello Ada")
        events = [part.event for part in sync.runs.stream(on, "echo", input=HELLO, stream_mode="updates")]
        same(events, ["metadata", "updates", "updates"])
        same(len(sync.threads.get_history(on, limit=100)), 8)
        sync.store.put_item(["sync"], "key", {"a": 1})
        same(sync.store.get_item(["sync"], "key")["value"], {"a": 1})
        sync.threads.delete(on)

    await asyncio.to_thread(use)


@feature("`RemoteGraph`: `ainvoke`, `invoke`, `astream`, an interrupt and `Command`, state, history, drawing")
async def _() -> None:
    remote = RemoteGraph("echo", url=URL)
    same((await remote.ainvoke(HELLO))["output"], "hello Ada")
    same((await asyncio.to_thread(remote.invoke, HELLO))["output"], "hello Ada")
    seen = [part async for part in RemoteGraph("outer", url=URL).astream({"word": "oh"}, stream_mode="updates")]
    same(seen, [{"inside": {"word": "OH"}}])
    on = {"configurable": {"thread_id": await thread()}}
    asking = RemoteGraph("interrupts", url=URL)
    await asking.ainvoke({"request": "dance"}, on)
    state = await asking.aget_state(on)
    same([state.next, state.tasks[0].interrupts[0].value], [("ask",), {"question": "May I dance?"}])
    same((await asking.ainvoke(Command(resume="yes"), on))["answer"], "dance: yes")
    await asking.aupdate_state(on, {"answer": "changed"}, as_node="ask")
    same((await asking.aget_state(on)).values["answer"], "changed")
    same(len([each async for each in asking.aget_state_history(on)]) >= 4, True)
    same(sorted((await asking.aget_graph()).nodes), ["__end__", "__start__", "ask", "think"])


async def main() -> None:
    results: list[tuple[str, str | None]] = []
    for name, use in features:
        try:
            await asyncio.wait_for(use(), 120)
            results.append((name, None))
        except Exception as error:  # Whatever it is, the others are tried.
            results.append((name, f"{type(error).__name__}: {error}"))
            traceback.print_exc()
    print(json.dumps(results))


asyncio.run(main())
