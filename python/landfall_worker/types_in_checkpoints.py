"""Types that a stored value names: the library reads one that can't be imported as None, or as a plain object."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from types import ModuleType

import ormsgpack

#: Extension types whose content begins with a module and a name, as the library numbers them.
_NAMED = frozenset((0, 1, 2, 3, 4, 5))


@dataclass(frozen=True)
class MissingType:
    """A type that can't be imported, and why."""

    name: str
    why: str
    #: Whether its module is there. Such a type may have been one that nothing can import: one within a function.
    has_module: bool


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


#: Types that were imported.
_known: set[tuple[str, str]] = set()


def _missing(module: str, name: str) -> MissingType | None:
    if (module, name) in _known:
        return None
    try:
        found = importlib.import_module(module)
    except Exception as error:  # A module of the agent may raise anything.
        return MissingType(f"{module}.{name}", f"{type(error).__name__}: {error}", has_module=False)
    if not hasattr(found, name) and not _has_within(found, name):
        return MissingType(f"{module}.{name}", f"module {module!r} has no {name!r}", has_module=True)
    _known.add((module, name))
    return None


def _has_within(module: ModuleType, name: str) -> bool:
    """Whether a class of a module has a class of this name: the library stores no more of where it is."""
    classes = [each for each in vars(module).values() if isinstance(each, type)]
    return any(isinstance(vars(each).get(name), type) for each in classes)
