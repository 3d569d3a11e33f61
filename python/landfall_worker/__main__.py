"""Starts the worker: `python landfall_worker SOCKET`."""

from __future__ import annotations

import os
import platform
import re
import resource
import signal
import sys
import threading
import traceback
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

if not __package__:
    # Started by its folder: its modules are found beside it, and nothing of ours gets into the agent's environment.
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    __package__ = "landfall_worker"

from landfall_worker.connection import Connection
from landfall_worker.frames import Frame

#: Counts up with each change that the other side has to know of.
PROTOCOL = 2
#: The oldest langgraph whose interfaces this worker uses.
OLDEST_ENGINE = (0, 6)


def main(path: str) -> None:
    """Answers the server until it ends the connection."""
    engine = _engine()
    hello = {"kind": "hello", "protocol": PROTOCOL, "python": platform.python_version(), "engine": engine}
    if engine is None or _release(engine) < OLDEST_ENGINE:
        _only_say(path, hello)
    from landfall_worker.in_process_client import provide_client
    from landfall_worker.logs import take_logs
    from landfall_worker.loops import Blocked, Loops, keep_beating
    from landfall_worker.operations import Operations

    # Terminals and services send them to the server as well, which decides when this ends: runs go on meanwhile.
    # Programs that the agent starts get them.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    loops = Loops(isolated=os.environ.get("BG_JOB_ISOLATED_LOOPS", "").lower() == "true")
    connection = Connection(path, Operations().answer, loops)
    provide_client(connection.outside)
    connection.send(Frame(hello))
    take_logs(lambda entry: connection.send(Frame({"kind": "log", **entry})))

    def read() -> None:
        try:
            connection.read()
        except Exception:
            traceback.print_exc()
            os._exit(1)
        # Nobody waits for what the agent's code still does.
        os._exit(0)

    def beat(of: str) -> None:
        connection.send(Frame({"kind": "beat", "of": of, "memory": _memory()}))

    def report(blocked: Blocked) -> None:
        connection.send(Frame({"kind": "blocked", **asdict(blocked)}))

    thread = threading.get_ident()
    for work in (read, lambda: keep_beating(loops.runs, thread, beat, report)):
        threading.Thread(target=work, daemon=True, name="landfall").start()
    loops.run()


def _engine() -> str | None:
    try:
        return version("langgraph")
    except PackageNotFoundError:
        return None


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


def _memory() -> int:
    """The most memory (bytes) that this process had."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def _only_say(path: str, hello: dict[str, object]) -> None:
    """Says what is missing: the server ends a worker that can't answer."""
    from socket import AF_UNIX, SOCK_STREAM, socket

    from landfall_worker.frames import encode

    with socket(AF_UNIX, SOCK_STREAM) as connection:
        connection.connect(path)
        connection.sendall(encode(Frame(hello)))
        connection.recv(1)
    sys.exit(0)


main(sys.argv[1])
