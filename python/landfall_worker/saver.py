"""Checkpoints in the server's database: serialised here by the agent's own serialiser, stored there unread."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import AsyncIterator, Coroutine, Iterator, Sequence
from typing import Any, TypeVar, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from .connection import Answer, Asked
from .json_values import plain
from .types_in_checkpoints import MissingType, missing_type

#: Who writes: what nobody can read later is told with it.
_WRITER = {"revision_id": os.environ["LANDFALL_REVISION_ID"]} if os.environ.get("LANDFALL_REVISION_ID") else {}
#: So many writes are told until one is waited for: the server may be slow.
_MOST_TOLD = 64
#: So many bytes of a write count as one more.
_BYTES_OF_ONE = 64 * 1024
#: What the server has to know of a configuration.
_PLACE_OF_STATE = ("thread_id", "checkpoint_ns", "checkpoint_id")
_PLACE = (*_PLACE_OF_STATE, "run_id", "graph_id", "assistant_id")


def serializer() -> JsonPlusSerializer:
    """What writes an agent's values: those that its format does not have are pickled."""
    return JsonPlusSerializer(pickle_fallback=True)


class UnreadableState(Exception):
    """A stored value has a type that this revision does not have."""

    landfall_code = "unreadable-state"

    def __init__(self, channel: str, missing: MissingType, metadata: dict[str, Any]) -> None:
        revision = metadata.get("revision_id")
        by = f" by revision {revision}" if revision else ""
        super().__init__(
            f"Channel {channel!r} of the thread holds a value of type {missing.name}, written{by}, which can't be "
            f"imported here: {missing.why}. Bring the type back under that name, or begin another thread."
        )


class BridgeSaver(BaseCheckpointSaver[float]):
    """Checkpoints for one request of the server, which finds by its number where they belong."""

    def __init__(self, asked: Asked, serde: Any = None, *, waits: bool = True) -> None:
        """Serves one request.

        Args:
            asked: the request.
            serde: writes and reads values; the agent's own serialiser by default.
            waits: whether the engine goes on only once the server has a write. The server carries writes out in their
                order, and ends no request before them.
        """
        super().__init__(serde=serde or serializer())
        self._asked = asked
        self._waits = waits
        self._told = 0
        #: The state that the request begins at, until it is read.
        self._begins: dict[str, Any] | None = asked.args.get("state")

    def get_next_version(self, current: float | None, channel: None = None) -> float:
        """A version that no other branch of the thread has: a fork may write the same step again."""
        return float(int(current or 0) + 1) + random.random()

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        place = _place(config)
        begins, self._begins = self._begins, None
        if begins is not None and _is_same(begins["place"], place):
            answer = Answer(begins["value"], self._asked.attachments)
        else:
            answer = await self._ask("checkpoint.get", {"place": place})
        return None if answer.value is None else self._tuple(answer.value, answer.attachments)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        args = {"place": _place(config), "filter": filter, "before": _place(before) if before else None, "limit": limit}
        answer = await self._ask("checkpoint.list", args)
        taken = 0
        for each in answer.value:
            count = len(each["values"]) + len(each["writes"])
            yield self._tuple(each, answer.attachments[taken : taken + count])
            taken += count

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        values = checkpoint["channel_values"]
        dumped = {key: self.serde.dumps_typed(values[key]) for key in new_versions if key in values}
        shown = {key: value for key, value in checkpoint.items() if key != "channel_values"}
        args = {
            "place": _place(config),
            "checkpoint": plain(shown),
            "metadata": plain({**get_checkpoint_metadata(config, metadata), **_WRITER}),
            "values": [[key, kind] for key, (kind, _) in dumped.items()],
            "versions": dict(new_versions),
        }
        await self._write("checkpoint.put", args, [data for _, data in dumped.values()])
        place = config["configurable"]
        reached = {"thread_id": place["thread_id"], "checkpoint_ns": place.get("checkpoint_ns", "")}
        return {"configurable": {**reached, "checkpoint_id": checkpoint["id"]}}

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        dumped = [(channel, *self.serde.dumps_typed(value)) for channel, value in writes]
        args = {
            "place": _place(config),
            "task_id": task_id,
            "task_path": task_path,
            "writes": [[channel, kind] for channel, kind, _ in dumped],
        }
        await self._write("checkpoint.writes", args, [data for _, _, data in dumped])

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return _wait(self.aget_tuple(config))

    def list(self, config: RunnableConfig | None, **options: Any) -> Iterator[CheckpointTuple]:
        async def all_of_them() -> list[CheckpointTuple]:
            return [each async for each in self.alist(config, **options)]

        return iter(_wait(all_of_them()))

    def put(self, *args: Any) -> RunnableConfig:
        return _wait(self.aput(*args))

    def put_writes(self, *args: Any, **options: Any) -> None:
        return _wait(self.aput_writes(*args, **options))

    async def _write(self, op: str, args: dict[str, Any], attachments: Sequence[bytes]) -> None:
        self._told += 1 + sum(len(each) for each in attachments) // _BYTES_OF_ONE
        if self._waits or self._told >= _MOST_TOLD:
            self._told = 0
            await self._ask(op, args, attachments)
        else:
            self._asked.tell(op, args, attachments)

    async def _ask(self, op: str, args: dict[str, Any], attachments: Sequence[bytes] = ()) -> Answer:
        return await asyncio.wrap_future(self._asked.ask(op, args, attachments))

    def _tuple(self, shown: dict[str, Any], attachments: Sequence[bytes]) -> CheckpointTuple:
        metadata = shown["metadata"]
        kinds = shown["values"]
        data = iter(attachments)
        values = {channel: self._load(channel, kind, next(data), metadata) for channel, kind in kinds}
        writes = [
            (task, channel, self._load(channel, kind, next(data), metadata)) for task, channel, kind in shown["writes"]
        ]
        parent = shown.get("parent")
        return CheckpointTuple(
            config={"configurable": shown["config"]},
            checkpoint=cast(Checkpoint, {**shown["checkpoint"], "channel_values": values}),
            metadata=cast(CheckpointMetadata, metadata),
            parent_config={"configurable": parent} if parent else None,
            pending_writes=writes,
        )

    def _load(self, channel: str, kind: str, data: bytes, metadata: dict[str, Any]) -> Any:
        missing = missing_type(kind, data)
        revision = metadata.get("revision_id")
        wrote_it_itself = revision is not None and revision == _WRITER.get("revision_id")
        if missing and not (missing.has_module and wrote_it_itself):
            raise UnreadableState(channel, missing, metadata)
        return self.serde.loads_typed((kind, data))


def _place(config: RunnableConfig | None) -> dict[str, Any]:
    given = (config or {}).get("configurable", {})
    return {key: given[key] for key in _PLACE if given.get(key) is not None}


def _is_same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two places have the same state."""
    return all((one.get(key) or None) == (other.get(key) or None) for key in _PLACE_OF_STATE)


_T = TypeVar("_T")


def _wait(coroutine: Coroutine[Any, Any, _T]) -> _T:
    """Answers a call of a thread that has no loop."""
    return asyncio.run(coroutine)
