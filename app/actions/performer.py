"""Runs commands, one at a time, each with a time limit, on the event loop's side of one worker thread.

Actions block (X11, the sound server, starting programs), so each runs in a thread while the loop goes on. When it takes
too long or is cancelled it is told to stop; if it waits for a display that does not answer, the connection is cut.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from sayso.app.actions.base import Action, Done, Job, Outcome, Receipt, UndoToken, target_window
from sayso.app.actions.desktop.base import Backend, Window
from sayso.app.actions.errors import ActionError
from sayso.app.actions.typing import Typist, typed_as_done
from sayso.app.actions.undo import UndoLog
from sayso.app.commands.matching import Match
from sayso.app.commands.names import Names
from sayso.app.errors import where_from

log = logging.getLogger(__name__)

Result = TypeVar("Result")

TIMEOUT_S = 20.0
_STOP_S = 2.0
"""How long an action that was told to stop may take before its connection is cut, and after that again."""
TYPED_TITLE = "Type what was said"


class Performer:
    """Performs matches and takes them back. All methods belong to one event loop."""

    def __init__(
        self,
        actions: Iterable[Action],
        backend: Backend,
        typist: Typist,
        undo: UndoLog,
        own_pid: int,
        timeout_s: float = TIMEOUT_S,
        announce: Callable[[str], None] | None = None,
    ) -> None:
        self._actions = {action.family: action for action in actions}
        self._backend = backend
        self._typist = typist
        self._undo = undo
        self._own_pid = own_pid
        self._timeout_s = timeout_s
        self._announce = announce
        self._turn = asyncio.Lock()
        self._names = Names()
        self._unfinished: asyncio.Future[Any] | None = None

    def performs(self, match: Match) -> bool:
        """False for what the assistant does itself: listening and modes."""
        return match.command.family in self._actions

    def describe(self, match: Match) -> str:
        """What a match will do, in words for people."""
        action = self._actions.get(match.command.family)
        return match.title if action is None else action.describe(match)

    async def perform(self, match: Match, target: Window | None = None) -> Outcome:
        """Do what was said and tell what came of it; ActionError where it was refused or failed.

        ``target`` is the window that was meant when the speaker began, from ``target()``.
        """
        action = self._actions.get(match.command.family)
        if action is None:
            raise ActionError("not_an_action", f"“{match.title}” is nothing that acts on the computer.")
        title = action.describe(match)
        return await self._run(title, match.intent, lambda halt: action.perform(Job(match, halt, target)))

    async def type(self, text: str, target: Window | None = None) -> Outcome:
        """Type dictated text, set off by a space from the dictation before it in the same window."""
        return await self._run(
            TYPED_TITLE,
            "dictation",
            lambda halt: typed_as_done(self._typist, self._typist.type(text, target, halt, joined=True)),
        )

    async def undo(self, token: UndoToken) -> Outcome:
        """Take an action back; ActionError where it is too late."""
        entry = self._undo.get(token)
        if entry is None:
            raise ActionError("undo_gone", "That can no longer be undone.")
        return await self._run(f"Undo: {token.title}", "undo", lambda halt: self._undo.revert(entry, halt))

    def can_undo(self, token: UndoToken) -> bool:
        """Whether an action can be taken back, perhaps after a try that failed."""
        return self._undo.get(token) is not None

    async def announce(self, title: str) -> None:
        """Show a message on the desktop, where it has a service for that; the feed shows it in any case."""
        show = self._announce
        if show is None:
            return
        try:
            await self._in_thread(lambda halt: show(title))
        except ActionError as error:
            log.info("not announced: %s", error.code)

    async def target(self) -> Window | None:
        """The window that keys and text are meant for now; None where there is none or none can be seen."""
        try:
            return await self._in_thread(lambda halt: target_window(self._backend, self._own_pid))
        except ActionError as error:
            log.debug("no target window: %s", error.code)
            return None

    async def names(self) -> Names:
        """Applications and windows that commands can name now, for ``match``.

        While an action runs, those known before: matching must not wait for it.
        """
        if not self._turn.locked():
            try:
                self._names = await self._in_thread(
                    lambda halt: Names(thing for action in self._actions.values() for thing in action.names())
                )
            except ActionError as error:
                log.info("names not renewed: %s", error.code)
        return self._names

    async def close(self) -> None:
        """Stop what runs and give up the connection to the desktop."""
        self._backend.interrupt()
        async with self._turn:
            # It hands the clipboard over, which may take a moment.
            await asyncio.to_thread(self._backend.disconnect)

    async def _run(self, title: str, kind: str, call: Callable[[threading.Event], Done]) -> Outcome:
        try:
            done = await self._in_thread(call)
        except ActionError as error:
            log.info("action %s refused: %s", kind, error.code)
            raise
        log.info("action %s: %s", kind, done.receipt)
        token = self._undo.add(done.title or title, done.revert, done.made) if done.revert is not None else None
        return Outcome(done.title or title, done.detail, done.receipt, token, done.undone)

    async def _in_thread(self, call: Callable[[threading.Event], Result]) -> Result:
        async with self._turn:
            if self._unfinished is not None and not self._unfinished.done():
                raise ActionError("busy", "An earlier action still waits for the desktop. Try again in a moment.")
            halt = threading.Event()
            running = asyncio.ensure_future(asyncio.to_thread(_foreseen, call, halt))
            self._unfinished = running
            try:
                async with asyncio.timeout(self._timeout_s):
                    return await asyncio.shield(running)
            except (TimeoutError, asyncio.CancelledError) as error:
                await self._stop(running, halt)
                if isinstance(error, asyncio.CancelledError):
                    raise
                raise ActionError(
                    "timed_out", f"It took longer than {self._timeout_s:g} seconds and was stopped."
                ) from error

    async def _stop(self, running: asyncio.Future[Any], halt: threading.Event) -> None:
        """Make a worker thread end; its result is of no interest any more."""
        halt.set()
        done, _ = await asyncio.wait({running}, timeout=_STOP_S)
        if not done:
            self._backend.interrupt()
            done, _ = await asyncio.wait({running}, timeout=_STOP_S)
        if not done:
            log.warning("an action did not stop within %g seconds", 2 * _STOP_S)
            running.add_done_callback(lambda future: future.cancelled() or future.exception())
        elif not running.cancelled():
            running.exception()


def _foreseen(call: Callable[[threading.Event], Result], halt: threading.Event) -> Result:
    """The call's result; a fault that no family foresaw is told as one of the action. In the worker thread."""
    try:
        return call(halt)
    except ActionError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, the action must be seen to have failed.
        log.error("an action failed: %s", where_from(error))
        raise ActionError("fault", "Something went wrong inside Sayso; see the log.") from None


__all__ = ["Outcome", "Performer", "Receipt", "UndoToken"]
