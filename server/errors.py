"""The server's own errors: one base class, a code for programs and a text that tells people what to do."""

from __future__ import annotations


class ServerError(Exception):
    """Something the server could not do; ``code`` is for programs, ``str(error)`` for people."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class EngineUnavailableError(ServerError):
    """The engine cannot transcribe, and waiting longer will not change that."""
