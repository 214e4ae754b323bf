"""What is told in messages of the desktop where nothing can be shown over other windows: a pure decision. No Qt here.

What is over, what is asked, and that listening began or ended; never the words as they are heard, and nothing that the
eyes see anyway, such as text that was typed.
"""

from __future__ import annotations

from sayso.app.snapshot import DICTATION, DesktopState, FeedItem, FeedState, Snapshot
from sayso.ui.overlay_content import is_alarm, state_key, title_of

_TOLD = (FeedState.CONFIRM, FeedState.FAILED, FeedState.REFUSED, FeedState.DONE)


class MessagePolicy:
    """``update`` gives for each snapshot what is to be told, or nothing."""

    def __init__(self) -> None:
        self._last: Snapshot | None = None

    def update(self, snapshot: Snapshot) -> str:
        last, self._last = self._last, snapshot
        if last is None:
            return ""
        # Most snapshots bring only another level; then the feed is the same object.
        if snapshot.feed is not last.feed:
            before = {item.id: item.state for item in last.feed}
            changed = (item for item in reversed(snapshot.feed) if before.get(item.id) is not item.state)
            if told := next(filter(_is_told, changed), None):
                return title_of(told)
        begun = last.state is not DesktopState.STARTING and snapshot.state is not DesktopState.QUITTING
        if not begun or state_key(snapshot) == state_key(last):
            return ""
        is_open, asleep = state_key(snapshot)
        return "Not listening" if not is_open else "Asleep" if asleep else "Listening"


def _is_told(item: FeedItem) -> bool:
    if item.state not in _TOLD:
        return False
    # Timers that are over have a message of their own, which stays.
    typed = item.why is not None and (item.why.intent == DICTATION or item.why.intent.startswith("typing."))
    return item.state is not FeedState.DONE or not (typed or is_alarm(item))
