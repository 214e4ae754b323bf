"""Faults between the desktop and a server."""

from __future__ import annotations

from sayso.app.errors import AppError

ROTATED = "session_expired"
"""The code of a connection that lasted as long as its server lets it: nothing is wrong, another one follows at once."""


class RealtimeError(AppError):
    """Codes: bad_url, name_not_found, refused, unreachable, timed_out, tls, tls_needed, tls_not_spoken and those of
    ``certificates``, unauthorised, forbidden, wrong_path, not_realtime, rejected, model_not_found, closed, stalled,
    failed.

    ``lasting`` is true where only the user or the server's owner can help, so that quick retries are of no use.
    """

    def __init__(self, code: str, message: str, lasting: bool = False) -> None:
        super().__init__(code, message)
        self.lasting = lasting
