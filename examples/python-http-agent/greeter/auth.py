"""Knows callers by their keys, and keeps their threads apart. Who sends no key is a guest."""

import os
import secrets
from typing import Any

from langgraph_sdk import Auth

auth = Auth()


def keys() -> dict[str, str]:
    """The names of callers and their keys: `GREETER_KEYS` is a secret such as `ada=KEY grace=KEY`."""
    pairs = (each.partition("=") for each in os.environ.get("GREETER_KEYS", "").split())
    return {name: key for name, _, key in pairs if key}


@auth.authenticate
async def authenticate(authorization: str | None) -> dict[str, Any]:
    if authorization is None:
        return {"identity": "guest", "display_name": "stranger"}
    sent = authorization.removeprefix("Bearer ").encode()
    for name, key in keys().items():
        if secrets.compare_digest(key.encode(), sent):
            return {"identity": name, "display_name": name.capitalize()}
    raise Auth.exceptions.HTTPException(status_code=401, detail="Nobody has this key.")


@auth.on.threads
async def own(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> dict[str, str]:
    owner = {"owner": ctx.user.identity}
    if ctx.action == "create":
        value.setdefault("metadata", {}).update(owner)
    return owner
