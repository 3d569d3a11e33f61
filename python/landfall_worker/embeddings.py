"""Embeddings of texts, by the agent's own code or by a model that its packages know."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from .loading_error import LoadingError

#: Embeds texts; the second argument says whether they are a query.
Embed = Callable[[list[str], bool], Awaitable[Any]]


def embedder_of(exported: Any) -> Embed:
    """How an export embeds: it is a function of texts, or has the methods of LangChain's embeddings.

    Raises:
        LoadingError: it is neither.
    """
    if all(hasattr(exported, name) for name in ("embed_documents", "embed_query")):
        return lambda texts, is_query: _by_methods(exported, texts, is_query)
    if callable(exported):
        return lambda texts, _: _by_function(exported, texts)
    raise LoadingError("embed-no-embeddings", f"It is a {type(exported).__name__}.")


def embedder_for_model(model: str) -> Embed:
    """The embeddings of `provider:model`, by LangChain.

    Raises:
        LoadingError: the agent's packages have none for it, or it is no model that LangChain knows.
    """
    try:
        from langchain.embeddings import init_embeddings

        return embedder_of(init_embeddings(model))
    except ImportError as error:
        raise LoadingError("embed-package-missing", str(error)) from error
    except ValueError as error:
        raise LoadingError("embed-no-embeddings", str(error)) from error


async def _by_methods(embeddings: Any, texts: list[str], is_query: bool) -> Any:
    name, argument = ("embed_query", texts[0]) if is_query else ("embed_documents", texts)
    method = getattr(embeddings, f"a{name}", None)
    found = await method(argument) if method else await asyncio.to_thread(getattr(embeddings, name), argument)
    return [found] if is_query else found


async def _by_function(function: Any, texts: list[str]) -> Any:
    if inspect.iscoroutinefunction(function):
        return await function(texts)
    found = await asyncio.to_thread(function, texts)
    return await found if inspect.isawaitable(found) else found
