"""What the page *Microphone* shows of a check: three seconds recorded and played back."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class CheckState(StrEnum):
    IDLE = "idle"
    OPENING = "opening"
    RECORDING = "recording"
    PLAYING = "playing"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class MicrophoneCheckView:
    state: CheckState = CheckState.IDLE
    level_db: float = -96.0
    """Of the last 50 ms while it records, in dBFS."""
    clipping: bool = False
    detail: str = ""
    """After the end: how it was, or why it failed, for people."""

    @property
    def runs(self) -> bool:
        return self.state in (CheckState.OPENING, CheckState.RECORDING, CheckState.PLAYING)
