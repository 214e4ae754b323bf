"""Puts waiting sessions' keys and values away and brings them back, as the rules of retention or a client ask.

Loop thread. What is due is decided in ``engine.retention``; here it is done. A session that has work is left alone, so
nothing is ever put away in the middle of a step; one whose client goes on is brought back before anything else runs.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

import msgspec

from sayso.engine import messages as m
from sayso.engine.errors import EngineError
from sayso.engine.faults import is_out_of_memory
from sayso.engine.parcel import Away, Vault, sweep_parent
from sayso.engine.retention import DEPTH, Tenant, moves, wait_s
from sayso.engine.runner.base import Restable
from sayso.engine.session import Session

logger = logging.getLogger(__name__)

RETRY_S = 0.05
"""A session that found no place looks again so soon."""
DISK_AGAIN_S = 60.0
"""A disk that failed is left alone for so long."""


class Ages(Protocol):
    """Who knows how long a session idles."""

    def idle_s(self, session: str) -> float: ...


class Resting:
    """``sessions`` is a live view; ``close(name, reason)`` and ``fail(session, code, text)`` end one of them."""

    def __init__(
        self,
        sessions: Mapping[str, Session],
        ages: Ages,
        clock: Callable[[], float],
        close: Callable[[str, str], None],
        fail: Callable[[Session, str, str], None],
        folder: Path,
    ) -> None:
        self.rules = m.Retention()
        self._sessions, self._ages, self._clock = sessions, ages, clock
        self._close, self._fail = close, fail
        self.vault = Vault(folder)
        self._disk_again_at: float | None = None
        """When the disk is tried again after it failed, on the loop's clock."""
        self._placeless: set[str] = set()
        """Sessions that were told that no place is free for them."""
        self._out: list[m.Message] = []
        sweep_parent(folder)

    # What a client asks.

    def park(self, name: str, tier: m.Tier) -> None:
        """Put a session away now, unless it has work."""
        session = self._sessions.get(name)
        if session is None:
            return
        if not session.rests:
            self._answer(session, "session_busy", "The session has work; it keeps what it holds until that is done.")
            return
        self._put_away(session, tier)

    def restore(self, name: str) -> None:
        """Bring a session back now; when there is no place it stays where it is."""
        session = self._sessions.get(name)
        if session is None:
            return
        if session.away is None:
            self._answer(session)
        else:
            self._bring_back(session)

    # What every round of the loop does.

    def bring_back(self) -> None:
        """Sessions whose client went on."""
        for session in [session for session in self._sessions.values() if session.away is not None and session.wanted]:
            self._bring_back(session)

    def put_away(self) -> None:
        """What the rules make due."""
        if self.rules == m.Retention():
            return
        for move in moves(self._tenants(), self._usable_rules()):
            if move.to == "closed":
                self._close(move.session, "idle_timeout")
            else:
                self._put_away(self._sessions[move.session], move.to)

    def make_place(self) -> bool:
        """Put away whoever idles longest in a place, for a session that has work; says whether one is free now."""
        seated = [each for each in self._tenants() if each.tier == "device" and each.nbytes and not each.busy]
        if not seated:
            return False
        longest = self._sessions[max(seated, key=lambda tenant: tenant.idle_s).session]
        self._put_away(longest, "host")
        return longest.away is not None

    def wait_s(self) -> float | None:
        """How long the loop may sleep before a round is needed; None is for ever."""
        if any(session.away is not None and session.wanted for session in self._sessions.values()):
            return RETRY_S
        return wait_s(self._tenants(), self._usable_rules()) if self.rules != m.Retention() else None

    def results(self) -> list[m.Message]:
        """Messages to send."""
        out, self._out = self._out, []
        return out

    def close(self) -> None:
        """Remove every file."""
        self.vault.close()

    # Inside.

    def _usable_rules(self) -> m.Retention:
        """The rules, without the disk for a while after it failed; a clock that jumped back makes that no longer."""
        if self._disk_again_at is not None and 0 < self._disk_again_at - self._clock() <= DISK_AGAIN_S:
            return msgspec.structs.replace(self.rules, hibernate_s=None)
        self._disk_again_at = None
        return self.rules

    def _tenants(self) -> list[Tenant]:
        return [self._tenant(session) for session in self._sessions.values()]

    def _tenant(self, session: Session) -> Tenant:
        stream, away = session.restable, session.away
        held = stream.holding.kv if stream is not None else 0
        nbytes = away.host_bytes + away.disk_bytes if away is not None else held
        tier: m.Tier = away.tier if away is not None else "device"
        recomputable = stream is not None and stream.recomputable
        return Tenant(session.name, tier, nbytes, self._ages.idle_s(session.name), not session.rests, recomputable)

    def _put_away(self, session: Session, tier: m.Tier) -> None:
        """To a deeper tier; a disk or a memory that is full makes it a drop, or leaves it where it is."""
        began, stream, away = time.perf_counter(), session.restable, session.away
        if stream is None:
            self._answer(session, "nothing_held", "The session holds no keys and values in the model.")
            return
        if away is not None and DEPTH[tier] <= DEPTH[away.tier]:
            self._answer(session)
            return
        if tier == "dropped" and not stream.recomputable:
            text = "Too much of the turn's audio is gone to compute it again; the session keeps what it holds."
            self._answer(session, "not_recomputable", text)
            return
        problem = ("", "")
        if tier == "dropped":
            if away is not None:
                away.discard()
            stream.forget()
            session.away = away or Away(self.vault)
        else:
            away, problem = (away, problem) if away is not None else self._pack(stream)
            session.away = away
            if tier == "disk" and away is not None and away.parcel is not None:
                problem = self._hibernate(session, away)
        self._answer(session, *problem, began=began)

    def _pack(self, stream: Restable) -> tuple[Away | None, tuple[str, str]]:
        """To host memory; where that is full it is dropped, or stays (None). Says what went wrong, as code and text."""
        try:
            return Away(self.vault, stream.pack()), ("", "")
        except Exception as error:
            if not is_out_of_memory(error):
                raise
            logger.warning("there was no host memory for a session that was to be parked")
            problem = ("out_of_memory", "There is no host memory to put the session away.")
            if not stream.recomputable:
                return None, problem
            stream.forget()
            return Away(self.vault), problem

    def _hibernate(self, session: Session, away: Away) -> tuple[str, str]:
        """To disk, else dropped, else it stays in host memory; says what went wrong, as code and text."""
        try:
            away.hibernate()
        except EngineError as error:
            logger.warning("session %s: %s", session.name, error.code)
            self._disk_again_at = self._clock() + DISK_AGAIN_S
            stream = session.restable
            if stream is not None and stream.recomputable:
                away.discard()
                stream.forget()
            return error.code, error.message
        return "", ""

    def _bring_back(self, session: Session) -> None:
        """Into a place in the model; the longest idle session makes room when there is none."""
        began, away, stream = time.perf_counter(), session.away, session.restable
        assert away is not None
        assert stream is not None
        if away.stored is not None:
            self._fetch(session, away, stream)
            if session.away is None:
                return
        try:
            self._unpack(stream, away)
        except Exception as error:
            if not self._stays_away(session, error):
                raise
            return
        session.away = None
        self._placeless.discard(session.name)
        self._answer(session, began=began)

    def _stays_away(self, session: Session, error: Exception) -> bool:
        """It could not be brought back: it waits for a place, or cannot go on. False where the fault is ours."""
        if isinstance(error, EngineError) and error.code == "session_limit":
            self._say_placeless(session)
        elif is_out_of_memory(error):
            text = "There was no memory to bring the session back; the others go on. Try again when fewer are open."
            self._fail(session, "out_of_memory", text)
        elif isinstance(error, EngineError):
            self._fail(session, error.code, error.message)
        else:
            return False
        return True

    def _say_placeless(self, session: Session) -> None:
        """Once, however often it is tried."""
        self._placeless &= self._sessions.keys()
        if session.name not in self._placeless:
            self._placeless.add(session.name)
            self._answer(session, "session_limit", "No place is free for the session; it comes back when one is.")

    def _unpack(self, stream: Restable, away: Away) -> None:
        try:
            stream.unpack(away.parcel)
        except EngineError as error:
            if error.code != "session_limit" or not self.make_place():
                raise
            stream.unpack(away.parcel)

    def _fetch(self, session: Session, away: Away, stream: Restable) -> None:
        """From the disk to host memory; what cannot be read any more is computed again, else the session fails."""
        assert away.stored is not None
        stored, away.stored = away.stored, None
        try:
            away.parcel = self.vault.fetch(stored)
        except EngineError as error:
            logger.warning("session %s: %s", session.name, error.code)
            if not stream.recomputable:
                self._fail(session, error.code, error.message)
                return
            stream.forget()

    def _answer(self, session: Session, code: str = "", message: str = "", *, began: float | None = None) -> None:
        tier: m.Tier = session.away.tier if session.away is not None else "device"
        took_ms = (time.perf_counter() - began) * 1000 if began is not None else 0.0
        self._out.append(m.Parked(session.name, tier, code, message, took_ms))
