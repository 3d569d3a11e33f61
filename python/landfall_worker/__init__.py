"""Holds the graphs of an agent in Python, for the agent server (docs/design/python-worker.md)."""
