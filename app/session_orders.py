"""What a server is asked to do with one of its sessions: close it, or put away what its engine holds. Event loop.

A server only passes the wish on to its engine, which leaves a session alone that has work; so the list of sessions is
looked at until it shows what came of it, and the wish is repeated for a while.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from sayso.app.errors import AppError
from sayso.app.memory_view import Place, SessionRow
from sayso.app.server_reports import ServerReports, SessionReport

PATIENCE_S = 6.0
"""A server's figures are a second old at most; the rest is for a session that finishes its work."""
_LOOK_EVERY_S = 0.25
_LOOKS = 6
"""Before the wish is repeated: enough for the list to show what came of it."""
KEPT_WORDS = {
    Place.HOST: "The session keeps its memory: it has work just now.",
    Place.DISK: "The session keeps its memory: it has work just now, or there is no room on the disk.",
    Place.DROPPED: "The session keeps its memory: it has work just now, or too much of its sound is gone to compute "
    "it again.",
}


class KeptError(AppError):
    """Codes: session_kept."""


class SessionOrders:
    """Asks the server that ``reports`` gives at that moment; with none there is no session to ask about."""

    def __init__(self, reports: Callable[[], ServerReports | None], patience_s: float = PATIENCE_S) -> None:
        self._reports = reports
        self._patience_s = patience_s

    async def close(self, session: str) -> None:
        """Its open turn is finished first. Raises ReportError."""
        reports = self._reports()
        if reports is not None:
            await reports.close_session(session)

    async def put_away(self, session: str, place: Place) -> None:
        """Return when it is there, or deeper, or gone. Raises ReportError, and KeptError when it stays where it is."""
        reports = self._reports()
        if reports is None:
            return
        try:
            async with asyncio.timeout(self._patience_s):
                while True:
                    await reports.park_session(session, place)
                    for _ in range(_LOOKS):
                        if _is_away(await reports.sessions(), session, place):
                            return
                        await asyncio.sleep(_LOOK_EVERY_S)
        except TimeoutError as error:
            raise KeptError("session_kept", KEPT_WORDS[place]) from error


def _is_away(reports: tuple[SessionReport, ...], session: str, place: Place) -> bool:
    return all(place not in session_row(each, own=False).deeper for each in reports if each.id == session)


def session_row(report: SessionReport, *, own: bool) -> SessionRow:
    """A session as the page shows it; ``own``: it is this desktop's."""
    held = report.held
    resting = report.engine_state if report.engine_state in ("parked", "hibernated", "dropped") else ""
    state = "disconnected" if not report.connected else resting or report.state
    audio = held.audio + held.features + held.server
    return SessionRow(report.id, state, report.idle_s, report.age_s, held.kv, held.kv_host, held.kv_disk, audio, own)
