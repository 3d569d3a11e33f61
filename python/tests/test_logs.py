import logging

import pytest

from landfall_worker import logs


@pytest.mark.parametrize(
    ("metadata", "place"),
    [
        ({"run_id": "r", "thread_id": "t", "langgraph_node": "n"}, {"run_id": "r", "thread_id": "t", "node": "n"}),
        # Of the caller.
        ({"run_id": 5, "thread_id": ["t"], "langgraph_node": "n"}, {"node": "n"}),
    ],
)
def test_an_entry_says_where_it_is_from(monkeypatch, metadata, place):
    monkeypatch.setattr(logs, "get_config", lambda: {"metadata": metadata})
    sent = []
    logs.ServerLog(sent.append).emit(logging.LogRecord("agent", logging.INFO, "agent.py", 1, "tea", None, None))
    assert sent == [{"level": "info", "logger": "agent", "message": "tea", **place}]
