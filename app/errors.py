"""The desktop's base exception: a code for programs, a text that tells people what to do."""

from __future__ import annotations


class AppError(Exception):
    """Anything the desktop or the command line can fail with.

    ``code`` is stable and for programs; the text is for people, says what to do and carries no speech, key or typed
    text.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
