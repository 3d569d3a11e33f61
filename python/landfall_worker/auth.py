"""Who a request is from and what it may do, by the agent's own rules."""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qsl, unquote

from .connection import Answer
from .http_exchange import client_of
from .json_values import plain
from .loading_error import LoadingError

#: What the handler that authenticates may take, by name.
_ARGUMENTS = frozenset(
    ("request", "body", "path", "method", "path_params", "query_params", "headers", "authorization", "scope")
)
#: The names of what a path has after these.
_IDS = {"threads": "thread_id", "runs": "run_id", "assistants": "assistant_id", "crons": "cron_id"}


class User(Mapping[str, Any]):
    """A user as agents read one: by attributes, and as a dictionary."""

    def __init__(self, known: Mapping[str, Any]) -> None:
        self._known = {
            "is_authenticated": True,
            "display_name": known.get("identity"),
            "permissions": [],
            **known,
        }

    def __getitem__(self, key: str) -> Any:
        return self._known[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_known"][name]
        except KeyError:
            raise AttributeError(f"The user has no {name!r}.") from None

    def dict(self) -> dict[str, Any]:
        """All that is known of the user."""
        return dict(self._known)


class Rules:
    """The handlers of an agent's `Auth`."""

    def __init__(self, exported: Any) -> None:
        """Reads what an agent exports.

        Raises:
            LoadingError: it is no `Auth`, or has no handler that authenticates.
        """
        authenticate = getattr(exported, "_authenticate_handler", None)
        if not hasattr(exported, "_handlers") or not hasattr(exported, "_global_handlers"):
            raise LoadingError("auth-not-auth", f"It is a {type(exported).__name__}.")
        if authenticate is None:
            raise LoadingError("auth-without-handler", "It has no handler that authenticates.")
        self._authenticate: Callable[..., Any] = authenticate
        self._handlers: Mapping[tuple[str, str], Sequence[Callable[..., Awaitable[Any]]]] = exported._handlers
        self._for_all: Sequence[Callable[..., Awaitable[Any]]] = exported._global_handlers
        self._takes = _ARGUMENTS & set(inspect.signature(authenticate).parameters)

    @property
    def wants_body(self) -> bool:
        """Whether the handler that authenticates reads bodies."""
        return bool(self._takes & {"body", "request"})

    async def authenticate(self, request: Mapping[str, Any], body: bytes) -> Answer:
        """Who a request is from."""
        given = _arguments(request, body)
        call = {name: given[name]() for name in self._takes}
        return await _answered(lambda: self._authenticate(**call), lambda found: {"user": _described(found)})

    async def decide(self, asked: Mapping[str, Any]) -> Answer:
        """What a user may do: the answer of the handler, and the value that it may have changed."""
        from langgraph_sdk.auth.types import AuthContext

        resource, action, value = asked["resource"], asked["action"], asked["value"]
        handler = self._handler_of(resource, action)
        if handler is None:
            return Answer({"handled": False})
        user: Any = User(asked["user"])
        permissions = user.permissions
        context = AuthContext(permissions=permissions, user=user, resource=resource, action=action)
        return await _answered(
            lambda: _unless_forbidden(handler(ctx=context, value=value)),
            lambda found: {"handled": True, "result": plain(found), "value": plain(value)},
        )

    def _handler_of(self, resource: str, action: str) -> Callable[..., Awaitable[Any]] | None:
        """The most specific handler; of several the last one."""
        for key in ((resource, action), (resource, "*"), ("*", action), ("*", "*")):
            if self._handlers.get(key):
                return self._handlers[key][-1]
        return self._for_all[-1] if self._for_all else None


class _Forbidden(Exception):
    status_code = 403


async def _unless_forbidden(answer: Awaitable[Any]) -> Any:
    """Waits for a handler, which may refuse by an assertion."""
    try:
        return await answer
    except AssertionError as error:
        raise _Forbidden(str(error) or "Forbidden") from error


async def _answered(call: Callable[[], Any], shown: Callable[[Any], dict[str, Any]]) -> Answer:
    """Calls a handler; an error with a status is a refusal."""
    try:
        found = call()
        return Answer(shown(await found if inspect.isawaitable(found) else found))
    except Exception as error:
        status = getattr(error, "status_code", None)
        if type(status) is not int:
            raise
        headers = getattr(error, "headers", None) or {}
        detail = getattr(error, "detail", str(error))
        refused = {"status": status, "detail": plain(detail), "headers": {str(k): str(v) for k, v in headers.items()}}
        return Answer({"refused": refused})


def _described(user: Any) -> Any:
    """A user as JSON: a text, a dictionary or an object with an identity, or permissions and one of these."""
    if isinstance(user, tuple) and len(user) == 2:
        permissions, described = user[0], _described(user[1])
        own = {"identity": described} if isinstance(described, str) else described
        return {**own, "permissions": plain(list(permissions))} if isinstance(own, Mapping) else own
    if isinstance(user, (str, Mapping)) or not hasattr(user, "identity"):
        return plain(user)
    own = {**_members(user), **{name: getattr(user, name) for name in ("identity",)}}
    more = {name: getattr(user, name) for name in ("display_name", "permissions") if hasattr(user, name)}
    return plain({**own, **more, "is_authenticated": getattr(user, "is_authenticated", True)})


def _members(user: Any) -> dict[str, Any]:
    for name in ("model_dump", "to_dict", "dict"):
        dump = getattr(user, name, None)
        if callable(dump):
            return dict(dump())
    return {key: each for key, each in getattr(user, "__dict__", {}).items() if not key.startswith("_")}


def _arguments(request: Mapping[str, Any], body: bytes) -> dict[str, Callable[[], Any]]:
    """What a handler may ask for, made once it does."""
    raw = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in request["headers"]]
    headers = dict(raw)
    parts = request["path"].split("/")
    ids = {_IDS[name]: unquote(value) for name, value in pairwise(parts) if name in _IDS and value}
    query = request["query"]
    scope = {
        "type": "http",
        "http_version": "1.1",
        "scheme": "http",
        "server": None,
        "client": client_of(request["headers"]),
        "root_path": "",
        "method": request["method"],
        "path": unquote(request["path"]),
        "raw_path": request["path"].encode(),
        "query_string": query.encode("latin-1"),
        "headers": raw,
        "path_params": ids,
    }
    return {
        "request": lambda: _request(scope, body),
        "scope": lambda: scope,
        "body": lambda: json.loads(body) if body else None,
        "path": lambda: scope["path"],
        "method": lambda: request["method"],
        "path_params": lambda: ids,
        "query_params": lambda: dict(parse_qsl(query, keep_blank_values=True)),
        "headers": lambda: headers,
        "authorization": lambda: headers[b"authorization"].decode("latin-1") if b"authorization" in headers else None,
    }


def _request(scope: dict[str, Any], body: bytes) -> Any:
    """The request as Starlette has it, which agents that ask for one have among their packages."""
    from starlette.requests import Request

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    return Request(scope, receive)
