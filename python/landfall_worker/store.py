"""The store of the deployment, whose items are in the server's database."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from concurrent.futures import Future
from contextvars import ContextVar
from datetime import datetime
from typing import Any, cast

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
)

from .connection import Answer, Asked
from .json_values import plain

_request: ContextVar[Asked | None] = ContextVar("landfall_store_request", default=None)


class BridgeStore(BaseStore):
    """The items that a request of the server may read and write, which finds by its number whose they are.

    Code of the agent may keep a store for later runs, as it may where a process has one for all: it acts for the
    request in whose course it is used.
    """

    supports_ttl = True
    #: Whether reading keeps an item for longer is the server's to decide, where a call does not say it.
    ttl_config = cast(TTLConfig, {"refresh_on_read": None})

    def __init__(self, asked: Asked) -> None:
        self._asked = asked

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carries out several operations, one after the other."""
        asked = list(ops)
        return _results(asked, self._ask(asked).result())

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Carries out several operations, one after the other."""
        asked = list(ops)
        return _results(asked, await asyncio.wrap_future(self._ask(asked)))

    def _ask(self, ops: list[Op]) -> Future[Answer]:
        current = _request.get()
        asked = self._asked if current is None or current.is_over else current
        return asked.ask("store.batch", {"operations": [_shown(each) for each in ops]})


def enter_store(asked: Asked) -> BridgeStore:
    """The store of a request: also of what this task, and those that it starts, ask of another one's."""
    _request.set(asked)
    return BridgeStore(asked)


def _shown(op: Op) -> dict[str, Any]:
    """An operation in the server's names."""
    if isinstance(op, GetOp):
        return {"kind": "get", "namespace": op.namespace, "key": op.key}
    if isinstance(op, PutOp):
        value = None if op.value is None else plain(op.value)
        place = {"kind": "put", "namespace": op.namespace, "key": op.key}
        return {**place, "value": value, "index": op.index, "ttl": op.ttl}
    if isinstance(op, SearchOp):
        page = {"limit": op.limit, "offset": op.offset, "refresh_ttl": op.refresh_ttl}
        return {"kind": "search", "prefix": op.namespace_prefix, "filter": op.filter, "query": op.query, **page}
    if isinstance(op, ListNamespacesOp):
        conditions = [{"type": each.match_type, "path": each.path} for each in op.match_conditions or ()]
        return {
            "kind": "namespaces",
            "conditions": conditions,
            "max_depth": op.max_depth,
            "limit": op.limit,
            "offset": op.offset,
        }
    raise TypeError(f"The store of a deployment has no operation {type(op).__name__}.")


def _results(ops: list[Op], answer: Answer) -> list[Result]:
    return [_result(op, each) for op, each in zip(ops, answer.value, strict=True)]


def _result(op: Op, found: Any) -> Result:
    if isinstance(op, GetOp):
        return None if found is None else Item(**_item(found))
    if isinstance(op, SearchOp):
        return [SearchItem(**_item(each), score=each.get("score")) for each in found]
    if isinstance(op, ListNamespacesOp):
        return [tuple(each) for each in found]
    return None


def _item(found: dict[str, Any]) -> dict[str, Any]:
    times = {key: datetime.fromisoformat(found[key].replace("Z", "+00:00")) for key in ("created_at", "updated_at")}
    return {"namespace": tuple(found["namespace"]), "key": found["key"], "value": found["value"], **times}
