"""What the server asks of the graphs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore
from langgraph.types import StateUpdate

from .auth import Rules
from .connection import Answer, Asked
from .contexts import facts_of, problems_of
from .embeddings import Embed, embedder_for_model, embedder_of
from .http_app import HttpApp
from .in_process_client import enter_request
from .json_values import plain, to_json
from .load import LoadedGraph, MadeFor, export_of, prepare_paths
from .runs import USER, command_of, config_of, send_events, send_run, send_thread_events
from .saver import BridgeSaver, serializer
from .schemas import schemas_of
from .store import enter_store

#: Those that run the agent's nodes; all others are answered on a loop that these can't block.
RUNS = frozenset(("run", "events", "thread_events"))
#: In which the agent's code may call the server.
_MAY_CALL = RUNS | {"http", "authenticate", "decide"}
#: Those of the agent's ASGI application, which has a loop of its own from its startup to its shutdown.
APP = frozenset(("load_app", "http", "close_app"))


#: What the engine calls a graph without a name of its own.
_NO_NAME = "LangGraph"


class Operations:
    """Answers the server's requests about the graphs of one agent."""

    def __init__(self) -> None:
        self._folder = Path()
        self._graphs: dict[str, LoadedGraph] = {}
        self._rules: Rules | None = None
        self._embed: Embed | None = None
        self._app: HttpApp | None = None
        self._answers: Mapping[str, Callable[[Asked], Awaitable[Answer]]] = {
            "prepare": self._prepare,
            "load": self._load,
            "load_auth": self._load_auth,
            "load_embeddings": self._load_embeddings,
            "load_app": self._load_app,
            "http": self._http,
            "close_app": self._close_app,
            "authenticate": self._authenticate,
            "decide": self._decide,
            "embed": self._embed_texts,
            "schemas": self._schemas,
            "validate_context": self._validate_context,
            "draw": self._draw,
            "subgraphs": self._subgraphs,
            "state": self._state,
            "history": self._history,
            "update": self._update,
            "run": self._run,
            "events": self._events,
            "thread_events": self._thread_events,
            "forget": self._forget,
        }
        # Of runs without a thread, whose checkpoints nobody reads after their end.
        self._memory = InMemorySaver(serde=serializer())

    async def answer(self, asked: Asked) -> Answer:
        """The answer to one request."""
        answer = self._answers.get(asked.op)
        if answer is None:
            raise LookupError(f"This worker knows no operation {asked.op!r}.")
        if asked.op in _MAY_CALL:
            enter_request(asked)
        return await answer(asked)

    async def _prepare(self, asked: Asked) -> Answer:
        self._folder = Path(asked.args["folder"])
        prepare_paths(self._folder, asked.args["dependencies"])
        return Answer()

    async def _load(self, asked: Asked) -> Answer:
        graph_id = asked.args["graph_id"]
        loaded = self._graphs[graph_id] = LoadedGraph(graph_id, await self._export_of(asked))
        return Answer(await _facts(loaded))

    async def _load_auth(self, asked: Asked) -> Answer:
        self._rules = Rules(await self._export_of(asked))
        return Answer({"wants_body": self._rules.wants_body})

    async def _load_embeddings(self, asked: Asked) -> Answer:
        model = asked.args.get("model")
        self._embed = embedder_for_model(model) if model else embedder_of(await self._export_of(asked))
        return Answer()

    async def _load_app(self, asked: Asked) -> Answer:
        self._app = HttpApp(await self._export_of(asked), asked.args["own_paths"])
        if asked.args["starts"]:
            await self._app.start()
        return Answer({"is_mounted": self._app.is_mounted})

    async def _http(self, asked: Asked) -> Answer:
        return await _known(self._app).answer(asked)

    async def _close_app(self, asked: Asked) -> Answer:
        await _known(self._app).stop()
        return Answer()

    async def _export_of(self, asked: Asked) -> Any:
        # Without a loop around it: modules of agents run one of their own.
        return await asyncio.to_thread(export_of, asked.args["module"], asked.args["export"], self._folder)

    async def _authenticate(self, asked: Asked) -> Answer:
        return await _known(self._rules).authenticate(asked.args, asked.attachments[0] if asked.attachments else b"")

    async def _decide(self, asked: Asked) -> Answer:
        return await _known(self._rules).decide(asked.args)

    async def _embed_texts(self, asked: Asked) -> Answer:
        found = await _known(self._embed)(asked.args["texts"], asked.args["is_query"])
        return Answer(plain([[float(each) for each in one] for one in found]))

    async def _schemas(self, asked: Asked) -> Answer:
        async with self._opened(asked) as graph:
            return Answer(None, [to_json(schemas_of(graph))])

    async def _validate_context(self, asked: Asked) -> Answer:
        async with self._opened(asked) as graph:
            return Answer(problems_of(graph, asked.args["context"]))

    async def _draw(self, asked: Asked) -> Answer:
        async with self._opened(asked) as graph:
            drawn = await graph.aget_graph(config_of(asked), xray=asked.args["xray"])
            return Answer(None, [to_json(drawn.to_json())])

    async def _subgraphs(self, asked: Asked) -> Answer:
        async with self._opened(asked) as graph:
            inside = graph.aget_subgraphs(namespace=asked.args.get("namespace"), recurse=asked.args["recurse"])
            return Answer(None, [to_json({name: schemas_of(each) async for name, each in inside})])

    async def _state(self, asked: Asked) -> Answer:
        async with self._opened(asked) as graph:
            state = await graph.aget_state(config_of(asked), subgraphs=asked.args["subgraphs"])
            return Answer(None, [to_json(_shown(state))])

    async def _history(self, asked: Asked) -> Answer:
        args = asked.args
        async with self._opened(asked) as graph:
            states = graph.aget_state_history(
                config_of(asked), limit=args["limit"], before=args.get("before"), filter=args.get("filter")
            )
            async for state in states:
                await asked.event(None, [to_json(_shown(state))])
        return Answer()

    async def _update(self, asked: Asked) -> Answer:
        steps = [[_update_of(each) for each in step["updates"]] for step in asked.args["steps"]]
        async with self._opened(asked) as graph:
            reached = await graph.abulk_update_state(config_of(asked), steps)
            return Answer(None, [to_json({"configurable": reached["configurable"]})])

    async def _run(self, asked: Asked) -> Answer:
        async with self._opened(asked) as graph:
            await send_run(graph, asked)
        return Answer()

    async def _events(self, asked: Asked) -> Answer:
        async with self._opened(asked) as graph:
            await send_events(graph, asked)
        return Answer()

    async def _thread_events(self, asked: Asked) -> Answer:
        async with self._opened(asked) as graph:
            await send_thread_events(graph, asked)
        return Answer()

    async def _forget(self, asked: Asked) -> Answer:
        await self._memory.adelete_thread(asked.args["thread_id"])
        return Answer()

    @asynccontextmanager
    async def _opened(self, asked: Asked) -> AsyncIterator[Any]:
        """The graph that a request is about, with the checkpoints that belong to it."""
        loaded = self._graphs[asked.args["graph_id"]]
        in_memory = asked.args.get("in_memory", False)
        waits = asked.op not in RUNS or asked.args.get("durability") == "sync"
        saver = self._memory if in_memory else BridgeSaver(asked, waits=waits)
        store = enter_store(asked)
        config = config_of(asked)
        user = config["configurable"].get(USER)
        made_for = MadeFor(user=user, store=store, **(asked.args.get("runtime") or {}))
        async with loaded.opened(config, made_for) as graph:
            yield graph.copy({"checkpointer": saver, "store": store, "name": _name_of(graph, loaded.graph_id)})


