"""Runs a graph, and sends to the server what it streams."""

from __future__ import annotations

import inspect
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast
from uuid import UUID

from langchain_core.messages import BaseMessage, BaseMessageChunk, message_chunk_to_message
from langchain_core.runnables import RunnableConfig
from langgraph.types import Command, Send

from .auth import User
from .connection import Asked
from .json_values import to_json
from .steps import with_steps
from .thread_events import INTERRUPTS, ThreadEvents

#: The server's names of modes that the engine has as one: whole messages as they grow, and the pieces themselves.
_GROWING, _PIECES = "messages", "messages-tuple"
#: Where a run has its user.
USER = "langgraph_auth_user"
#: Options of a run that have the engine's names; its defaults apply to those that the server leaves out.
_OPTIONS = ("context", "interrupt_before", "interrupt_after", "durability")


async def send_run(graph: Any, asked: Asked) -> None:
    """Runs a graph, and sends each chunk of the requested modes."""
    config = with_steps(config_of(asked), graph, asked)
    chunks = graph.astream(input_of(asked), config, stream_mode=_engine_modes(asked), **_options(asked))
    sender = _Sender(asked, _output_of(graph))
    async for chunk in chunks:
        await sender.take(*_place_of(chunk, asked))
    await sender.end()


def _output_of(graph: Any) -> frozenset[str] | None:
    """The channels of a graph's output schema; None where that hides none."""
    shown, all_of_them = graph.output_channels, graph.stream_channels_asis
    if isinstance(shown, str) or isinstance(all_of_them, str) or set(shown) >= set(all_of_them):
        return None
    return frozenset(shown)


async def send_events(graph: Any, asked: Asked) -> None:
    """Runs a graph, and sends each chunk of the requested modes and each event of everything inside."""
    config = with_steps(config_of(asked), graph, asked)
    sender = _Sender(asked)
    events = graph.astream_events(
        input_of(asked), config, version="v2", stream_mode=_engine_modes(asked), **_options(asked)
    )
    async for event in events:
        if event["event"] == "on_chain_stream" and event["run_id"] == str(config.get("run_id")):
            await sender.take(*_place_of(event["data"]["chunk"], asked))
        elif "langsmith:hidden" not in (event.get("tags") or ()):
            await asked.event({"mode": "events", "namespace": []}, [to_json(event)])
    await sender.end()


async def send_thread_events(graph: Any, asked: Asked) -> None:
    """Runs a graph, and sends the events of the thread-stream protocol."""
    options = {key: each for key, each in _options(asked).items() if key != "subgraphs"}
    config = with_steps(config_of(asked), graph, asked)
    stream = graph.astream_events(input_of(asked), config, version="v3", **options)
    if inspect.isawaitable(stream):  # Older engines say that they have no such version once they are read.
        stream = await stream
    events = ThreadEvents()
    async for event in stream:
        for each in events.shown(event):
            await asked.event(None, [to_json(each)])
    if not events.has_asked and await _has_stopped(graph, config, asked):
        await asked.event(None, [to_json(_stopped())])


async def _has_stopped(graph: Any, config: RunnableConfig, asked: Asked) -> bool:
    """Whether a run stands before or after a node at which it was to stop: no event says so."""
    stops = [graph.interrupt_before_nodes, graph.interrupt_after_nodes]
    if not any([*stops, *(asked.args.get(name) for name in ("interrupt_before", "interrupt_after"))]):
        return False
    # Where the run has begun says nothing of where it stands.
    begun_at = ("checkpoint_id", "checkpoint_map", "checkpoint_ns")
    place = {name: each for name, each in config["configurable"].items() if name not in begun_at}
    return bool((await graph.aget_state({"configurable": place})).next)


def _stopped() -> dict[str, Any]:
    """The event of a stop without a question."""
    params = {"namespace": [], "timestamp": int(time.time() * 1000), "data": {INTERRUPTS: []}}
    return {"type": "event", "method": "values", "params": params}


def _engine_modes(asked: Asked) -> list[str]:
    modes = [mode if mode != _PIECES else _GROWING for mode in asked.args["modes"]]
    # Some versions put interrupts beside one of these modes only.
    return list(dict.fromkeys(["values", "updates", *modes]))


def _place_of(chunk: Any, asked: Asked) -> tuple[Sequence[str], str, Any]:
    namespace, mode, payload = chunk if asked.args["subgraphs"] else ((), *chunk)
    return namespace, mode, payload


