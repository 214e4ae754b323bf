"""When to start the engine again after it ended, and when to say that it cannot be had. Pure: times are given in."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Ending:
    """How one engine process ended; ``refused`` when it said itself that it cannot load, with its code."""

    reason: str
    was_ready: bool
    lived_s: float = 0.0
    refused: str = ""


@dataclass(frozen=True)
class Decision:
    """Start again after ``delay_s``, or never when that is None; ``failed`` when waiting sessions must be told."""

    delay_s: float | None
    failed: bool


class RestartPolicy:
    """Backs off while the engine dies young; a process that lived for ``settled_s`` clears the record."""

    def __init__(
        self,
        delays_s: tuple[float, ...] = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0),
        patience: int = 3,
        settled_s: float = 30.0,
    ) -> None:
        """``patience``: processes in a row that never became ready before sessions are told that it failed."""
        self._delays_s = delays_s
        self._patience = patience
        self._settled_s = settled_s
        self._young = 0
        self._never_ready = 0

    def after(self, ending: Ending) -> Decision:
        if ending.refused:
            return Decision(None, failed=True)
        if ending.was_ready:
            self._never_ready = 0
            if ending.lived_s >= self._settled_s:
                self._young = 0
        else:
            self._never_ready += 1
        delay_s = self._delays_s[min(self._young, len(self._delays_s) - 1)]
        self._young += 1
        return Decision(delay_s, failed=self._never_ready >= self._patience)
