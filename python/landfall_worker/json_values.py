"""Values of an agent as JSON, as the public server writes them."""

from __future__ import annotations

import base64
import collections
import dataclasses
import datetime
import decimal
import enum
import ipaddress
import json
import math
import pathlib
import re
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from .frames import ENCODER

#: Types that JSON has.
_PLAIN = (str, bool, type(None))


def to_json(value: Any) -> bytes:
    """The JSON text of a value.

    Raises:
        ValueError: it contains itself.
    """
    try:
        return ENCODER.encode(plain(value)).encode(errors="replace")
    except RecursionError as error:
        raise ValueError("The value contains itself, or is nested too deeply for JSON.") from error


def plain(value: Any) -> Any:
    """The value as JSON has it: objects, lists, texts, numbers."""
    kind = type(value)
    if kind in _PLAIN or kind is int:
        return value
    if kind is float:
        return value if math.isfinite(value) else None
    if kind is dict:
        return {_key(key): plain(each) for key, each in value.items()}
    if kind is list or kind is tuple:
        return [plain(each) for each in value]
    return _converted(value)


def _key(key: Any) -> str:
    if isinstance(key, str) and not isinstance(key, enum.Enum):
        return key
    converted = plain(key)
    return converted if isinstance(converted, str) else json.dumps(converted)


def _converted(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        return plain(dump())
    as_dict = getattr(value, "_asdict", None)
    if callable(as_dict) and isinstance(value, tuple):
        return plain(as_dict())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name)) for each in dataclasses.fields(value)}
    for kind, convert in _CONVERSIONS:
        if isinstance(value, kind):
            return convert(value)
    if type(value).__module__ == "numpy":
        return plain(value.tolist())
    old = getattr(value, "dict", None)
    if callable(old) and not isinstance(value, type):
        return plain(old())
    return str(value)


#: The first that fits counts.
_CONVERSIONS: tuple[tuple[type | tuple[type, ...], Callable[[Any], Any]], ...] = (
    (enum.Enum, lambda value: plain(value.value)),
    (str, str),
    (int, int),
    (float, lambda value: plain(float(value))),
    (Mapping, lambda value: {_key(key): plain(each) for key, each in value.items()}),
    ((list, tuple, set, frozenset, collections.deque), lambda value: [plain(each) for each in value]),
    ((bytes, bytearray, memoryview), lambda value: base64.b64encode(bytes(value)).decode()),
    ((datetime.datetime, datetime.date, datetime.time), lambda value: value.isoformat()),
    (datetime.timedelta, lambda value: value.total_seconds()),
    (decimal.Decimal, lambda value: int(value) if value == value.to_integral_value() else plain(float(value))),
    ((uuid.UUID, pathlib.PurePath), str),
    ((ipaddress.IPv4Address, ipaddress.IPv6Address), str),
    (re.Pattern, lambda value: value.pattern),
    (BaseException, lambda value: {"error": type(value).__name__, "message": str(value)}),
)
