"""The desktop's base exception (a code for programs, a text that tells people what to do) and its last resort."""

from __future__ import annotations

import asyncio


class AppError(Exception):
    """Anything the desktop or the command line can fail with.

    ``code`` is stable and for programs; the text is for people, says what to do and carries no speech, key or typed
    text.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def report_failure(task: asyncio.Task[None]) -> None:
    """A task that nobody waits for has ended: a failure, a mistake of ours, is the event loop's to report."""
    if not task.cancelled() and (error := task.exception()) is not None:
        task.get_loop().call_exception_handler({"message": f"{task.get_name()} failed", "exception": error})
