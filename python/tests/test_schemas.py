import typing
from dataclasses import dataclass, field

import pytest
from langchain_core.messages import AnyMessage
from langgraph.graph import START, StateGraph, add_messages
from pydantic import BaseModel, ConfigDict
from typing_extensions import TypedDict

from landfall_worker.contexts import facts_of
from landfall_worker.schemas import schemas_of


class Client:
    """Of which no schema is known."""


class Plain(typing.TypedDict):
    name: str
    notes: typing.Annotated[list[str], lambda old, new: old + new]


class Chat(TypedDict):
    messages: typing.Annotated[list[AnyMessage], add_messages]
    client: Client


@dataclass
class Fields:
    name: str
    client: Client = field(default_factory=Client)


class Model(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    name: str
    client: Client


class Given(TypedDict):
    name: str


class Whole(Given):
    drafts: list[str]
    answer: str


class Shown(TypedDict):
    answer: str


def compiled(state, **more):
    return StateGraph(state, **more).add_node("node", lambda state: state).add_edge(START, "node").compile()


@pytest.mark.parametrize("state", [Plain, Chat, Fields, Model])
def test_each_field_has_a_schema_beside_one_that_has_none(state):
    schemas = schemas_of(compiled(state))
    for part in ("input_schema", "output_schema", "state_schema"):
        properties = schemas[part]["properties"]
        assert set(properties) == set(state.__annotations__)
        if "name" in properties:
            assert properties["name"]["type"] == "string"
        if "client" in properties:
            assert "type" not in properties["client"]
        if "messages" in properties:
            assert "AIMessage" in schemas[part]["$defs"]


def test_channels_may_have_any_names():
    names = ("model_config", "_private", "schema", "name")
    odd = TypedDict("Odd", dict.fromkeys(names, str))  # type: ignore[operator]
    for schema in ("input_schema", "state_schema"):
        assert set(schemas_of(compiled(odd))[schema]["properties"]) == set(names)


def test_says_which_fields_are_required():
    class Some(typing.TypedDict):
        name: typing.Any
        client: Client

    class More(Some, total=False):
        note: str

    schemas = schemas_of(compiled(More))
    assert schemas["input_schema"]["required"] == ["name", "client"]


def test_the_state_has_the_channels_that_neither_input_nor_output_have():
    schemas = schemas_of(compiled(Whole, input_schema=Given, output_schema=Shown))
    assert set(schemas["input_schema"]["properties"]) == {"name"}
    assert set(schemas["output_schema"]["properties"]) == {"answer"}
    assert set(schemas["state_schema"]["properties"]) == {"name", "drafts", "answer"}


@pytest.mark.parametrize("context", [Plain, Fields])
def test_a_context_is_known_by_the_names_of_its_fields(context):
    graph = compiled(Given, context_schema=context)
    assert set(schemas_of(graph)["context_schema"]["properties"]) == set(context.__annotations__)
    facts = facts_of(graph)
    assert facts is not None
    assert facts["names"] == list(context.__annotations__)
