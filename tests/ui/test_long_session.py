"""Ten hours of speech through the window: what it holds does not grow with what was said."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import replace

import scenes
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication, QWidget

from sayso.app.feed import Feed
from sayso.app.realtime.events import TurnDone, TurnStable, TurnTentative
from sayso.app.snapshot import FeedState, LineKind
from sayso.app.transcript import KEPT_LINES, Transcript
from sayso.ui.main_window import MainWindow

WARM_TURNS, TURNS = 400, 1200
"""The window is full after the first ones; the others must change nothing about how much it holds."""


def test_what_the_window_holds_does_not_grow_with_what_was_said(window: MainWindow) -> None:
    snapshot = scenes.listening()
    held: list[tuple[int, int]] = []
    for turn, (transcript, feed) in enumerate(session(TURNS)):
        window.show_snapshot(replace(snapshot, lines=transcript.lines, feed=feed.items))
        # An event loop that runs does this by itself.
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        if turn in (WARM_TURNS, TURNS - 1):
            QApplication.processEvents()
            gc.collect()
            held.append((len(window.findChildren(QWidget)), window.transcript.text.document().characterCount()))
    (widgets, characters), (widgets_at_last, characters_at_last) = held
    assert widgets_at_last <= widgets
    # Lines that leave are taken out in lots, so that there may be a lot more or less.
    assert characters_at_last <= 1.5 * characters
    assert window.transcript.text.document().blockCount() <= 2 * KEPT_LINES


def session(turns: int) -> Iterator[tuple[Transcript, Feed]]:
    """What the window is shown: every utterance grows, ends, and is a command every third time."""
    transcript, feed = Transcript(), Feed()
    for turn in range(turns):
        transcript = transcript.begin(turn, 1_700_000_000.0 + 20 * turn)
        transcript = transcript.apply(TurnTentative(turn, "the old garden"))
        transcript = transcript.apply(TurnStable(turn, f"The old garden lies behind house {turn}."))
        transcript = transcript.apply(TurnDone(turn, f"The old garden lies behind house {turn}."))
        if turn % 3 == 0:
            item = feed.next_id
            feed = feed.heard("volume up", "Turn the volume up", FeedState.RUNNING).moved(item, FeedState.DONE, "45 %")
            transcript = transcript.mark(turn, LineKind.COMMAND)
        yield transcript, feed
