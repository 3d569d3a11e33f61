"""What keeps the agent's code from being loaded."""

from __future__ import annotations


class LoadingError(Exception):
    """Something can't be loaded; the code says what, for the server's words."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.landfall_code = code
