import dataclasses
import datetime
import decimal
import enum
import json
import uuid
from collections import deque
from typing import NamedTuple

import pytest
from langchain_core.messages import AIMessage
from langgraph.types import Interrupt

from landfall_worker.json_values import to_json


class Colour(enum.Enum):
    RED = "red"


class Place(NamedTuple):
    city: str


@dataclasses.dataclass
class Order:
    items: list[str]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (float("nan"), None),
        ({1: "a", None: "b", 1.5: "c"}, {"1": "a", "null": "b", "1.5": "c"}),
        ({Colour.RED: Colour.RED}, {"red": "red"}),
        (Place("Paris"), {"city": "Paris"}),
        (Order(["tea"]), {"items": ["tea"]}),
        ({"x"}, ["x"]),
        (b"tea", "dGVh"),
        (decimal.Decimal("1.50"), 1.5),
        (datetime.date(2026, 1, 2), "2026-01-02"),
        (datetime.timedelta(minutes=1), 60.0),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (ValueError("no tea"), {"error": "ValueError", "message": "no tea"}),
        (2**70, 2**70),
    ],
)
def test_writes_what_json_has_no_type_for(value, expected):
    assert json.loads(to_json(value)) == expected


def test_writes_messages_as_their_fields():
    shown = json.loads(to_json(AIMessage("hi", id="1")))
    assert {"type": "ai", "content": "hi", "id": "1"}.items() <= shown.items()


def test_writes_an_interrupt():
    shown = json.loads(to_json(Interrupt(value={"question": "May I?"}, id="i1")))
    assert {"value": {"question": "May I?"}, "id": "i1"}.items() <= shown.items()


def test_refuses_a_value_that_contains_itself():
    circle: list[object] = []
    circle.append(circle)
    with pytest.raises(ValueError, match="contains itself"):
        to_json(circle)


def test_replaces_half_of_a_surrogate_pair():
    assert to_json(["tea \ud800"]) == b'["tea ?"]'


def test_has_lists_for_queues_and_arrays():
    array = type("ndarray", (), {"__module__": "numpy", "tolist": lambda self: [1, 2.5]})
    assert to_json({"queue": deque([1, 2]), "array": array()}) == b'{"queue":[1,2],"array":[1,2.5]}'
