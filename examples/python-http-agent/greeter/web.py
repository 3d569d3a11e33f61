"""Routes of the agent's own, beside those of the server. The middleware is around both."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route


class Timing:
    """Tells clients how long an answer took to begin."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        began = time.monotonic()

        async def timed(message: Any) -> None:
            if message["type"] == "http.response.start":
                took = f"app;dur={(time.monotonic() - began) * 1000:.1f}"
                message = {**message, "headers": [*message["headers"], (b"server-timing", took.encode())]}
            await send(message)

        await self.app(scope, receive, timed if scope["type"] == "http" else send)


async def me(request: Request) -> JSONResponse:
    """Who the caller is, by `enable_custom_route_auth`."""
    return JSONResponse({"name": request.user.display_name, "served_for": time.monotonic() - request.state.began})


async def countdown(request: Request) -> StreamingResponse:
    """Counts down while the client listens."""

    async def numbers() -> AsyncIterator[str]:
        for number in range(3, 0, -1):
            yield f"{number}\n"
            await asyncio.sleep(0.1)

    return StreamingResponse(numbers(), media_type="text/plain")


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[dict[str, Any]]:
    """What the routes share from the start of the process to its end, such as a client of another service."""
    yield {"began": time.monotonic()}


app = Starlette(
    routes=[Route("/me", me), Route("/countdown", countdown)],
    middleware=[Middleware(Timing)],
    lifespan=lifespan,
)
