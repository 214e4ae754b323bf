"""What the overlay shows and for how long: a pure decision over snapshots and the time. No Qt here.

It is there while something is said to Sayso or done by it, and goes shortly afterwards. What nobody said to Sayso (it
is asleep, or the wake phrase is missing) never brings it up.
"""

from __future__ import annotations

from dataclasses import dataclass

from sayso.app.commands.phrase import after_phrase
from sayso.app.snapshot import DesktopState, FeedItem, FeedState, Line, LineKind, MicrophoneState, Snapshot
from sayso.app.ways_view import Way
from sayso.ui.wording import FEED_WORDS, Tone, describe, outcome

LINGER_S = 2.5
"""How long what is over can still be read."""
READ_S = 0.08
"""How long each character of what is told takes to read; an answer or a reason is longer than “done”."""
LONGEST_S = 12.0
QUESTION_S = 30.0
"""How long a question stays in view, and a timer that is over."""
_GLYPH_TONES = {
    FeedState.HEARD: Tone.ACTIVE,
    FeedState.CONFIRM: Tone.WAITING,
    FeedState.RUNNING: Tone.ACTIVE,
    FeedState.DONE: Tone.GOOD,
    FeedState.FAILED: Tone.BAD,
    FeedState.REFUSED: Tone.WAITING,
    FeedState.UNDONE: Tone.CALM,
}
_GOING_ON = (FeedState.HEARD, FeedState.RUNNING)


@dataclass(frozen=True, slots=True)
class OverlayContent:
    """``drawing`` is an icon's name; of the words heard, ``stable`` stay and ``tentative`` may change."""

    title: str
    drawing: str
    tone: Tone
    stable: str = ""
    tentative: str = ""
    level_db: float | None = None
    """The level while something is said, else None."""


class OverlayPolicy:
    """``update`` gives what to show for each snapshot; ``until_s`` is when to ask again though none comes."""

    def __init__(self) -> None:
        self.until_s: float | None = None
        self._last: Snapshot | None = None
        self._changed_s: dict[str, float] = {}

    def update(self, snapshot: Snapshot, now_s: float) -> OverlayContent | None:
        """What to show now; times are seconds of any clock."""
        if self._last is not None:
            for name, look in (("line", _line_key), ("item", _item_key), ("state", state_key)):
                if look(snapshot) != look(self._last):
                    self._changed_s[name] = now_s
        self._last = snapshot
        self.until_s = None
        return self._hearing(snapshot) or self._acting(snapshot, now_s) or self._over(snapshot, now_s)

    def _hearing(self, snapshot: Snapshot) -> OverlayContent | None:
        line = _open_line(snapshot)
        words = line is not None and bool(line.stable.strip() or line.tentative.strip())
        if not snapshot.ways.held and not (words and line is not None and _is_meant(snapshot, line)):
            return None
        title, drawing, tone = _stage(snapshot)
        return OverlayContent(
            title,
            drawing,
            tone,
            line.stable.strip() if line is not None else "",
            line.tentative if line is not None else "",
            snapshot.microphone.level_db if _hears(snapshot) else None,
        )

    def _acting(self, snapshot: Snapshot, now_s: float) -> OverlayContent | None:
        item = snapshot.feed[-1] if snapshot.feed else None
        if item is None or "item" not in self._changed_s:
            return None
        if item.state not in _GOING_ON and not self._lasts("item", _view_s(item), now_s):
            return None
        return OverlayContent(title_of(item), item.state.value, _GLYPH_TONES[item.state], item.heard)

    def _over(self, snapshot: Snapshot, now_s: float) -> OverlayContent | None:
        """What was said and did nothing, or that listening began or ended."""
        line = snapshot.lines[-1] if snapshot.lines else None
        shown = line is not None and line.kind in (LineKind.PLAIN, LineKind.DICTATED, LineKind.LOST)
        if shown and line is not None and self._lasts("line", LINGER_S, now_s):
            drawing = "done" if line.kind is LineKind.DICTATED else "calm"
            return OverlayContent(outcome(line).capitalize(), drawing, Tone.CALM, line.stable.strip())
        if self._lasts("state", LINGER_S, now_s) and snapshot.state is not DesktopState.QUITTING:
            state = describe(snapshot)
            drawing = "microphone" if _is_open(snapshot) and not snapshot.asleep else "microphone-off"
            return OverlayContent(state.headline, drawing, state.tone)
        return None

    def _lasts(self, name: str, seconds: float, now_s: float) -> bool:
        """Whether this changed less than so long ago; then its end is a moment to ask again."""
        until_s = self._changed_s.get(name, now_s - seconds) + seconds
        if now_s >= until_s:
            return False
        self.until_s = until_s if self.until_s is None else min(until_s, self.until_s)
        return True


