"""Finds the graphs of an agent by the paths of its configuration file."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from langchain_core.runnables import RunnableConfig

from .loading_error import LoadingError


@dataclass(frozen=True)
class MadeFor:
    """Why a factory is called."""

    access: str = "assistants.read"
    context: Any = None
    user: Any = None
    store: Any = None


class LoadedGraph:
    """One graph of the configuration, which a factory may make anew for each use."""

    def __init__(self, graph_id: str, exported: Any) -> None:
        self.graph_id = graph_id
        self.is_factory = callable(exported) and not _is_graph(exported) and not _is_builder(exported)
        self._exported = exported if self.is_factory else _compiled(exported, graph_id)

    @asynccontextmanager
    async def opened(self, config: RunnableConfig, made_for: MadeFor) -> AsyncIterator[Any]:
        """The compiled graph for one use."""
        async with AsyncExitStack() as stack:
            if not self.is_factory:
                yield self._exported
                return
            made = _call(self._exported, config, made_for)
            if inspect.isawaitable(made):
                made = await made
            if hasattr(made, "__aenter__"):
                made = await stack.enter_async_context(made)
            elif hasattr(made, "__enter__") and not _is_graph(made):
                made = stack.enter_context(made)
            yield _compiled(made, self.graph_id)


def prepare_paths(folder: Path, dependencies: Sequence[str]) -> None:
    """Lets modules of the configuration's folder and of its local packages be imported, before installed ones."""
    local = [folder / each for each in dependencies if each.startswith(".")]
    for place in reversed([folder, *local]):
        source = place / "src"
        for path in (str(place.resolve()), *([str(source.resolve())] if source.is_dir() else [])):
            if path not in sys.path:
                sys.path.insert(0, path)


def export_of(module: str, export: str, folder: Path) -> Any:
    """What a module of the agent, or a file of it, exports.

    Raises:
        LoadingError: there is none; what the agent's code raises itself passes through.
    """
    loaded = _module_of(module, folder)
    if not hasattr(loaded, export):
        names = sorted(name for name in vars(loaded) if not name.startswith("_"))
        raise LoadingError("export-missing", ", ".join(names))
    return getattr(loaded, export)


def _module_of(path: str, folder: Path) -> ModuleType:
    if "/" not in path and not path.endswith(".py"):
        return importlib.import_module(path)
    file = (folder / path).resolve()
    if not file.is_file():
        raise LoadingError("file-missing", path)
    module = _imported(file)
    if module is not None:
        return module
    # Another module has its name: it gets one of its own.
    own = re.sub(r"\W", "_", str(file.relative_to(folder) if file.is_relative_to(folder) else file.name))
    spec = importlib.util.spec_from_file_location(own, file)
    if spec is None or spec.loader is None:
        raise LoadingError("file-missing", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[own] = module
    spec.loader.exec_module(module)
    return module


def _imported(file: Path) -> ModuleType | None:
    """A file as the agent's own code imports it; None where another module has its name."""
    root, name = true_name(file, sys.path)
    if name is None:
        return None
    if str(root) not in sys.path:
        sys.path.append(str(root))
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        # What the file itself imports is missing, unless it is one of the packages around the file.
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        return None
    found = getattr(module, "__file__", None)
    return module if found is not None and Path(found).resolve() == file else None


def true_name(file: Path, paths: Sequence[str]) -> tuple[Path, str | None]:
    """Where the agent's own code imports a file from, and its dotted name: that of its package, else below a path."""
    root = file.parent
    while (root / "__init__.py").is_file():
        root = root.parent
    if root == file.parent:
        above = [Path(each).resolve() for each in paths if each and file.is_relative_to(Path(each).resolve())]
        root = max(above, key=lambda each: len(each.parts), default=root)
    parts = file.relative_to(root).with_suffix("").parts
    return root, ".".join(parts) if all(part.isidentifier() for part in parts) else None


def _is_graph(value: Any) -> bool:
    return all(hasattr(value, name) for name in ("astream", "aget_state", "copy"))


def _is_builder(value: Any) -> bool:
    return hasattr(value, "compile") and hasattr(value, "add_node")


def _compiled(value: Any, graph_id: str) -> Any:
    graph = value.compile() if _is_builder(value) else value
    if not _is_graph(graph):
        raise LoadingError("not-a-graph", type(value).__name__)
    return graph


def _call(factory: Any, config: RunnableConfig, made_for: MadeFor) -> Any:
    """Calls a factory with what it takes: nothing, a configuration, what it is called for, or both."""
    parameters = inspect.signature(factory).parameters.values()
    places = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    # What has a default is the agent's own, unless its name says otherwise, or there is nothing else.
    named = [each for each in parameters if each.name == "config" or _takes_runtime(each)]
    required = [each for each in places if each.default is each.empty]
    only = places if len(places) == 1 else []
    given = {each.name: each for each in (*required, *only, *named)}
    values = {name: runtime_of(made_for) if _takes_runtime(each) else config for name, each in given.items()}
    bound = [values.pop(each.name) for each in places if each.kind is each.POSITIONAL_ONLY and each.name in values]
    return factory(*bound, **values)


def _takes_runtime(parameter: inspect.Parameter) -> bool:
    return parameter.name == "runtime" or "ServerRuntime" in str(parameter.annotation)


def runtime_of(made_for: MadeFor) -> Any:
    """What the agent's own SDK has for it.

    Raises:
        ImportError: that has none.
    """
    from langgraph_sdk import runtime

    common = {"access_context": made_for.access, "user": made_for.user, "store": made_for.store}
    if made_for.access == "threads.create_run":
        return runtime._ExecutionRuntime(**common, context=made_for.context)
    return runtime._ReadRuntime(**common)
