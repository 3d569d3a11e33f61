"""The connection to the agent server: requests in both directions, as many at once as either side likes."""

from __future__ import annotations

import asyncio
import itertools
import socket
import threading
import traceback
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from .frames import LENGTH_BYTES, Frame, ProtocolError, decode, encode, length_of

#: Events of a stream that may be sent before the server asks for more.
FIRST_CREDIT = 256
#: In place of the number of a request: the server counts its own from 1.
_NO_REQUEST = 0
#: The most bytes that are read at once.
_PIECE_BYTES = 256 * 1024


@dataclass(frozen=True)
class Answer:
    """A value with its attachments."""

    value: Any = None
    attachments: Sequence[bytes] = ()


class ServerError(Exception):
    """The server has answered with an error; `kind` is its type there."""

    landfall_code = "server-error"

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class ConnectionLost(Exception):
    """The server has ended the connection."""


class Asked:
    """One request of the server, while it is answered on its loop."""

    def __init__(
        self, connection: Connection, number: int, op: str, args: dict[str, Any], attachments: Sequence[bytes]
    ) -> None:
        self.number = number
        self.op = op
        self.args = args
        self.attachments = attachments
        #: Whether it is answered: nothing more may be asked for it.
        self.is_over = False
        self._connection = connection
        self._credit = FIRST_CREDIT
        self._granted = asyncio.Event()

    async def event(self, value: Any, attachments: Sequence[bytes] = ()) -> None:
        """Sends a part of the answer, once the server takes more of them."""
        while self._credit == 0:
            self._granted.clear()
            await self._granted.wait()
        self._credit -= 1
        self._connection.send(Frame({"kind": "event", "id": self.number, "value": value}, attachments))

    def ask(self, op: str, args: dict[str, Any], attachments: Sequence[bytes] = ()) -> Future[Answer]:
        """Asks the server for what this request needs, from any thread."""
        return self._connection.ask(self.number, op, args, attachments)

    def tell(self, op: str, args: dict[str, Any], attachments: Sequence[bytes] = ()) -> None:
        """Tells the server what it carries out without an answer: if that fails, so does this request."""
        self._connection.send(Frame({"kind": "tell", "of": self.number, "op": op, "args": args}, attachments))

    def grant(self, events: int) -> None:
        """The server takes so many more; called on the loop of the request."""
        self._credit += events
        self._granted.set()


Handler = Callable[[Asked], Awaitable[Answer]]


class LoopsOfRequests(Protocol):
    """The loops on which requests are answered."""

    def of(self, op: str) -> asyncio.AbstractEventLoop:
        """The loop for a request with this operation."""

    def done(self, loop: asyncio.AbstractEventLoop) -> None:
        """A request on this loop is answered; called on it."""


