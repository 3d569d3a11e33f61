"""The ASGI application of an agent: its routes beside the server's, its middleware around both."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote

from .auth import User
from .connection import Answer, Asked
from .http_exchange import App, Exchange, Receive, Scope, Send, SocketExchange, client_of
from .lifespan import Lifespan
from .loading_error import LoadingError

#: Where a scope has what answers its request: middleware may pass on a copy of the scope.
_EXCHANGE = "landfall.exchange"
#: A scope for which the server's own routes count as absent.
_WITHOUT_OURS = "landfall.without_ours"
#: Packages whose applications do nothing around their routes beside their middleware.
_FRAMEWORKS = ("starlette", "fastapi")


class HttpApp:
    """The application, from its startup to its shutdown; all of it happens on one loop."""

    def __init__(self, exported: Any, own_paths: Collection[str] = ()) -> None:
        """Takes what an agent exports.

        Args:
            exported: the application.
            own_paths: paths that the server answers even where the application has a route.

        Raises:
            LoadingError: it is no application.
        """
        if inspect.isclass(exported) or not callable(exported) or not _takes_three(exported):
            raise LoadingError("app-not-asgi", f"It is a {type(exported).__name__}.")
        self._app: App = exported
        self._router = _router_of(exported)
        self._own_paths = own_paths
        self._lifespan = Lifespan(exported)
        self._is_bare = False

    @property
    def is_mounted(self) -> bool:
        """Whether the server's own routes are behind it; else it gets the paths that the server does not have."""
        return self._router is not None

    async def start(self) -> None:
        """Starts it up.

        Raises:
            Exception: what its startup has raised.
        """
        await self._lifespan.start()
        # After the startup, which may add routes.
        if self._router is not None:
            self._router.routes.insert(0, _OwnRoutes(self, self._own_paths))
            self._router.routes.append(_OwnRoutes(self, None))
            self._is_bare = _is_bare(self._app, self._router)

    async def stop(self) -> None:
        """Shuts it down."""
        await self._lifespan.stop()

    async def answer(self, asked: Asked) -> Answer:
        """Answers a request, or passes it to the server's own routes at once if the application has no part in it."""
        scope = self._scope_of(asked.args)
        exchange = (Exchange if scope["type"] == "http" else SocketExchange)(asked, scope)
        scope[_EXCHANGE] = exchange
        is_known = not asked.args["unknown"]
        if is_known and self._is_bare and not self._has_route(scope):
            await exchange.pass_on()
            return Answer()
        if not is_known:
            scope[_WITHOUT_OURS] = True
        await self._app(scope, exchange.receive, exchange.send)
        return Answer()

    async def call_ours(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers by the server's own routes; by the application's router where the server has none."""
        exchange: Exchange = scope[_EXCHANGE]
        known = await exchange.call_next(scope, receive)
        if known is None:
            return
        if known["unknown"]:
            router: Any = self._router
            # Also another method of a route, or a redirect to one.
            await router({**scope, _WITHOUT_OURS: True}, receive, send)
            return
        await exchange.send_next(known, send)

    def _has_route(self, scope: Scope) -> bool:
        if scope["path"] in self._own_paths:
            return False
        router: Any = self._router
        probe = {**scope, "root_path": getattr(self._app, "root_path", "")}
        theirs = [route for route in router.routes if not isinstance(route, _OwnRoutes)]
        return any(route.matches(probe)[0].name == "FULL" for route in theirs)

    def _scope_of(self, args: Mapping[str, Any]) -> Scope:
        path = args["path"]
        scope = {
            "type": args["type"],
            # In 2.3 a client that leaves is told by `receive`, not by an error of `send`.
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "scheme": args["scheme"],
            "path": unquote(path),
            "raw_path": path.encode("ascii", "replace"),
            "query_string": args["query"].encode("latin-1", "replace"),
            "root_path": "",
            "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in args["headers"]],
            "server": None,
            "client": client_of(args["headers"]),
            "state": dict(self._lifespan.state),
        }
        if args["type"] == "http":
            scope["method"] = args["method"]
        else:
            protocols = next((value for name, value in args["headers"] if name == "sec-websocket-protocol"), "")
            scope["subprotocols"] = [each.strip() for each in protocols.split(",") if each.strip()]
            scope["extensions"] = {"websocket.http.response": {}}
        user = args.get("user")
        if user is not None:
            known: Any = User(user)
            scope.update(user=known, auth=SimpleNamespace(scopes=list(known.permissions)))
        return scope


class _OwnRoutes:
    """The server's own routes as one route of the application's router, so that its middleware is around them."""

    name = "landfall"
    path = "/{path:path}"
    methods = None
    include_in_schema = False

    def __init__(self, app: HttpApp, paths: Collection[str] | None) -> None:
        """Takes the paths that it matches; None for all of them."""
        self._app = app
        self._paths = paths

    def matches(self, scope: Scope) -> tuple[Any, Scope]:
        """Whether the router calls `handle`."""
        from starlette.routing import Match

        is_theirs = scope["type"] not in ("http", "websocket") or _WITHOUT_OURS in scope or _EXCHANGE not in scope
        is_ours = not is_theirs and (self._paths is None or scope["path"] in self._paths)
        return (Match.FULL if is_ours else Match.NONE), {}

    def url_path_for(self, name: str, /, **path_params: Any) -> Any:
        """Has no address: another route may have the name."""
        from starlette.routing import NoMatchFound

        raise NoMatchFound(name, path_params)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers by the server."""
        await self._app.call_ours(scope, receive, send)


def _takes_three(exported: Any) -> bool:
    try:
        inspect.signature(exported).bind(None, None, None)
    except TypeError:
        return False
    except ValueError:  # It has no signature.
        return True
    return True


def _router_of(app: Any) -> Any:
    """The router of an application of Starlette, such as one of FastAPI; None for any other."""
    router = getattr(app, "router", app)
    is_router = isinstance(getattr(router, "routes", None), list) and hasattr(router, "default") and callable(router)
    return router if is_router else None


def _is_bare(app: Any, router: Any) -> bool:
    """Whether it is certain that nothing is around the routes of an application that could see a request."""
    plain = (
        getattr(type(each), name, None) for each in (app, router) for name in ("__call__", "build_middleware_stack")
    )
    modules = {(each.__module__ or "").partition(".")[0] for each in plain if each is not None}
    stack = getattr(router, "middleware_stack", None)
    return (
        not getattr(app, "user_middleware", ())
        and modules.issubset(_FRAMEWORKS)
        and "build_middleware_stack" not in vars(app)
        and (stack is None or stack == getattr(router, "app", None))
    )
