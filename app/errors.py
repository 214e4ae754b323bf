"""The desktop's base exception (a code for programs, a text that tells people what to do) and its last resort."""

from __future__ import annotations

import asyncio
import traceback


class AppError(Exception):
    """Anything the desktop or the command line can fail with.

    ``code`` is stable and for programs; the text is for people, says what to do and carries no speech, key or typed
    text.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def where_from(error: BaseException) -> str:
    """What a fault is and where it came from, for the log: without its own text, which may repeat what was said."""
    trace = "".join(traceback.format_tb(error.__traceback__))
    return f"{type(error).__name__}\nTraceback (most recent call last):\n{trace}"


def report_failure(task: asyncio.Task[None]) -> None:
    """A task that nobody waits for has ended: a failure, a mistake of ours, is the event loop's to report."""
    if not task.cancelled() and (error := task.exception()) is not None:
        task.get_loop().call_exception_handler({"message": f"{task.get_name()} failed", "exception": error})
