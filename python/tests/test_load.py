import asyncio
import importlib.util
import sys
from pathlib import Path

import pytest

from landfall_worker.load import LoadedGraph, MadeFor, export_of, prepare_paths, true_name
from landfall_worker.loading_error import LoadingError

#: That of langgraph 0.6 has none.
SDK_HAS_RUNTIMES = importlib.util.find_spec("langgraph_sdk.runtime") is not None

GRAPH = """
from typing import TypedDict
from langgraph.graph import START, StateGraph

class State(TypedDict):
    notes: list[str]

builder = StateGraph(State)
builder.add_node("greet", lambda state: state)
builder.add_edge(START, "greet")
graph = builder.compile()
"""


@pytest.fixture
def agent(tmp_path, monkeypatch):
    """Writes the files of an agent; what is imported of them is forgotten after the test."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)

    def write(files: dict[str, str]) -> Path:
        for name, text in files.items():
            file = tmp_path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        importlib.invalidate_caches()
        return tmp_path

    yield write
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def load(folder: Path, module: str, export: str = "graph", dependencies=(".",)) -> LoadedGraph:
    prepare_paths(folder, dependencies)
    return LoadedGraph("g", export_of(module, export, folder))


def only_module_of(file: Path) -> str:
    names = [name for name, each in sys.modules.items() if getattr(each, "__file__", None) == str(file)]
    assert len(names) == 1
    return names[0]


PACKAGE = {
    "src/tea_shop/__init__.py": "",
    "src/tea_shop/graph.py": "from .state import State\n"
    + GRAPH.replace("class State(TypedDict):\n    notes: list[str]", ""),
    "src/tea_shop/state.py": "from typing import TypedDict\n\nclass State(TypedDict):\n    notes: list[str]\n",
}


@pytest.mark.parametrize("module", ["./src/tea_shop/graph.py", "src/tea_shop/graph.py", "tea_shop.graph"])
def test_imports_a_file_of_a_package_by_its_true_name(agent, module):
    folder = agent(PACKAGE)
    assert not load(folder, module).is_factory
    assert only_module_of(folder / "src/tea_shop/graph.py") == "tea_shop.graph"
    graph, state = importlib.import_module("tea_shop.graph"), importlib.import_module("tea_shop.state")
    assert graph.State is state.State


def test_imports_a_file_once_that_two_graphs_share(agent):
    folder = agent({"agent.py": GRAPH, "other.py": "from agent import graph as graph\n"})
    load(folder, "./agent.py")
    load(folder, "./other.py")
    assert only_module_of(folder / "agent.py") == "agent"


def test_imports_the_package_of_a_file_that_lies_elsewhere(agent):
    folder = agent({f"shop/{name}": text for name, text in PACKAGE.items()} | {"app/x.py": ""})
    assert not load(folder / "app", "../shop/src/tea_shop/graph.py").is_factory
    assert only_module_of(folder / "shop/src/tea_shop/graph.py") == "tea_shop.graph"


def test_finds_modules_of_local_packages(agent):
    folder = agent({"app/agent.py": "from shared import graph\n", "libs/tea/src/shared.py": GRAPH})
    assert not load(folder / "app", "./agent.py", dependencies=[".", "../libs/tea", "langchain"]).is_factory


@pytest.mark.parametrize("name", ["json.py", "my-agent.py", "agents/1/agent.py"])
def test_loads_a_file_that_has_no_name_of_its_own(agent, name):
    folder = agent({name: GRAPH})
    assert not load(folder, f"./{name}").is_factory
    assert only_module_of(folder / name) != "json"


@pytest.mark.parametrize(
    ("file", "packages", "expected"),
    [
        ("agent.py", [], "agent"),
        ("agents/tea/graph.py", [], "agents.tea.graph"),
        ("src/graph.py", [], "graph"),
        ("src/tea/graph.py", ["src/tea"], "tea.graph"),
        ("src/tea/graph.py", ["src/tea", "src"], "src.tea.graph"),
        ("tea/deep/graph.py", ["tea", "tea/deep"], "tea.deep.graph"),
        ("my-agent/graph.py", [], None),
    ],
)
def test_true_names(tmp_path, file, packages, expected):
    for each in packages:
        (tmp_path / each).mkdir(parents=True, exist_ok=True)
        (tmp_path / each / "__init__.py").touch()
    assert true_name(tmp_path / file, ["", str(tmp_path), str(tmp_path / "src")])[1] == expected


MAKERS = """
from contextlib import asynccontextmanager, contextmanager
from langchain_core.runnables import RunnableConfig

given = []

def without():
    return graph

def with_config(config: RunnableConfig):
    given.append(config)
    return builder

def with_default(config=None):
    given.append(config)
    return graph

def with_own_default(config, model="large"):
    given.append(model)
    return graph

def with_runtime(config: RunnableConfig, runtime):
    given.append(runtime.access_context)
    return graph

async def awaited(config):
    return graph

@asynccontextmanager
async def opened(config):
    yield graph
    given.append("closed")

@contextmanager
def opened_at_once():
    yield graph
    given.append("closed")
"""


@pytest.mark.parametrize(
    ("export", "given"),
    [
        ("without", []),
        ("with_config", [{"configurable": {"model": "small"}}]),
        ("with_default", [{"configurable": {"model": "small"}}]),
        ("with_own_default", ["large"]),
        ("with_runtime", ["assistants.read"]),
        ("awaited", []),
        ("opened", ["closed"]),
        ("opened_at_once", ["closed"]),
    ],
)
def test_opens_what_a_factory_makes(agent, export, given):
    loaded = load(agent({"agent.py": GRAPH + MAKERS}), "./agent.py", export)
    assert loaded.is_factory

    async def use():
        async with loaded.opened({"configurable": {"model": "small"}}, MadeFor()) as graph:
            return list(graph.nodes)

    if export == "with_runtime" and not SDK_HAS_RUNTIMES:
        with pytest.raises(ImportError, match="runtime"):
            asyncio.run(use())
        return
    assert asyncio.run(use()) == ["__start__", "greet"]
    assert sys.modules["agent"].given == given


def test_refuses_what_a_factory_makes_if_it_is_no_graph(agent):
    loaded = load(agent({"agent.py": "def make():\n    return 1\n"}), "./agent.py", "make")

    async def use():
        async with loaded.opened({}, MadeFor()):
            pass

    with pytest.raises(LoadingError) as raised:
        asyncio.run(use())
    assert raised.value.landfall_code == "not-a-graph"


@pytest.mark.parametrize("export", ["graph", "builder"])
def test_compiles_a_builder_and_takes_a_graph_as_it_is(agent, export):
    loaded = load(agent({"agent.py": GRAPH}), "./agent.py", export)
    assert not loaded.is_factory
    assert list(loaded._exported.nodes) == ["__start__", "greet"]


@pytest.mark.parametrize(
    ("module", "export", "code", "message"),
    [
        ("./missing.py", "graph", "file-missing", "./missing.py"),
        ("./agent.py", "missing", "export-missing", ".*graph, number"),
        ("./agent.py", "number", "not-a-graph", "int"),
    ],
)
def test_says_with_a_code_why_a_graph_is_not_loaded(agent, module, export, code, message):
    folder = agent({"agent.py": GRAPH + "number = 1\n"})
    with pytest.raises(LoadingError, match=message) as raised:
        load(folder, module, export)
    assert raised.value.landfall_code == code


def test_passes_on_what_the_agent_raises(agent):
    folder = agent({"agent.py": "raise RuntimeError('no key')\n"})
    with pytest.raises(RuntimeError, match="no key"):
        load(folder, "./agent.py")
