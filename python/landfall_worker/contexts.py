"""The contexts that a graph takes, judged as its engine makes them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from .schemas import context_schema_of

#: What happens to names that a schema does not have.
_OTHERS_OF_MODELS = {"forbid": "refused", "allow": "taken"}


def facts_of(graph: Any) -> dict[str, Any] | None:
    """The names that a graph's contexts have, and what happens to others; None if it has no schema for them."""
    schema = _schema_of(graph)
    if schema is None:
        return None
    names = list((context_schema_of(graph) or {}).get("properties", {}))
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        return {"names": names, "others": _OTHERS_OF_MODELS.get(schema.model_config.get("extra") or "", "passed over")}
    return {"names": names, "others": "refused" if dataclasses.is_dataclass(schema) else "taken"}


def problems_of(graph: Any, context: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each value of a context for which the engine would fail the run."""
    schema = _schema_of(graph)
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        try:
            schema.model_validate(context)
        except ValidationError as error:
            return [_problem(list(each["loc"]), each["msg"], each["type"]) for each in error.errors()]
        return []
    if not dataclasses.is_dataclass(schema):
        return []
    fields = {each.name: each for each in dataclasses.fields(schema) if each.init}
    missing = [name for name, each in fields.items() if name not in context and _is_required(each)]
    unknown = [name for name in context if name not in fields]
    return [
        *(_problem([name], "Field required", "missing") for name in missing),
        *(_problem([name], f"The context has {', '.join(fields)} only", "unrecognized_keys") for name in unknown),
    ]


def _schema_of(graph: Any) -> Any:
    return getattr(graph, "context_schema", None)


def _is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _problem(path: list[Any], message: str, kind: str) -> dict[str, Any]:
    # The server's name for a value that is not there.
    return {"path": path, "message": message, "code": "invalid_type" if kind == "missing" else kind}
