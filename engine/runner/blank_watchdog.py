"""Notices when the model writes nothing over real speech, and helps it out. Pure.

Voxtral can fall into a rut: it gives out "nothing to say" for minutes while somebody speaks, because its own output is
its next input. Silences last up to about 165 positions (13 s). After a longer run in which the voice detector heard
speech, the score of that token is lowered a little more with every position, up to a bound: in a rut other tokens are 3
to 7 below it, in real silence more than 8.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RutOptions:
    """Counts are positions of 80 ms, penalties are differences of scores."""

    patience: int = 200
    voiced_frames: int = 60
    """Speech frames of the voice detector (32 ms each) in the run: about 2 s."""
    growth: float = 0.1
    bound: float = 7.0


class BlankWatchdog:
    """One for each turn; ``penalty`` is what the next scores of the pad token are lowered by."""

    def __init__(self, options: RutOptions | None = None) -> None:
        self._options = options or RutOptions()
        self._run = 0
        self._voiced_before = 0
        self.penalty = 0.0

    @property
    def alarmed(self) -> bool:
        return self.penalty > 0.0

    def push(self, *, blank: bool, voiced_frames: int) -> None:
        """The next token, and how many frames with speech the turn had up to now."""
        if not blank:
            self._run, self._voiced_before, self.penalty = 0, voiced_frames, 0.0
            return
        self._run += 1
        options = self._options
        if self._run > options.patience and voiced_frames - self._voiced_before >= options.voiced_frames:
            self.penalty = min(options.bound, self.penalty + options.growth)
