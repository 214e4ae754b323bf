"""What a key that is held to talk does: a pure policy over its events and the time.

It begins and ends what is taken, opens a closed microphone for as long as that lasts, and does not trust the key: one
that seems stuck, went up unseen or slept with the computer ends the taking, and begins nothing before it went up.
"""

from __future__ import annotations

from enum import Enum, StrEnum

from sayso.app.clocks import Moment

LONGEST_S = 120.0
"""Nobody holds a key for so long on purpose; what was said until then counts."""
CLOSING_S = 2.0
"""How long a microphone that was opened for the key waits for the end of the utterance."""
_SLEPT_S = 1.0
"""More than two clocks of the same computer drift apart while it is awake."""


class Step(StrEnum):
    OPEN = "open"
    """Open the microphone."""
    BEGIN = "begin"
    """Take everything from now on."""
    END = "end"
    """Take no more, after the tail."""
    DROP = "drop"
    """Forget what was taken."""
    CLOSE = "close"
    """Close the microphone again."""


class _Key(Enum):
    UP = 0
    HELD = 1
    SPENT = 2
    """Still down, but it no longer counts."""


class HoldToTalk:
    """Gives the steps to take, in order. ``warning`` is what the user is to be told about the last of them."""

    def __init__(self) -> None:
        self.warning = ""
        self._key = _Key.UP
        self._since = Moment(0.0, 0.0)
        self._closes = False
        self._ended_s: float | None = None

    @property
    def held(self) -> bool:
        """Whether what is said is taken."""
        return self._key is _Key.HELD

    @property
    def idle(self) -> bool:
        """Whether nothing is to be watched."""
        return self._key is not _Key.HELD and self._ended_s is None

    def press(self, now: Moment, *, listening: bool) -> list[Step]:
        """The key went down; ``listening`` is whether the microphone is open already."""
        if self._key is not _Key.UP:
            return []
        self._key, self._since, self.warning = _Key.HELD, now, ""
        self._closes = (self._closes and self._ended_s is not None) or not listening
        self._ended_s = None
        return [Step.BEGIN] if listening else [Step.OPEN, Step.BEGIN]

    def release(self, now: Moment, *, seen: bool = True) -> list[Step]:
        """The key went up; ``seen`` is False where that was only found out."""
        was, self._key = self._key, _Key.UP
        if was is not _Key.HELD:
            return []
        if self._slept(now):
            self.warning = _SLEPT
        elif not seen:
            self.warning = _UNSEEN
        return self._end(now)

    def escape(self, now: Moment) -> list[Step]:
        """What is being said is not wanted."""
        if self._key is not _Key.HELD:
            return []
        self._key = _Key.SPENT
        return [Step.DROP, *self._end(now)]

    def tick(self, now: Moment) -> list[Step]:
        """Time passes; called some times a second unless ``idle``."""
        if self._key is _Key.HELD:
            if self._slept(now):
                self.warning = _SLEPT
            elif now.awake_s - self._since.awake_s >= LONGEST_S:
                self.warning = _STUCK
            else:
                return []
            self._key = _Key.SPENT
            return self._end(now)
        if self._ended_s is not None and now.awake_s - self._ended_s >= CLOSING_S:
            return self.utterance_ended()
        return []

    def utterance_ended(self) -> list[Step]:
        """What was taken is whole, tail and all."""
        if self._key is _Key.HELD or self._ended_s is None:
            return []
        self._ended_s = None
        closes, self._closes = self._closes, False
        return [Step.CLOSE] if closes else []

    def _end(self, now: Moment) -> list[Step]:
        self._ended_s = now.awake_s
        return [Step.END]

    def _slept(self, now: Moment) -> bool:
        return now.slept_s - self._since.slept_s > _SLEPT_S


_STUCK = (
    "The key to talk seemed stuck: what you said in two minutes was taken. Let go of it, and hold it again to go on."
)
_UNSEEN = "The key to talk went up unseen, perhaps because the screen was locked: what you said until then was taken."
_SLEPT = "The computer slept while the key to talk was held: what you said before was taken."
