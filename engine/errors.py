"""Errors of the engine: one base class, a code for programs and a text that tells people what to do.

Imports nothing, so every part of the engine and the server's side of the pipe may use it.
"""

from __future__ import annotations


class EngineError(Exception):
    """Something the engine could not do; ``code`` is for programs, ``str(error)`` for people."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class FramingError(EngineError):
    """Bytes on the pipe that are not a message: the stream cannot be read any further."""


class SessionError(EngineError):
    """A fault of one session, such as audio that cannot be read; the other sessions are not touched."""