@dataclass
class _Sender:
    """Sends the chunks of one run."""

    asked: Asked
    #: The channels of the graph's output schema, which clients see; None for all.
    output: frozenset[str] | None = None
    #: Messages that arrive in pieces, by their ids.
    growing: dict[str | None, BaseMessageChunk] = field(default_factory=dict)
    #: Questions that no state has shown yet, by their ids; None for a stop without a question.
    unshown: dict[Any, Any] = field(default_factory=dict)

    async def take(self, namespace: Sequence[str], mode: str, payload: Any) -> None:
        wanted = self.asked.args["modes"]
        if mode == "messages":
            await self._message(namespace, *payload)
            return
        if not namespace:
            self._note(mode, payload)
            payload = await self._shown(mode, payload)
        if mode in wanted or mode == "values":
            await self._send(namespace, mode, [to_json(without_callbacks(mode, payload))])

    async def end(self) -> None:
        """Shows the questions that no state has shown: the server reads them there."""
        if self.unshown:
            questions = [each for each in self.unshown.values() if each is not None]
            await self._send((), "values", [to_json({INTERRUPTS: questions})])

    async def _shown(self, mode: str, payload: Any) -> Any:
        """What clients see of a state or of updates; the server alone gets a state that is more than that."""
        if self.output is None or mode not in ("values", "updates") or not isinstance(payload, Mapping):
            return payload
        if mode == "updates":
            return {node: each if node == INTERRUPTS else self._of_output(each) for node, each in payload.items()}
        await self._send((), "state", [to_json({key: each for key, each in payload.items() if key != INTERRUPTS})])
        shown = self._of_output(payload) or {}
        return {**shown, INTERRUPTS: payload[INTERRUPTS]} if INTERRUPTS in payload else shown

    def _of_output(self, values: Any) -> Any:
        if isinstance(values, list):
            return [self._of_output(each) for each in values]
        if self.output is None or not isinstance(values, Mapping):
            return values
        return {key: each for key, each in values.items() if key in self.output} or None

    def _note(self, mode: str, payload: Any) -> None:
        if mode not in ("values", "updates") or not isinstance(payload, Mapping) or INTERRUPTS not in payload:
            return
        questions = payload[INTERRUPTS] or (None,)
        known = {getattr(each, "id", None): each for each in questions}
        if mode == "updates":
            self.unshown.update(known)
        else:
            self.unshown = {key: each for key, each in self.unshown.items() if key not in known}

    async def _message(self, namespace: Sequence[str], message: Any, metadata: Any) -> None:
        attachments = [to_json([message, metadata])]
        if isinstance(message, BaseMessageChunk) and _GROWING in self.asked.args["modes"]:
            before = self.growing.get(message.id)
            grown = message if before is None else before + message
            self.growing[message.id] = grown
            attachments.append(to_json(message_chunk_to_message(grown)))
        if isinstance(message, BaseMessage):
            await self._send(namespace, "messages", attachments)

    async def _send(self, namespace: Sequence[str], mode: str, attachments: Sequence[bytes]) -> None:
        await self.asked.event({"mode": mode, "namespace": list(namespace)}, attachments)


def without_callbacks(mode: str, payload: Any) -> Any:
    """A payload without the handlers of its run, which a checkpoint's configuration has."""
    if mode == "debug" and isinstance(payload, Mapping) and payload.get("type") == "checkpoint":
        return {**payload, "payload": without_callbacks("checkpoints", payload["payload"])}
    if mode != "checkpoints" or not isinstance(payload, Mapping):
        return payload
    configs = {
        key: {name: each for name, each in config.items() if name != "callbacks"}
        for key, config in payload.items()
        if key in ("config", "parent_config") and isinstance(config, Mapping)
    }
    return {**payload, **configs}


def _options(asked: Asked) -> dict[str, Any]:
    given = {key: asked.args[key] for key in _OPTIONS if asked.args.get(key) is not None}
    return {**given, "subgraphs": asked.args["subgraphs"]}


def input_of(asked: Asked) -> Any:
    """The input of a run, or its command."""
    command = asked.args.get("command")
    return asked.args.get("input") if command is None else command_of(command)


def config_of(asked: Asked) -> RunnableConfig:
    """The engine's configuration of a request."""
    given: dict[str, Any] = asked.args.get("config") or {}
    run = {"run_id": UUID(given["run_id"])} if "run_id" in given else {}
    configurable = dict(given.get("configurable") or {})
    user = configurable.get(USER)
    if isinstance(user, Mapping):
        configurable[USER] = User(user)
    return cast(RunnableConfig, {**given, **run, "configurable": configurable})


def command_of(given: Mapping[str, Any]) -> Command[Any]:
    """The engine's form of a command of the API."""

    def target(each: Any) -> Any:
        return Send(each["node"], each.get("input")) if isinstance(each, dict) else each

    goto = given.get("goto")
    targets = [target(each) for each in goto] if isinstance(goto, list) else target(goto)
    resume = {"resume": given["resume"]} if "resume" in given else {}
    update = given.get("update")
    if isinstance(update, list) and all(isinstance(each, list) and len(each) == 2 for each in update):
        # Pairs of a channel and its value, which the engine knows by their type.
        update = [tuple(each) for each in update]
    return Command(update=update, **resume, goto=targets or ())
