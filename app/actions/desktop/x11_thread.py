"""A thread that owns a connection to X: it handles events as they come, and does what others ask of it in between."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future

import xcffib

from sayso.app.actions.desktop.base import check
from sayso.app.actions.desktop.x11_events import X11Events
from sayso.app.actions.errors import ActionError

log = logging.getLogger(__name__)


class X11Thread:
    """Ends when ``end`` is called in it, or with the display."""

    def __init__(
        self,
        events: X11Events,
        name: str,
        after_events: Callable[[], None],
        due: Callable[[], float | None] = lambda: None,
    ) -> None:
        """``after_events`` runs in the thread after each job and ``stir``, and at ``due`` (``time.monotonic``)."""
        self._events = events
        self._after_events = after_events
        self._due = due
        self._jobs: deque[tuple[Callable[[], None], Future[None]]] = deque()
        self._stirred = False
        self._ended = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    @property
    def alive(self) -> bool:
        return self._thread.is_alive() and not self._ended

    def do(self, work: Callable[[], None], halt: threading.Event) -> None:
        """Run ``work`` in the thread and return when it is done; its ActionError is the caller's."""
        future: Future[None] = Future()
        self._jobs.append((work, future))
        self._events.wake()
        while not future.done():
            check(halt)
            if not self.alive and not future.done():
                raise _lost_display()
            with contextlib.suppress(TimeoutError):
                future.result(0.05)
        future.result()

    def post(self, work: Callable[[], None]) -> None:
        """Run ``work`` in the thread some time, before what is asked of it later."""
        self._jobs.append((work, Future()))
        self._events.wake()

    def join(self, seconds: float) -> None:
        self._thread.join(seconds)

    # In the thread.

    def stir(self) -> None:
        """Run ``after_events`` once the events that have come are handled."""
        self._stirred = True

    def end(self) -> None:
        self._ended = True

    def _run(self) -> None:
        try:
            while not self._ended:
                self._events.pump(lambda: bool(self._jobs) or self._stirred, self._due())
                self._stirred = False
                while self._jobs:
                    _run_job(*self._jobs.popleft())
                self._after_events()
        except xcffib.ConnectionException:
            log.warning("the thread %s has ended: the display is gone", self._thread.name)
        finally:
            self._ended = True
            self._events.close()


def _run_job(work: Callable[[], None], future: Future[None]) -> None:
    try:
        work()
    except xcffib.ConnectionException:
        future.set_exception(_lost_display())
        raise
    except xcffib.Error as error:
        future.set_exception(ActionError("display_refused", f"The display refused that ({type(error).__name__})."))
    except ActionError as error:
        future.set_exception(error)
    else:
        future.set_result(None)


def _lost_display() -> ActionError:
    return ActionError("display_lost", "The display does not answer any more. If the session still runs, say it again.")