class Connection:
    """Reads in a thread of its own, so that nothing that the agent does keeps an answer of the server waiting."""

    def __init__(self, path: str, handler: Handler, loops: LoopsOfRequests) -> None:
        """Connects to the server.

        Args:
            path: the server's socket.
            handler: answers a request of the server; what it raises is the answer as well.
            loops: where requests are answered.
        """
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.connect(path)
        self._sending = threading.Lock()
        self._sender: int | None = None
        self._later: list[bytes] = []
        self._numbers = itertools.count(1)
        self._open: dict[int, Future[Answer]] = {}
        self._loops: dict[int, asyncio.AbstractEventLoop] = {}
        self._asked: dict[int, tuple[Asked, asyncio.Task[None]]] = {}
        self._handler = handler
        self._places = loops
        self._is_lost = False
        #: Asks the server for code that runs for no request of it.
        self.outside = Asked(self, _NO_REQUEST, "", {}, ())

    def send(self, frame: Frame) -> None:
        """Sends a frame, from any thread."""
        data = encode(frame)
        if self._sender == threading.get_ident():
            # The garbage collector may run while this thread sends, and what it ends may log.
            self._later.append(data)
            return
        with self._sending:
            self._sender = threading.get_ident()
            try:
                self._socket.sendall(data)
                while self._later:
                    self._socket.sendall(self._later.pop(0))
            finally:
                self._sender = None

    def ask(self, of: int, op: str, args: dict[str, Any], attachments: Sequence[bytes] = ()) -> Future[Answer]:
        """Asks the server, from any thread, while its request with the number `of` is answered."""
        number = next(self._numbers)
        answer: Future[Answer] = Future()
        self._open[number] = answer
        if self._is_lost:
            self._fail_open()
            return answer
        try:
            self.send(Frame({"kind": "ask", "id": number, "of": of, "op": op, "args": args}, attachments))
        except (OSError, ValueError) as error:
            self._open.pop(number, None)
            if not answer.done():
                answer.set_exception(error)
        return answer

    def read(self) -> None:
        """Takes frames until the server ends the connection."""
        try:
            for body in self._bodies():
                self._take(decode(body))
        except OSError:
            pass
        finally:
            self._is_lost = True
            self._fail_open()

    def close(self) -> None:
        """Ends the connection."""
        self._socket.close()

    def _fail_open(self) -> None:
        for number in list(self._open):
            answer = self._open.pop(number, None)
            if answer is not None:
                with suppress(InvalidStateError):
                    answer.set_exception(ConnectionLost("The agent server has ended the connection."))

    def _bodies(self) -> Iterator[bytes]:
        """What follows the length of each frame, until the end.

        Many frames are read at once, where they are there: after each read the thread waits for its turn.
        """
        space = memoryview(bytearray(_PIECE_BYTES))
        # Memory is taken for what arrives, not for what is announced.
        received = bytearray()
        while count := self._socket.recv_into(space):
            received += space[:count]
            start = 0
            while len(received) - start >= LENGTH_BYTES:
                begin = start + LENGTH_BYTES
                end = begin + length_of(received[start:begin])
                if len(received) < end:
                    break
                yield bytes(received[begin:end])
                start = end
            del received[:start]

    def _take(self, frame: Frame) -> None:
        header = frame.header
        kind = header.get("kind")
        number = header.get("id")
        if type(number) is not int:
            raise ProtocolError(f"A frame of kind {kind!r} has no id.")
        if kind == "ask":
            self._begin(number, header, frame.attachments)
        elif kind == "done":
            self._settle(number, lambda answer: answer.set_result(Answer(header.get("value"), frame.attachments)))
        elif kind == "failed":
            error = _object(header, "error")
            failed = ServerError(str(error.get("type")), str(error.get("message")))
            self._settle(number, lambda answer: answer.set_exception(failed))
        elif kind == "more":
            events = header.get("events")
            if type(events) is not int or events < 0:
                raise ProtocolError("A frame of kind 'more' has no number of events.")
            self._on_loop(number, lambda asked, _: asked.grant(events))
        elif kind == "cancel":
            # After its first step: a task that is cancelled before ends without an answer.
            self._on_loop(number, lambda _, task: task.get_loop().call_soon(task.cancel))
        else:
            raise ProtocolError(f"A frame has the unknown kind {kind!r}.")

    def _settle(self, number: int, how: Callable[[Future[Answer]], None]) -> None:
        answer = self._open.pop(number, None)
        # One that was cancelled on this side is answered all the same, perhaps at this moment.
        if answer is not None:
            with suppress(InvalidStateError):
                how(answer)

    def _begin(self, number: int, header: dict[str, Any], attachments: Sequence[bytes]) -> None:
        if number in self._loops:
            raise ProtocolError(f"The request {number} is not answered yet, and asked again.")
        op, args = str(header.get("op")), _object(header, "args")
        loop = self._loops[number] = self._places.of(op)

        def begin() -> None:
            asked = Asked(self, number, op, args, attachments)
            self._asked[number] = (asked, loop.create_task(self._answer(asked)))

        loop.call_soon_threadsafe(begin)

    def _on_loop(self, number: int, act: Callable[[Asked, asyncio.Task[None]], object]) -> None:
        """Acts on a request in the order of the frames, if it is not answered yet."""
        loop = self._loops.get(number)

        def on_loop() -> None:
            known = self._asked.get(number)
            if known is not None:
                act(*known)

        if loop is not None:
            # It may be closed by now: its request is answered.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(on_loop)

    async def _answer(self, asked: Asked) -> None:
        try:
            answer = await self._handler(asked)
            frame = Frame({"kind": "done", "id": asked.number, "value": answer.value}, answer.attachments)
            self.send(frame)
        except asyncio.CancelledError:
            self.send(Frame(failed(asked.number, "CancelledError", "The request was cancelled.")))
        except BaseException as error:  # Whatever the agent's code raises is the answer.
            self.send(Frame(failed_with(asked.number, error)))
        finally:
            asked.is_over = True
            self._asked.pop(asked.number, None)
            self._loops.pop(asked.number, None)
            self._places.done(asyncio.get_running_loop())


