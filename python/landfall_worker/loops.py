"""The loops on which requests are answered, and a watch over the one that all runs share."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import FrameType
from typing import Any

from .operations import APP, RUNS

#: Seconds between two signs of life.
BEAT_SECONDS = 1.0
#: Seconds after which a loop that does not get on counts as blocked.
BLOCKED_SECONDS = 2.0
#: The most frames that are told of a loop that is blocked.
_MOST_FRAMES = 30


class Loops:
    """A loop for the agent's nodes, and another one, in a thread of its own, for all that must not wait for them."""

    def __init__(self, isolated: bool) -> None:
        """Makes the loops.

        Args:
            isolated: whether each run gets a loop of its own, in a thread of its own.
        """
        self.runs = asyncio.new_event_loop()
        self._reads = asyncio.new_event_loop()
        self._app: asyncio.AbstractEventLoop | None = None
        self._isolated = isolated

    def run(self) -> None:
        """Runs the loops, that of the nodes in this thread."""
        threading.Thread(target=_run, args=(self._reads,), daemon=True, name="landfall-reads").start()
        _run(self.runs)

    def of(self, op: str) -> asyncio.AbstractEventLoop:
        """The loop for an operation; the reader of the connection calls it."""
        if op in APP:
            self._app = self._app or _started("landfall-app")
            return self._app
        if op not in RUNS:
            return self._reads
        if not self._isolated:
            return self.runs
        return _started("landfall-run")

    def done(self, loop: asyncio.AbstractEventLoop) -> None:
        """Ends a loop that only one request had; called on it."""
        if loop not in (self.runs, self._reads, self._app):
            loop.create_task(loop.shutdown_asyncgens()).add_done_callback(lambda _: loop.stop())


def _started(name: str) -> asyncio.AbstractEventLoop:
    """A loop in a thread of its own."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=_run, args=(loop,), daemon=True, name=name).start()
    return loop


def _run(loop: asyncio.AbstractEventLoop) -> None:
    """Runs a loop until it is stopped: code of the agent that exits ends its own request only."""
    is_stopped = False
    while not is_stopped:
        with suppress(SystemExit, KeyboardInterrupt):
            loop.run_forever()
            is_stopped = True
    loop.close()


@dataclass(frozen=True)
class Blocked:
    """What keeps a loop from getting on."""

    seconds: float
    node: str | None
    place: str
    stack: str


def keep_beating(
    loop: asyncio.AbstractEventLoop,
    thread: int,
    beat: Callable[[str], None],
    report: Callable[[Blocked], None],
) -> None:
    """Sends signs of life for ever, one of the process and one of a loop, and reports a loop that is blocked.

    Args:
        loop: the watched one.
        thread: the identifier of its thread.
        beat: sends a sign of life of `process` or `loop`.
        report: called once for each time that the loop is blocked.
    """
    got_on = threading.Event()
    got_on.set()
    asked_at = time.monotonic()
    is_reported = False

    def on_loop() -> None:
        got_on.set()
        beat("loop")

    while True:
        beat("process")
        waited = time.monotonic() - asked_at
        if got_on.is_set():
            got_on.clear()
            asked_at, is_reported = time.monotonic(), False
            loop.call_soon_threadsafe(on_loop)
        elif waited >= BLOCKED_SECONDS and not is_reported:
            is_reported = True
            report(what_blocks(thread, waited))
        time.sleep(BEAT_SECONDS)


def what_blocks(thread: int, seconds: float) -> Blocked:
    """What a thread does at this moment."""
    frame = sys._current_frames().get(thread)
    stack = traceback.extract_stack(frame, _MOST_FRAMES) if frame else []
    last = stack[-1] if stack else None
    place = f"{last.filename}:{last.lineno} in {last.name}" if last else "an unknown place"
    return Blocked(round(seconds, 1), _node_of(frame), place, "".join(traceback.format_list(stack)))


def _node_of(frame: FrameType | None) -> str | None:
    """The node that a frame belongs to: the engine has its configuration in one of the frames around."""
    while frame is not None:
        metadata = _member(_member(frame.f_locals, "config"), "metadata")
        node = _member(metadata, "langgraph_node")
        if isinstance(node, str):
            return node
        frame = frame.f_back
    return None


def _member(value: Any, name: str) -> Any:
    # Objects of the agent do whatever they like.
    with suppress(Exception):
        return value.get(name) if isinstance(value, Mapping) else None
    return None
