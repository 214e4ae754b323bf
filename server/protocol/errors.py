"""Errors of the wire: what a client did that cannot be taken. Imports nothing.

Codes of upstream: invalid_json, invalid_event, invalid_audio, model_not_found, model_not_validated, unknown_event,
processing_error. Ours: invalid_frame, buffer_full, already_committed.
"""

from __future__ import annotations


class ProtocolError(Exception):
    """One message that was refused; the session goes on. ``code`` is for programs, ``str(error)`` for people."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
