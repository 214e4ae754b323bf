"""The speech sessions of an engine as work for the scheduler. Loop thread."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence

from sayso.engine.errors import EngineError
from sayso.engine.faults import is_out_of_memory, reason
from sayso.engine.runner.base import Runner, Stream
from sayso.engine.scheduler import Work
from sayso.engine.session import Session

logger = logging.getLogger(__name__)


class SpeechWorker:
    """``sessions`` is a live view of those that are open; ``fail(session, code, message)`` ends one of them.

    ``make_place`` has an idle session give its place in the model back, and says whether one did.
    """

    def __init__(
        self,
        sessions: Mapping[str, Session],
        fail: Callable[[Session, str, str], None],
        make_place: Callable[[], bool] = lambda: False,
    ) -> None:
        self.runner: Runner | None = None
        """The model that runs the streams; the sessions were opened on it."""
        self._sessions = sessions
        self._fail = fail
        self._make_place = make_place

    def offers(self, now: float) -> list[Work]:
        return [work for session in self._sessions.values() if (work := session.offer(now)) is not None]

    def run(self, works: Sequence[Work], now: float) -> None:
        self._run([self._sessions[work.session] for work in works])

    def _run(self, sessions: list[Session]) -> None:
        """One batch. When it raises, each session runs alone, so that only those at fault fail.

        When memory ran out, the newest session fails instead: alone each would have enough, and the next step not.
        """
        assert self.runner is not None
        streams: list[Stream] = [session.stream for session in sessions if session.stream is not None]
        try:
            self.runner.run(streams)
        except Exception as error:  # a fault in a model is reported to its session below; the engine lives
            if is_out_of_memory(error):
                self._refuse_newest(sessions)
                return
            if len(sessions) > 1:
                for session in sessions:
                    self._run([session])
                return
            if isinstance(error, EngineError) and error.code == "session_limit" and self._make_place():
                self._run(sessions)
                return
            logger.exception("a step failed")
            code = error.code if isinstance(error, EngineError) else "inference_failed"
            self._fail(sessions[0], code, f"The speech model failed on this session: {reason(error)}")

    def _refuse_newest(self, sessions: list[Session]) -> None:
        opened = list(self._sessions)
        newest = max(sessions, key=lambda session: opened.index(session.name))
        logger.warning("a step of %d sessions ran out of memory", len(sessions))
        text = "There was no memory for this session; the others go on. Try again when fewer are open."
        self._fail(newest, "out_of_memory", text)
        if others := [session for session in sessions if session is not newest]:
            self._run(others)