def _stage(snapshot: Snapshot) -> tuple[str, str, Tone]:
    """Headline, drawing and tone for what is being said: it is heard, waited for, or worked on."""
    state = describe(snapshot)
    if _hears(snapshot):
        return state.headline, "heard", state.tone
    if not snapshot.ways.held:
        return "Understanding", "waiting", Tone.WAITING
    if state.tone is Tone.GOOD:
        # The key is down and the first sound is on its way.
        return "Listening", "microphone", Tone.ACTIVE
    return state.headline, "waiting", state.tone


def _open_line(snapshot: Snapshot) -> Line | None:
    line = snapshot.lines[-1] if snapshot.lines else None
    return line if line is not None and line.kind is LineKind.OPEN else None


def _is_meant(snapshot: Snapshot, line: Line) -> bool:
    """Whether what is being said is said to Sayso, as far as is known yet."""
    ways = snapshot.ways
    needs_phrase = snapshot.asleep or (
        ways.way is Way.HANDS_FREE and ways.asks_phrase and bool(ways.phrase) and not ways.attentive
    )
    return not needs_phrase or after_phrase(line.stable + line.tentative, ways.phrase) is not None


def _hears(snapshot: Snapshot) -> bool:
    """Whether something is being said, and not only its end taken from a microphone that closes."""
    return snapshot.microphone.state is MicrophoneState.HEARING and _is_open(snapshot)


def _is_open(snapshot: Snapshot) -> bool:
    return snapshot.state in (DesktopState.LISTENING, DesktopState.RECONNECTING)


def _view_s(item: FeedItem) -> float:
    """How long an item that is over, or waits for an answer, can be read."""
    if item.state is FeedState.CONFIRM or is_alarm(item):
        return QUESTION_S
    return min(max(LINGER_S, READ_S * len(title_of(item))), LONGEST_S)


def is_alarm(item: FeedItem) -> bool:
    """Whether it came by itself: nobody looks at the screen for it, and its title says it all."""
    return item.state is FeedState.DONE and not item.heard


def title_of(item: FeedItem) -> str:
    """What is told about an item in one line."""
    if item.state in (FeedState.RUNNING, FeedState.HEARD):
        return f"{item.title} …"
    if item.state is FeedState.CONFIRM:
        return f"{item.detail} Say “{item.yes}” or “no”."
    if is_alarm(item):
        return item.title
    # The answer to a question is told here too: the window with the feed may be closed.
    return f"{item.title}: {item.detail or FEED_WORDS[item.state].lower()}"


def _line_key(snapshot: Snapshot) -> tuple[int, LineKind] | None:
    return (snapshot.lines[-1].id, snapshot.lines[-1].kind) if snapshot.lines else None


def _item_key(snapshot: Snapshot) -> tuple[int, FeedState] | None:
    return (snapshot.feed[-1].id, snapshot.feed[-1].state) if snapshot.feed else None


def state_key(snapshot: Snapshot) -> tuple[bool, bool]:
    """Whether it listens, and whether it is asleep."""
    return _is_open(snapshot), snapshot.asleep
