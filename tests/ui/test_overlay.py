"""The overlay's window: where it stands, that it takes no focus, and that it goes by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
import scenes
from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from sayso.app.snapshot import LineKind, OptionsView, Snapshot
from sayso.app.ways_view import OverlayPlace
from sayso.ui.overlay import Overlay, position
from sayso.ui.overlay_content import LINGER_S
from sayso.ui.theme import Theme

AREA = QRect(1000, 0, 800, 600)


class Stage:
    def __init__(self, theme: Theme) -> None:
        self.watched = False
        self.now_s = 0.0
        self.overlay = Overlay(theme, lambda: self.watched, lambda: self.now_s)
        self.overlay.show_snapshot(scenes.snapshot(lines=scenes.LINES))

    def show(self, snapshot: Snapshot) -> None:
        self.overlay.show_snapshot(snapshot)
        QApplication.processEvents()


@pytest.fixture
def stage(qtbot: QtBot, theme: Theme) -> Iterator[Stage]:
    made = Stage(theme)
    yield made
    made.overlay.hide()
    made.overlay.deleteLater()


@pytest.mark.parametrize(
    ("place", "left", "top"),
    [
        (OverlayPlace.BOTTOM, 1300, 490),
        (OverlayPlace.TOP, 1300, 10),
        (OverlayPlace.BOTTOM_LEFT, 1010, 490),
        (OverlayPlace.TOP_LEFT, 1010, 10),
        (OverlayPlace.BOTTOM_RIGHT, 1590, 490),
        (OverlayPlace.TOP_RIGHT, 1590, 10),
    ],
)
def test_it_stands_within_the_area_of_its_screen(place: OverlayPlace, left: int, top: int) -> None:
    at = position(place, AREA, QSize(200, 100), 10)
    assert (at.x(), at.y()) == (left, top)


def test_it_is_there_while_something_is_said_and_takes_neither_focus_nor_clicks(stage: Stage) -> None:
    assert not stage.overlay.isVisible()
    stage.show(scenes.listening())
    assert stage.overlay.isVisible()
    flags = stage.overlay.windowFlags()
    assert flags & Qt.WindowType.WindowDoesNotAcceptFocus
    assert flags & Qt.WindowType.WindowTransparentForInput
    assert flags & Qt.WindowType.WindowStaysOnTopHint
    assert stage.overlay.testAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
    assert stage.overlay.screen().availableGeometry().contains(stage.overlay.geometry())


def test_it_is_not_there_when_it_is_switched_off_or_our_own_window_is_in_front(stage: Stage) -> None:
    stage.show(replace(scenes.listening(), options=OptionsView(overlay=False)))
    assert not stage.overlay.isVisible()
    stage.show(scenes.listening())
    stage.watched = True
    stage.show(scenes.listening())
    assert not stage.overlay.isVisible()


def test_it_goes_as_soon_as_one_of_our_own_windows_comes_to_the_front(qtbot: QtBot, stage: Stage) -> None:
    stage.show(scenes.listening())
    assert stage.overlay.isVisible()
    window = QWidget()
    qtbot.addWidget(window)
    stage.watched = True
    window.show()
    window.activateWindow()
    qtbot.waitUntil(lambda: not stage.overlay.isVisible(), timeout=15_000)


def test_it_goes_by_itself_when_nothing_more_happens(qtbot: QtBot, stage: Stage) -> None:
    said = scenes.snapshot(lines=(*scenes.LINES, scenes.line(9, "I told her that")))
    stage.show(said)
    assert stage.overlay.isVisible()
    assert stage.overlay._timer.isActive()
    stage.now_s = LINGER_S
    stage.overlay._timer.start(0)
    qtbot.waitUntil(lambda: not stage.overlay.isVisible(), timeout=15_000)


def test_another_place_is_taken_at_once(stage: Stage) -> None:
    stage.show(scenes.listening())
    below = stage.overlay.geometry()
    stage.show(replace(scenes.listening(), options=OptionsView(overlay_place=OverlayPlace.TOP)))
    assert stage.overlay.geometry().bottom() < below.top()


def test_of_a_long_text_the_newest_words_are_seen(stage: Stage) -> None:
    """The end of what is painted depends on the last words and not on the first."""

    def picture(text: str) -> QImage:
        line = scenes.line(9, text, "", LineKind.OPEN)
        stage.show(scenes.snapshot(microphone=scenes.HEARING, lines=(*scenes.LINES, line)))
        return stage.overlay.grab().toImage()

    assert picture(scenes.LONG + " at the end") != picture(scenes.LONG + " in the rear")
    assert picture("It was " + scenes.LONG) == picture("There is " + scenes.LONG)


def test_what_is_painted_follows_the_theme(stage: Stage, theme: Theme) -> None:
    stage.show(scenes.listening())
    light = stage.overlay.grab().toImage()
    theme.use_scheme(Qt.ColorScheme.Dark)
    assert stage.overlay.grab().toImage() != light


def test_a_screen_reader_finds_what_it_says(stage: Stage) -> None:
    stage.show(scenes.listening())
    assert stage.overlay.accessibleName() == "What is heard"
    assert stage.overlay.accessibleDescription() == "Hearing you. type hello everyone the meeting"