def _name_of(graph: Any, graph_id: str) -> str:
    """The name of a run in events and traces: the graph's own, else its id."""
    return graph_id if graph.name in (None, _NO_NAME) else graph.name


_T = TypeVar("_T")


def _known(loaded: _T | None) -> _T:
    if loaded is None:
        raise LookupError("The server has not asked for this to be loaded.")
    return loaded


async def _facts(loaded: LoadedGraph) -> dict[str, Any]:
    """What the server has to know of a graph before it is used: a factory is called once, which also tries it."""
    # The store of the deployment is not open yet, and in a build there is none: this one is empty.
    made_for = MadeFor(store=InMemoryStore())
    async with loaded.opened(cast(RunnableConfig, {"configurable": {}}), made_for) as graph:
        nodes = [str(name) for name in graph.nodes]
        return {"is_factory": loaded.is_factory, "nodes": nodes, "context": facts_of(graph)}


def _update_of(given: Mapping[str, Any]) -> StateUpdate:
    values: Any = command_of(given["command"]) if "command" in given else given["values"]
    return StateUpdate(values, given.get("as_node"))


def _shown(state: Any) -> dict[str, Any]:
    """A state in the names that the server has for it."""
    return {
        "values": state.values,
        "next": list(state.next),
        "config": {"configurable": _place(state.config)},
        "parentConfig": {"configurable": _place(state.parent_config)} if state.parent_config else None,
        "metadata": state.metadata,
        "createdAt": state.created_at,
        "tasks": [_task(each) for each in state.tasks],
    }


def _task(task: Any) -> dict[str, Any]:
    shown = {"id": task.id, "name": task.name, "path": task.path, "interrupts": task.interrupts}
    if task.error is not None:
        shown["error"] = task.error
    if task.state is not None:
        shown["state"] = (
            _shown(task.state)
            if hasattr(task.state, "values") and hasattr(task.state, "next")
            else ({"configurable": _place(task.state)})
        )
    result = getattr(task, "result", None)
    return {**shown, "result": result} if result is not None else shown


def _place(config: Mapping[str, Any]) -> dict[str, Any]:
    """Where a state is, without what only the engine puts beside it."""
    return {key: each for key, each in config["configurable"].items() if not key.startswith("__")}
