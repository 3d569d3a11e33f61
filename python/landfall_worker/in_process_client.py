"""The agent's clients without an address: they call the agent's own server over the connection to it."""

from __future__ import annotations

import asyncio
import itertools
import sys
from collections.abc import AsyncIterator
from contextvars import ContextVar
from functools import lru_cache, partial
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

from .connection import Answer, Asked

_request: ContextVar[Asked | None] = ContextVar("landfall_request", default=None)
_numbers = itertools.count(1)

#: The package in which the SDK looks for the server that its process is part of.
_PACKAGE = "langgraph_api"


def enter_request(asked: Asked) -> None:
    """Lets the clients used in this task, and in those that it starts, call the server for a request."""
    _request.set(asked)


def provide_client(outside: Asked) -> None:
    """Makes the modules from which `get_client()` takes the server of its process, without importing the SDK.

    Args:
        outside: asks the server for code that runs for no request of it, as a task in the background does.
    """
    if find_spec(_PACKAGE) is None:
        package = _module(_PACKAGE)
        package.__path__ = []
    # Whatever is called goes through the transport.
    _module(f"{_PACKAGE}.server").__dict__["app"] = None
    _module(f"{_PACKAGE}.asgi_transport").__dict__["__getattr__"] = partial(_attribute_of_transport, outside)


def _module(name: str) -> ModuleType:
    module = sys.modules[name] = module_from_spec(ModuleSpec(name, None))
    return module


def _attribute_of_transport(outside: Asked, name: str) -> Any:
    if name == "ASGITransport":
        return _transport(outside)
    raise AttributeError(name)


class _Call:
    """One request of a client, as the server knows it."""

    def __init__(self, outside: Asked) -> None:
        asked = _request.get()
        # A task may live on after the request in which it was started.
        self._asked = outside if asked is None or asked.is_over else asked
        self._number = next(_numbers)
        self._is_open = True

    async def ask(self, op: str, args: dict[str, Any], attachments: tuple[bytes, ...] = ()) -> Answer:
        answer = self._asked.ask(op, {**args, "call": self._number}, attachments)
        try:
            return await asyncio.wrap_future(answer)
        except BaseException:
            # Also a cancelled task: the server ends what it does for nobody.
            self.leave()
            raise

    async def parts(self) -> AsyncIterator[bytes]:
        """The body of the response: the server sends the next part once it is needed."""
        while self._is_open:
            answer = await self.ask("client.read", {})
            if answer.value["ended"]:
                self._is_open = False
            else:
                yield answer.attachments[0]

    def leave(self) -> None:
        """Tells the server that the rest is not needed."""
        if self._is_open and not self._asked.is_over:
            self._asked.ask("client.close", {"call": self._number})
        self._is_open = False


@lru_cache(maxsize=1)
def _transport(outside: Asked) -> type[Any]:
    import httpx

    class Body(httpx.AsyncByteStream):
        def __init__(self, call: _Call) -> None:
            self._call = call

        def __aiter__(self) -> AsyncIterator[bytes]:
            return self._call.parts()

        async def aclose(self) -> None:
            self._call.leave()

    class Transport(httpx.AsyncBaseTransport):
        """Takes the arguments that the SDK gives, which have no meaning here."""

        def __init__(self, app: object = None, root_path: str = "") -> None:
            self.app = app

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            call = _Call(outside)
            body = await request.aread()
            answer = await call.ask(
                "client.request",
                {
                    "method": request.method,
                    "path": request.url.raw_path.decode("ascii"),
                    "headers": request.headers.multi_items(),
                },
                (body,),
            )
            return httpx.Response(answer.value["status"], headers=answer.value["headers"], stream=Body(call))

    return Transport
