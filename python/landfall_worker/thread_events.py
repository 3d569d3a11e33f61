"""Brings the engine's events of version 3 into the form that the server has: that of the engine in JavaScript."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

#: Where the engine puts the questions of a run that has stopped.
INTERRUPTS = "__interrupt__"


class ThreadEvents:
    """The events of one run."""

    def __init__(self) -> None:
        #: The ids of unfinished messages, by the ids of their models' runs: later pieces do not repeat them.
        self._begun: dict[str | None, Any] = {}
        self._asked = False

    @property
    def has_asked(self) -> bool:
        """Whether an event of the run has shown a question."""
        return self._asked

    def shown(self, event: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """The events that clients get for one of the engine's: several, or none where it only repeats others."""
        params = event["params"]
        for change in self._changes(event["method"], params["data"], params):
            yield {**event, "params": {**{key: each for key, each in params.items() if key != "interrupts"}, **change}}

    def _changes(self, method: str, data: Any, params: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
        if method == "values" and params.get("interrupts"):
            self._asked = True
            questions = {INTERRUPTS: params["interrupts"]}
            return ({"data": {**data, **questions}},) if isinstance(data, Mapping) else ({}, {"data": questions})
        if method == "updates" and isinstance(data, Mapping):
            # Clients in Python look for the name of the node within the update as well.
            return [
                {"data": {"node": node, "values": each if node == INTERRUPTS else {node: each}}}
                for node, each in data.items()
            ]
        if method == "lifecycle" and isinstance(data, Mapping) and "namespace" in data:
            own = {key: each for key, each in data.items() if key != "namespace"}
            return ({"namespace": data["namespace"], "data": own},)
        if method == "messages" and isinstance(data, (tuple, list)) and len(data) == 2:
            return self._message(*data)
        return ({},)

    def _message(self, message: Any, metadata: Any) -> Iterable[dict[str, Any]]:
        # `values` and the events of tools have complete messages already.
        if not isinstance(message, Mapping) or "event" not in message:
            return ()
        known = metadata if isinstance(metadata, Mapping) else {}
        node = known.get("langgraph_node")
        return ({**({} if node is None else {"node": node}), "data": self._piece(message, node, known.get("run_id"))},)

    def _piece(self, event: Mapping[str, Any], node: Any, run_id: Any) -> dict[str, Any]:
        kind, run = event["event"], None if run_id is None else str(run_id)
        more: dict[str, Any] = {} if run is None else {"run_id": run}
        if kind == "message-start":
            self._begun[run] = event.get("id", event.get("message_id"))
            more["metadata"] = {**(event.get("metadata") or {}), **({} if node is None else {"langgraph_node": node})}
        message_id = self._begun.get(run)
        if kind in ("message-finish", "error"):
            self._begun.pop(run, None)
        return {**({} if message_id is None else {"id": message_id}), **event, **more}
