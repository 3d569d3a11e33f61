import sys
import types
from dataclasses import dataclass

import pytest
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from landfall_worker import types_in_checkpoints
from landfall_worker.types_in_checkpoints import missing_type


@pytest.fixture
def order() -> object:
    module = types.ModuleType("shop_of_test")
    sys.modules["shop_of_test"] = module

    @dataclass
    class Order:
        items: list[str]

    Order.__module__ = "shop_of_test"
    Order.__qualname__ = "Order"
    module.Order = Order  # type: ignore[attr-defined]
    yield Order
    sys.modules.pop("shop_of_test", None)


def test_names_a_type_that_cannot_be_imported(order):
    dumped = JsonPlusSerializer().dumps_typed({"orders": [order(["tea"])]})
    assert missing_type(*dumped) is None
    types_in_checkpoints._known.clear()
    del sys.modules["shop_of_test"]
    missing = missing_type(*dumped)
    assert missing is not None
    assert missing.name == "shop_of_test.Order"
    assert "No module named" in missing.why
    assert not missing.has_module


def test_finds_a_class_within_a_class(order):
    @dataclass
    class Line:
        tea: str

    Line.__module__ = "shop_of_test"
    dumped = JsonPlusSerializer().dumps_typed(Line("green"))
    missing = missing_type(*dumped)
    assert missing is not None
    assert missing.has_module
    order.Line = Line
    assert missing_type(*dumped) is None


def test_finds_nothing_missing_in_plain_values():
    assert missing_type(*JsonPlusSerializer().dumps_typed({"a": {1, 2}, "b": b"x", "c": None})) is None
