"""Notices an engine that hangs: it owes an answer, and nothing at all has come from it for too long. Pure.

Any message counts as a sign of life, since a long batch of other sessions may rightly delay one answer.
"""

from __future__ import annotations

from sayso.engine import messages


class Watchdog:
    def __init__(self, silence_s: float = 30.0, load_s: float = 900.0) -> None:
        """``silence_s``: how long the engine may be silent while it owes an answer.

        ``load_s``: how long loading may take; long, since a model may have to be fetched first.
        """
        self._silence_s = silence_s
        self._load_s = load_s
        self._owed: dict[tuple[str, int], float] = {}
        self._heard_s = 0.0
        self._loading_since_s: float | None = None

    def sent(self, message: messages.Down, now_s: float) -> None:
        match message:
            case messages.Load():
                self._owed.clear()
                self._heard_s = now_s
                self._loading_since_s = now_s
            case messages.Unload():
                # Its sessions end with the weights, and nothing is asked of it until the next load.
                self._owed.clear()
            case messages.Open():
                self._owed[message.session, 0] = now_s
            case messages.Flush():
                self._owed[message.session, message.marker] = now_s
            case messages.Ping():
                self._owed["", message.number] = now_s
            case messages.Cancel() | messages.Close():
                self._forget(message.session)

    def heard(self, message: messages.Up, now_s: float) -> None:
        self._heard_s = now_s
        match message:
            case messages.Ready():
                self._loading_since_s = None
            case messages.Opened():
                self._owed.pop((message.session, 0), None)
            case messages.Flushed():
                self._owed.pop((message.session, message.marker), None)
            case messages.Pong():
                self._owed.pop(("", message.number), None)
            case messages.Refused() | messages.Closed() | messages.Failed() if message.session is not None:
                self._forget(message.session)

    @property
    def waits(self) -> bool:
        """Whether the engine loads or owes an answer."""
        return self._loading_since_s is not None or bool(self._owed)

    def overdue(self, now_s: float) -> str:
        """Why the engine must be ended, or nothing."""
        if self._loading_since_s is not None and now_s - self._loading_since_s > self._load_s:
            return f"The engine did not become ready within {self._load_s:g} seconds."
        oldest_s = min(self._owed.values(), default=now_s)
        if now_s - max(oldest_s, self._heard_s) > self._silence_s:
            return f"The engine did not answer for {self._silence_s:g} seconds."
        return ""

    def _forget(self, session: str) -> None:
        for key in [key for key in self._owed if key[0] == session]:
            del self._owed[key]
