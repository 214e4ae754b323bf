"""What has happened to sessions so far, counted for whoever watches the server. Pure."""

from __future__ import annotations

from collections import Counter

from sayso.engine import messages


class Tally:
    """Counts since the server started; times in seconds, summed."""

    def __init__(self) -> None:
        self.parks: Counter[str] = Counter()
        """By the tier into which a session went."""
        self.park_s: dict[str, float] = {}
        self.restores = 0
        self.restore_s = 0.0
        self.refusals: Counter[str] = Counter()
        """By code: parks and restores that did not come about."""
        self.replays = 0
        """Turns whose audio was given to an engine again."""
        self.resumes = 0
        """Sessions that a new connection took over from a lost one."""
        self.steps = 0
        self.step_s = 0.0
        """Of all engines."""
        self._told_steps, self._told_s = 0, 0.0
        """What the engine of now has told of itself."""

    def engine_started(self) -> None:
        """Another engine process counts from nothing."""
        self._told_steps, self._told_s = 0, 0.0

    def worked(self, message: messages.Metrics) -> None:
        """What an engine has done since it started."""
        seconds = message.steps * message.step_ms / 1000
        self.steps += message.steps - self._told_steps
        self.step_s += max(0.0, seconds - self._told_s)
        self._told_steps, self._told_s = message.steps, seconds

    def heard(self, message: messages.Parked) -> None:
        """A session was moved; an answer that nothing needed to be done took no time and does not count."""
        if message.code:
            self.refusals[message.code] += 1
        if not message.took_ms:
            return
        seconds = message.took_ms / 1000
        if message.tier == "device":
            self.restores += 1
            self.restore_s += seconds
        else:
            self.parks[message.tier] += 1
            self.park_s[message.tier] = self.park_s.get(message.tier, 0.0) + seconds
