"""Notices when the sound server's microphones change, without asking for all of them each time.

Every call is made on the sound thread (``capture``). The server is heard out for a millisecond and never waited for.
"""

from __future__ import annotations

import contextlib
from typing import Any

_HEAR_OUT_S = 0.001
"""pulsectl takes a time of 0 for one without an end."""


class SourceWatch:
    """One connection to the sound server, made when it is first needed and again after the server was away."""

    def __init__(self) -> None:
        self._server: Any = None
        self._changed = False

    def has_changed(self) -> bool:
        """Whether a microphone or the default may be another since the last call; True where nobody can tell."""
        if self._server is None:
            self._connect()
            return True
        import pulsectl

        self._changed = False
        try:
            self._server.event_listen(_HEAR_OUT_S)
        except (pulsectl.PulseError, pulsectl.PulseDisconnected):
            self.close()
            return True
        return self._changed

    def close(self) -> None:
        """End the connection; the next question makes another."""
        server, self._server = self._server, None
        if server is not None:
            server.close()

    def _connect(self) -> None:
        """Subscribe to what happens to sources and to the default, if there is a server to ask."""
        try:
            import pulsectl
        except ImportError:
            return
        server = pulsectl.Pulse("sayso", connect=False)
        with contextlib.suppress(pulsectl.PulseError):
            server.connect(autospawn=False)
            server.event_mask_set("source", "server")
            server.event_callback_set(self._note)
            self._server = server
            return
        server.close()

    def _note(self, event: object) -> None:
        self._changed = True
