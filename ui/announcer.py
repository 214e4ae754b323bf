"""What a screen reader is told without being asked: a change of state, each finished utterance, each action's end.

``announcements`` decides from two snapshots; ``Announcer`` sends. Words that are still growing are not read out: they
would be spoken into the open microphone over and over. Qt thread.
"""

from __future__ import annotations

from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QWidget

from sayso.app.snapshot import FeedState, LineKind, MicrophoneState, Snapshot
from sayso.ui.wording import describe, feed_sentence, outcome

_ENDED = (FeedState.CONFIRM, FeedState.DONE, FeedState.FAILED, FeedState.REFUSED, FeedState.UNDONE)
_LOOKED_AT = 20
"""Lines and items at the end that may still change their state; older ones are settled."""


def announcements(old: Snapshot | None, new: Snapshot) -> tuple[str, ...]:
    """The sentences for the step from ``old`` to ``new``, the most urgent first; of a first snapshot only its state."""
    if old is None:
        return (describe(new).headline,)
    said = [notice.text for notice in new.notices if notice not in old.notices]
    before, now = describe(old).headline, describe(new).headline
    # "Hearing you" and "Ready" follow each other with every utterance; the person who speaks knows.
    pulse = {MicrophoneState.HEARING, MicrophoneState.READY}
    if before != now and not ({old.microphone.state, new.microphone.state} == pulse and old.state is new.state):
        said.append(now)
    return (*said, *_finished_lines(old, new), *_ended_actions(old, new))


def _finished_lines(old: Snapshot, new: Snapshot) -> list[str]:
    if old.lines is new.lines:
        return []
    open_before = {line.id: line for line in old.lines[-_LOOKED_AT:]}
    said = []
    for line in new.lines[-_LOOKED_AT:]:
        was = open_before.get(line.id)
        if line.kind is LineKind.OPEN or (was is not None and was.kind is not LineKind.OPEN):
            continue
        if was is None and old.lines and line.id < old.lines[-1].id:
            continue
        said.append(", ".join(part for part in (line.stable.strip(), outcome(line)) if part))
    return said


def _ended_actions(old: Snapshot, new: Snapshot) -> list[str]:
    before = {item.id: item.state for item in old.feed[-_LOOKED_AT:]}
    return [
        feed_sentence(item)
        for item in new.feed[-_LOOKED_AT:]
        if item.state in _ENDED and before.get(item.id) is not item.state
    ]


class Announcer:
    def __init__(self, speaker: QWidget) -> None:
        self._speaker = speaker
        self._last: Snapshot | None = None

    def show_snapshot(self, snapshot: Snapshot) -> None:
        last, self._last = self._last, snapshot
        if not QAccessible.isActive():
            return
        for text in announcements(last, snapshot):
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._speaker, text))
