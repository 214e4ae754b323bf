"""The windows' base exception: a code for programs, a text that tells people what to do."""

from __future__ import annotations


class UiError(Exception):
    """Anything the windows can fail with; ``code`` is stable, the text is for people."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
