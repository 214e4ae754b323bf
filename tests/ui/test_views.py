"""The window, the tray icon and the overlay are built together, show the same, and go together."""

from __future__ import annotations

import pytest
import scenes
from conftest import RecordedIntents
from PySide6.QtGui import QWindow
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from sayso.ui.views import Views


def test_all_show_the_same_snapshots_and_go_together(
    qtbot: QtBot, qapp: QApplication, intents: RecordedIntents
) -> None:
    views = Views(intents, qapp)
    try:
        # A window of ours in front already shows all this; the overlay is for the others.
        views._overlay._is_watched = lambda: False
        for snapshot in (scenes.idle(), scenes.listening()):
            views.show_snapshot(snapshot)
        assert views.window.state_bar.headline.text() == "Hearing you"
        assert views._tray.icon.toolTip() == "Sayso: Hearing you"
        assert views._overlay.isVisible()
    finally:
        views.close()
        qapp.setStyleSheet("")
    assert not views._overlay.isVisible()
    assert not any(name == "tell" for name, *_ in intents.calls)
    assert not views._tray.icon.isVisible()
    assert not views.window.isVisible()


def test_where_no_overlay_can_be_placed_messages_tell_what_is_done_elsewhere(
    qtbot: QtBot, qapp: QApplication, intents: RecordedIntents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.ui.views.can_show", lambda: False)
    views = Views(intents, qapp)
    try:
        views._focus_changed(QWindow())
        assert views.has_keyboard
        for snapshot in (scenes.listening(), scenes.idle()):
            views.show_snapshot(snapshot)
        assert not any(name == "tell" for name, *_ in intents.calls)
        views._focus_changed(None)
        for snapshot in (scenes.listening(), scenes.idle()):
            views.show_snapshot(snapshot)
        assert [call for call in intents.calls if call[0] == "tell"][-1] == ("tell", "Not listening")
    finally:
        views.close()
        qapp.setStyleSheet("")
