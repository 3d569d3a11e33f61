"""What the agent's code logs, as entries of the server's log."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from langgraph.config import get_config

#: The longest text of an entry.
_MOST_CHARACTERS = 16_000
#: What an entry says of its place, and where the engine's metadata have it.
_PLACES = (("run_id", "run_id"), ("thread_id", "thread_id"), ("node", "langgraph_node"))


class ServerLog(logging.Handler):
    """Hands each entry over, with the run and the node that it belongs to."""

    def __init__(self, send: Callable[[dict[str, Any]], None]) -> None:
        super().__init__(logging.INFO)
        self._send = send
        self.setFormatter(logging.Formatter("%(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        """Sends an entry."""
        try:
            text = self.format(record)
            entry = {"level": _level(record.levelno), "logger": record.name, "message": _shortened(text)}
            self._send({**entry, **_place()})
        except Exception:  # A text of the agent may fail to be made; its code goes on.
            self.handleError(record)


def take_logs(send: Callable[[dict[str, Any]], None]) -> None:
    """Takes what is logged from now on, unless the agent's code sets handlers of its own."""
    root = logging.getLogger()
    root.addHandler(ServerLog(send))
    root.setLevel(logging.INFO)
    # Each of their requests is an entry.
    for chatty in ("httpx", "httpcore"):
        logging.getLogger(chatty).setLevel(logging.WARNING)


def _shortened(text: str) -> str:
    """Without the middle of a long text: a traceback ends with the error."""
    if len(text) <= _MOST_CHARACTERS:
        return text
    half = _MOST_CHARACTERS // 2
    return f"{text[:half]} [...]\n{text[-half:]}"


def _level(number: int) -> str:
    if number >= logging.ERROR:
        return "error"
    return "warn" if number >= logging.WARNING else "info"


def _place() -> dict[str, Any]:
    try:
        config = get_config()
    except RuntimeError:
        return {}
    metadata = config.get("metadata") or {}
    found = {name: metadata.get(key) for name, key in _PLACES}
    # A caller's metadata may have the same names, for whatever it likes.
    return {name: each for name, each in found.items() if isinstance(each, str)}
