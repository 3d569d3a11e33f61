"""The startup and the shutdown of an ASGI application."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import Any


class Lifespan:
    """Tells an application when it starts and ends; one that knows no lifespan is left alone."""

    def __init__(self, app: Any) -> None:
        self._app = app
        #: What the startup leaves for requests.
        self.state: dict[str, Any] = {}
        self._task: asyncio.Task[None] | None = None
        self._told: asyncio.Queue[str] = asyncio.Queue()
        self._heard: asyncio.Queue[MutableMapping[str, Any]] = asyncio.Queue()

    async def start(self) -> None:
        """Starts the application up.

        Raises:
            Exception: what its startup has raised.
        """
        scope = {
            "type": "lifespan",
            "asgi": {"version": "3.0", "spec_version": "2.0"},
            "state": self.state,
        }
        self._task = asyncio.get_running_loop().create_task(self._run(scope))
        heard = await self._tell("lifespan.startup")
        if heard is not None and heard["type"] == "lifespan.startup.failed":
            # The application raises the error itself, after it has told it.
            await self._task
            raise RuntimeError(f"The startup has failed: {heard.get('message', '')}")

    async def stop(self) -> None:
        """Shuts it down, and waits for that."""
        if self._task is not None and not self._task.done():
            await self._tell("lifespan.shutdown")

    async def _run(self, scope: dict[str, Any]) -> None:
        await self._app(scope, self._receive, self._heard.put)

    async def _receive(self) -> MutableMapping[str, Any]:
        return {"type": await self._told.get()}

    async def _tell(self, what: str) -> MutableMapping[str, Any] | None:
        """Tells the application, and waits for its word; None if it ends without one."""
        assert self._task is not None
        self._told.put_nowait(what)
        hearing = asyncio.get_running_loop().create_task(self._heard.get())
        await asyncio.wait({self._task, hearing}, return_when=asyncio.FIRST_COMPLETED)
        if not self._heard.empty() or hearing.done():
            return await hearing
        hearing.cancel()
        # An application that raises at this knows no lifespan: the specification says to go on without.
        self._task.exception()
        return None
