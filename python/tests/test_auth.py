import asyncio

import pytest
from langgraph_sdk import Auth

from landfall_worker.auth import Rules, User
from landfall_worker.loading_error import LoadingError

REQUEST = {
    "method": "POST",
    "path": "/threads/t1/runs/r1",
    "query": "a=1&b=",
    "headers": [["authorization", "Bearer ann"], ["x-extra", "1"]],
}


def rules_of(authenticate) -> tuple[Auth, Rules]:
    auth = Auth()
    auth.authenticate(authenticate)
    return auth, Rules(auth)


def test_gives_the_handler_what_it_asks_for():
    seen = {}

    async def authenticate(authorization, headers, path, method, path_params, query_params, body):
        seen.update(locals())
        return authorization.removeprefix("Bearer ")

    _, rules = rules_of(authenticate)
    assert rules.wants_body
    answer = asyncio.run(rules.authenticate(REQUEST, b'{"x": 1}'))
    assert answer.value == {"user": "ann"}
    seen.pop("seen", None)
    assert seen == {
        "authorization": "Bearer ann",
        "headers": {b"authorization": b"Bearer ann", b"x-extra": b"1"},
        "path": "/threads/t1/runs/r1",
        "method": "POST",
        "path_params": {"thread_id": "t1", "run_id": "r1"},
        "query_params": {"a": "1", "b": ""},
        "body": {"x": 1},
    }


class Person:
    def __init__(self, name: str) -> None:
        self.identity, self.permissions, self._secret = name, ["read"], "hidden"


@pytest.mark.parametrize(
    ("returned", "user"),
    [
        ("ann", "ann"),
        ({"identity": "ann", "role": "owner"}, {"identity": "ann", "role": "owner"}),
        (Person("ann"), {"identity": "ann", "permissions": ["read"], "is_authenticated": True}),
        ((["read"], "ann"), {"identity": "ann", "permissions": ["read"]}),
        (
            (("read",), {"identity": "ann", "role": "owner"}),
            {"identity": "ann", "role": "owner", "permissions": ["read"]},
        ),
        (([], Person("ann")), {"identity": "ann", "permissions": [], "is_authenticated": True}),
    ],
)
def test_describes_the_user_that_the_handler_returns(returned, user):
    async def authenticate():
        return returned

    _, rules = rules_of(authenticate)
    assert not rules.wants_body
    assert asyncio.run(rules.authenticate(REQUEST, b"")).value == {"user": user}


def test_refuses_as_the_handler_does():
    async def authenticate():
        raise Auth.exceptions.HTTPException(status_code=402, detail="no funds", headers={"x-why": "money"})

    _, rules = rules_of(authenticate)
    refused = {"status": 402, "detail": "no funds", "headers": {"x-why": "money"}}
    assert asyncio.run(rules.authenticate(REQUEST, b"")).value == {"refused": refused}


def test_passes_on_what_the_handler_raises():
    async def authenticate():
        raise RuntimeError("broken")

    _, rules = rules_of(authenticate)
    with pytest.raises(RuntimeError, match="broken"):
        asyncio.run(rules.authenticate(REQUEST, b""))


async def anybody():
    return "ann"


def decide(rules: Rules, resource: str, action: str, value: dict | None = None):
    user = {"identity": "ann", "permissions": ["read"], "role": "owner"}
    asked = {"resource": resource, "action": action, "value": value or {}, "user": user}
    return asyncio.run(rules.decide(asked)).value


def test_asks_the_most_specific_handler():
    auth, rules = rules_of(anybody)
    assert decide(rules, "threads", "read") == {"handled": False}

    @auth.on
    async def all_of_them(ctx, value):
        return False

    @auth.on.threads
    async def threads(ctx, value):
        return {"owner": ctx.user.identity}

    @auth.on.threads.create
    async def create(ctx, value):
        assert (ctx.resource, ctx.action, ctx.permissions) == ("threads", "create", ["read"])
        assert ctx.user["role"] == ctx.user.role == "owner"
        value.setdefault("metadata", {})["owner"] = ctx.user.identity

    assert decide(rules, "crons", "read")["result"] is False
    assert decide(rules, "threads", "read")["result"] == {"owner": "ann"}
    created = decide(rules, "threads", "create", {"metadata": {"a": 1}})
    assert (created["result"], created["value"]) == (None, {"metadata": {"a": 1, "owner": "ann"}})


@pytest.mark.parametrize(
    ("exported", "code"), [(object(), "auth-not-auth"), (Auth(), "auth-without-handler"), (None, "auth-not-auth")]
)
def test_says_what_is_no_auth(exported, code):
    with pytest.raises(LoadingError) as raised:
        Rules(exported)
    assert raised.value.landfall_code == code


def test_the_names_that_the_sdk_keeps_for_servers_are_there():
    auth, _ = rules_of(anybody)
    assert auth._authenticate_handler is anybody
    assert (auth._handlers, auth._global_handlers) == ({}, [])


def test_a_user_is_read_by_attributes_and_as_a_dictionary():
    user = User({"identity": "ann"})
    assert (user.display_name, user.is_authenticated, user.permissions) == ("ann", True, [])
    assert dict(user) == user.dict()
    with pytest.raises(AttributeError, match="'role'"):
        _ = user.role


@pytest.mark.parametrize(("raised", "detail"), [(("not yours",), "not yours"), ((), "Forbidden")])
def test_an_assertion_of_a_handler_is_a_refusal(raised, detail):
    async def authenticate():
        return "ann"

    auth, rules = rules_of(authenticate)

    @auth.on.store()
    async def own(ctx, value):
        # As `assert` does, whose message pytest replaces here.
        if value["namespace"][0] != ctx.user.identity:
            raise AssertionError(*raised)

    asked = {"resource": "store", "action": "put", "user": {"identity": "ann"}}
    refused = {"status": 403, "detail": detail, "headers": {}}
    assert asyncio.run(rules.decide({**asked, "value": {"namespace": ["bea"]}})).value == {"refused": refused}
    assert asyncio.run(rules.decide({**asked, "value": {"namespace": ["ann"]}})).value["handled"] is True
