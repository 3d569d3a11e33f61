"""One request of the server as an ASGI application has it, and its response."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from .connection import Answer, Asked

Scope = dict[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

#: The most bytes of a response that one event has.
_MOST_AT_ONCE = 1024 * 1024


def client_of(headers: Iterable[tuple[str, str]]) -> tuple[str, int]:
    """Who sends a request, as a proxy in front says; else this machine: frameworks expect somebody."""
    forwarded = next((value for name, value in headers if name.lower() == "x-forwarded-for"), "")
    return forwarded.split(",")[0].strip() or "127.0.0.1", 0


class Exchange:
    """An HTTP request: its body is asked for piece by piece, its response sent as far as the server takes it."""

    def __init__(self, asked: Asked, scope: Scope) -> None:
        self._asked = asked
        self._headers = list(scope["headers"])
        self._reading: asyncio.Future[Answer] | None = None
        self._has_read = False
        self._is_complete = False

    async def receive(self) -> Message:
        """The next piece of the body, or that the client has left."""
        if self._is_complete:
            return {"type": "http.disconnect"}
        self._has_read = True
        answer = await self._read()
        if answer.value["gone"]:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": _bytes_of(answer), "more_body": answer.value["more"]}

    async def send(self, message: Message) -> None:
        """Sends a part of the response."""
        if message["type"] == "http.response.start":
            await self._send_start(message)
        elif message["type"] == "http.response.body":
            await self._send_body(message)

    async def pass_on(self) -> None:
        """Leaves the request to the server's own routes; it must be whole."""
        await self._asked.event({"type": "pass"})

    async def call_next(self, scope: Scope, receive: Receive) -> dict[str, Any] | None:
        """Calls the server's own routes, with what the middleware has made of the request.

        Returns:
            The status and the headers, and whether the server knows no such route; None if it was left to the server.
        """
        args: dict[str, Any] = {}
        attachments: list[bytes] = []
        if list(scope["headers"]) != self._headers:
            args["headers"] = _pairs(scope["headers"])
        is_whole = receive == self.receive and not self._has_read
        if self._asked.args["has_body"] and not is_whole:
            attachments = [await _whole(receive, self._asked.args["most_bytes"])]
        answer = await asyncio.wrap_future(self._asked.ask("http.next", args, attachments))
        known: dict[str, Any] = answer.value
        return known

    async def send_next(self, known: dict[str, Any], send: Send) -> None:
        """Sends the response of the server's own route through the middleware."""
        headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in known["headers"]]
        await send({"type": "http.response.start", "status": known["status"], "headers": headers})
        more = True
        while more:
            answer = await asyncio.wrap_future(self._asked.ask("http.next_read", {}))
            more = answer.value["more"]
            await send({"type": "http.response.body", "body": _bytes_of(answer), "more_body": more})

    async def _read(self) -> Answer:
        """Asks for what comes next; a caller that does not wait for it loses nothing."""
        if self._reading is None:
            self._reading = asyncio.wrap_future(self._asked.ask("http.read", {}))
        reading = self._reading
        answer = await asyncio.shield(reading)
        if self._reading is reading:
            self._reading = None
        return answer

    async def _send_start(self, message: Message) -> None:
        headers = _pairs(message.get("headers", ()))
        await self._asked.event({"type": "start", "status": int(message["status"]), "headers": headers})

    async def _send_body(self, message: Message) -> None:
        body = bytes(message.get("body", b""))
        more = bool(message.get("more_body", False))
        for at in range(0, max(len(body), 1), _MOST_AT_ONCE):
            is_last = at + _MOST_AT_ONCE >= len(body)
            await self._asked.event(
                {"type": "body", "more": more or not is_last}, [body[at : at + _MOST_AT_ONCE]] if body else []
            )
        self._is_complete = not more


class SocketExchange(Exchange):
    """A WebSocket."""

    def __init__(self, asked: Asked, scope: Scope) -> None:
        super().__init__(asked, scope)
        self._is_announced = False

    async def receive(self) -> Message:
        """The next message of the client, or that it has left."""
        if not self._is_announced:
            self._is_announced = True
            return {"type": "websocket.connect"}
        answer = await self._read()
        value = answer.value
        if value["gone"]:
            return {"type": "websocket.disconnect", "code": value["code"], "reason": value["reason"]}
        if value["text"] is None:
            return {"type": "websocket.receive", "bytes": _bytes_of(answer)}
        return {"type": "websocket.receive", "text": value["text"]}

    async def send(self, message: Message) -> None:
        """Accepts, sends a message, closes, or refuses with a response."""
        kind = message["type"]
        if kind == "websocket.accept":
            headers = _pairs(message.get("headers", ()))
            accepted = {"type": "accept", "subprotocol": message.get("subprotocol"), "headers": headers}
            await self._asked.event(accepted)
        elif kind == "websocket.send":
            text = message.get("text")
            await self._asked.event({"type": "send", "text": text}, [bytes(message["bytes"])] if text is None else [])
        elif kind == "websocket.close":
            await self._asked.event(
                {"type": "close", "code": message.get("code", 1000), "reason": message.get("reason") or ""}
            )
        elif kind == "websocket.http.response.start":
            await self._send_start(message)
        elif kind == "websocket.http.response.body":
            await self._send_body(message)

    async def call_next(self, scope: Scope, receive: Receive) -> dict[str, Any] | None:
        """Leaves the socket to the server, which has no part for the middleware after that."""
        await self.pass_on()
        return None


async def _whole(receive: Receive, most: int) -> bytes:
    """A body; of one that is longer than the server takes as much as shows that."""
    body = b""
    while len(body) <= most:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body", False):
            break
    return body


def _bytes_of(answer: Answer) -> bytes:
    return bytes(answer.attachments[0]) if answer.attachments else b""


def _pairs(headers: Iterable[Iterable[bytes]]) -> list[list[str]]:
    return [[part.decode("latin-1") for part in header] for header in headers]
