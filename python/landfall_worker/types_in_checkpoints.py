"""Types that a stored value names: the library reads one that can't be imported as None, without a word."""

from __future__ import annotations

import functools
import importlib
from dataclasses import dataclass
from typing import Any

import ormsgpack

#: Extension types whose content begins with a module and a name, as the library numbers them.
_NAMED = frozenset((0, 1, 2, 3, 4, 5))


@dataclass(frozen=True)
class MissingType:
    """A type that can't be imported, and why."""

    name: str
    why: str


def missing_type(kind: str, data: bytes) -> MissingType | None:
    """The first type of a serialised value that can't be imported; None where all can."""
    if kind != "msgpack":
        return None
    found: list[MissingType] = []

    def look(code: int, content: bytes) -> None:
        named = ormsgpack.unpackb(content, ext_hook=look, option=ormsgpack.OPT_NON_STR_KEYS)
        if code in _NAMED and isinstance(named, (list, tuple)) and len(named) > 1:
            missing = _missing(str(named[0]), str(named[1]))
            if missing:
                found.append(missing)

    try:
        ormsgpack.unpackb(data, ext_hook=look, option=ormsgpack.OPT_NON_STR_KEYS)
    except ValueError:
        # Not ours to judge: the library says what is wrong with it.
        return None
    return found[0] if found else None


@functools.lru_cache(maxsize=4096)
def _missing(module: str, name: str) -> MissingType | None:
    try:
        found: Any = importlib.import_module(module)
    except Exception as error:  # A module of the agent may raise anything.
        return MissingType(f"{module}.{name}", f"{type(error).__name__}: {error}")
    if not hasattr(found, name):
        return MissingType(f"{module}.{name}", f"module {module!r} has no {name!r}")
    return None
