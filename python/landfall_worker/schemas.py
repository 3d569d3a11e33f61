"""The JSON schemas of a graph; types that pydantic can't describe may be anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, ClassVar, cast, get_args, get_origin

import typing_extensions
from pydantic import BaseModel, Field, TypeAdapter, create_model
from typing_extensions import NotRequired, Required, get_type_hints

#: A type and its default; `...` if it has none.
_Field = tuple[Any, Any]

#: What a `TypedDict` says of a field besides its type.
_QUALIFIERS: tuple[Any, ...] = (Required, NotRequired, getattr(typing_extensions, "ReadOnly", Required))


def schemas_of(graph: Any) -> dict[str, Any]:
    """The schemas of a graph; those for which it has no types are left out."""
    builder = getattr(graph, "builder", None)
    given = _schema(graph.get_input_jsonschema, getattr(builder, "input_schema", None))
    shown = _schema(graph.get_output_jsonschema, getattr(builder, "output_schema", None))
    context = context_schema_of(graph)
    state = shown
    with suppress(Exception):  # Channels may have names and types of any kind.
        state = _state_schema(graph, given or {}, shown or {})
    found = {
        "input_schema": given,
        "output_schema": shown,
        "state_schema": state,
        "context_schema": context,
        "config_schema": context,
    }
    return {name: schema for name, schema in found.items() if schema}


def context_schema_of(graph: Any) -> dict[str, Any] | None:
    """The schema of a graph's context; None if it has none."""
    return _schema(graph.get_context_jsonschema, getattr(graph, "context_schema", None))


def _schema(of_the_engine: Callable[[], dict[str, Any] | None], declared: Any) -> dict[str, Any] | None:
    """The engine's schema. If that raises (for one type, or a `TypedDict` before Python 3.12), one of each field."""
    try:
        return of_the_engine()
    except Exception:  # Types of the agent that have no schema raise whatever they like.
        with suppress(Exception):
            return _schema_of_fields(declared.__name__, _fields_of(declared))
    return None


def _state_schema(graph: Any, given: Mapping[str, Any], shown: Mapping[str, Any]) -> dict[str, Any]:
    """All channels of a state; what the types of the input and of the output say of them goes first."""
    names = getattr(graph, "stream_channels_list", ())  # Not every kind of graph has channels here.
    named = [name for name in names if name in graph.channels and not name.startswith("__")]
    if not named:
        return {**shown}
    fields = {name: (graph.channels[name].UpdateType, None) for name in named}
    channels = _schema_of_fields(graph.get_name("State"), fields)
    merged = {
        key: {name: each for part in (channels, given, shown) for name, each in part.get(key, {}).items()}
        for key in ("properties", "$defs")
    }
    return {**(shown or channels), **{key: each for key, each in merged.items() if each}}


def _fields_of(declared: Any) -> dict[str, _Field]:
    needed: frozenset[str] = getattr(declared, "__required_keys__", frozenset())
    hints = get_type_hints(declared, include_extras=True)
    return {
        name: (_unqualified(hint), ... if name in needed else None)
        for name, hint in hints.items()
        if get_origin(hint) != cast(Any, ClassVar)
    }


def _unqualified(hint: Any) -> Any:
    while get_origin(hint) in _QUALIFIERS:
        (hint,) = get_args(hint)
    return hint


def _schema_of_fields(name: str, fields: Mapping[str, _Field]) -> dict[str, Any]:
    # Models refuse some names for fields, but none for their aliases.
    known = {
        f"field_{number}": (kind if _has_schema(kind) else Any, Field(default, alias=each))
        for number, (each, (kind, default)) in enumerate(fields.items())
    }
    model: type[BaseModel] = create_model(name, **cast(Any, known))
    return model.model_json_schema()


def _has_schema(kind: Any) -> bool:
    try:
        TypeAdapter(kind).json_schema()
        return True
    except Exception:  # As above.
        return False
