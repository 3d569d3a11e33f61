"""The executions of nodes, which the server records for its tracing project."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs
from langgraph.errors import GraphBubbleUp

from .connection import Asked, described
from .json_values import to_json

#: More of a value than the server keeps, so that it sees what is left out.
_MOST_CHARACTERS = 64_000
#: The engine's tag of the execution of a node, without the number of its step.
_STEP = "graph:step:"
_HIDDEN = "langsmith:hidden"


def with_steps(config: RunnableConfig, graph: Any, asked: Asked) -> RunnableConfig:
    """The configuration of a run, which reports its steps where the server records them."""
    if not asked.args.get("steps"):
        return config
    # The engine takes these instead of the graph's own ones.
    own = cast(RunnableConfig, {"callbacks": (getattr(graph, "config", None) or {}).get("callbacks")})
    both = merge_configs(own, cast(RunnableConfig, {"callbacks": [StepReporter(asked)]}))
    return cast(RunnableConfig, {**config, "callbacks": both["callbacks"]})


class StepReporter(BaseCallbackHandler):
    """Tells the server of each execution of a node, also in subgraphs, from any thread."""

    # Nodes may change their values afterwards.
    run_inline = True
    ignore_llm = True
    ignore_chat_model = True
    ignore_agent = True
    ignore_retriever = True
    ignore_retry = True
    ignore_custom_event = True

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._open: set[UUID] = set()

    def on_chain_start(
        self,
        serialized: Any,
        inputs: Any,
        *,
        run_id: UUID,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **_: Any,
    ) -> None:
        """A node starts, or something else that is not reported."""
        known = metadata or {}
        node, namespace = known.get("langgraph_node"), known.get("langgraph_checkpoint_ns")
        labels = tags or []
        if node is None or _HIDDEN in labels or not any(each.startswith(_STEP) for each in labels):
            return
        self._open.add(run_id)
        self._tell("start", run_id, {"tags": labels, "node": node, "namespace": namespace}, inputs)

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **_: Any) -> None:
        """A node has ended."""
        if self._ends(run_id):
            self._tell("end", run_id, {}, outputs)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        """A node has failed, or asks a question, or sends a command to an outer graph."""
        if self._ends(run_id):
            failed = None if isinstance(error, GraphBubbleUp) else described(error)
            self._tell("error", run_id, {"error": failed}, None)

    def _ends(self, run_id: UUID) -> bool:
        is_open = run_id in self._open
        self._open.discard(run_id)
        return is_open

    def _tell(self, what: str, run_id: UUID, args: Mapping[str, Any], value: Any) -> None:
        if not self._asked.is_over:
            self._asked.ask(f"step.{what}", {"step": str(run_id), **args}, [_json_of(value)])


def _json_of(value: Any) -> bytes:
    """A value, or as much of it as the server keeps: a long conversation costs no more than a short one."""
    try:
        return to_json(_Shortener().shorten(value))
    except Exception:  # Values of the agent raise whatever they like; a step without one is a step.
        return b"null"


class _Shortener:
    def __init__(self) -> None:
        self._left = _MOST_CHARACTERS

    def shorten(self, value: Any) -> Any:
        if isinstance(value, str):
            shown = value[: max(0, self._left)]
            self._left -= len(value)
            return shown
        if type(value) is dict:
            return {key: self.shorten(each) for key, each in value.items() if self._goes_on()}
        if isinstance(value, (list, tuple)) and not hasattr(value, "_asdict"):
            return [self.shorten(each) for each in value if self._goes_on()]
        if isinstance(value, BaseMessage):
            return self.shorten(value.model_dump())
        return value

    def _goes_on(self) -> bool:
        self._left -= 1
        return self._left >= 0