def _object(header: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A member of a header that is an object, or is left out."""
    value = header.get(name, {})
    if not isinstance(value, dict):
        raise ProtocolError(f"The member {name!r} of a frame is no object.")
    return value


_T = TypeVar("_T")

#: Errors that are told of those that an error is caused by.
_MOST_CAUSES = 10
#: Characters of a traceback that are told: logs cut the middle out of longer errors.
_LONGEST_STACK = 5_000
#: Of a provider's response: when to try again.
_WAITS = ("retry-after", "retry-after-ms", "date")


def failed(number: int, kind: str, message: str) -> dict[str, Any]:
    """The header of an answer that is an error of the worker's own."""
    return {"kind": "failed", "id": number, "error": {"type": kind, "message": message}}


def failed_with(number: int, error: BaseException) -> dict[str, Any]:
    """The header of an answer that is an error of the agent."""
    return {"kind": "failed", "id": number, "error": {**described(error), "stack": stack_of(error)}}


def described(error: BaseException, known: set[int] | None = None) -> dict[str, Any]:
    """An error with what caused it, and what it knows of a provider's response."""
    known = set() if known is None else known
    known.add(id(error))
    response = _member(error, "response")
    statuses = (_member(error, "status_code"), _member(response, "status_code"))
    shown = {
        "type": type(error).__name__,
        "message": _text_of(error),
        "code": _member(error, "landfall_code"),
        "status": next((each for each in statuses if type(each) is int and 100 <= each < 600), None),
        "headers": _waits_of(response) or None,
    }
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None and id(cause) not in known and len(known) < _MOST_CAUSES:
        shown["cause"] = described(cause, known)
    return {key: each for key, each in shown.items() if each is not None}


def _text_of(error: BaseException) -> str:
    text = _read(lambda: str(error))
    if text is None:
        return f"A {type(error).__name__} without a text"
    # A group says how many there are, and not which.
    inner = _member(error, "exceptions")
    each = [each for each in inner if isinstance(each, BaseException)] if isinstance(inner, (list, tuple)) else []
    told = "; ".join(f"{type(one).__name__}: {_text_of(one)}" for one in each[:_MOST_CAUSES])
    return f"{text}: {told}" if told else text


def _member(value: Any, name: str) -> Any:
    return _read(lambda: getattr(value, name, None))


def _waits_of(response: Any) -> dict[str, str]:
    headers = _member(response, "headers")
    known = _read(lambda: {name: str(headers[name]) for name in _WAITS if name in headers})
    return known if isinstance(headers, Mapping) and known else {}


def _read(read: Callable[[], _T]) -> _T | None:
    """What is read of an error; None if its members, which are the agent's, raise."""
    try:
        return read()
    except Exception:
        return None


def stack_of(error: BaseException) -> str:
    """The traceback of an error, without the worker's own frames before those of the agent."""
    frames = traceback.extract_tb(error.__traceback__)
    own = str(Path(__file__).parent)
    first = next((index for index, frame in enumerate(frames) if not frame.filename.startswith(own)), 0)
    lines = traceback.format_list(frames[first:]) + traceback.format_exception_only(error)
    text = "".join(lines)
    # The last lines say what happened, and where.
    return text if len(text) <= _LONGEST_STACK else f"  ...\n{text[-_LONGEST_STACK:]}"
