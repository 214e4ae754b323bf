from __future__ import annotations

from dataclasses import replace

import pytest
import scenes
from PySide6.QtGui import QColor, QPaintEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from sayso.app.snapshot import MicrophoneState, MicrophoneView
from sayso.ui.level_meter import FLOOR_DB, LevelMeter, Peak, fraction, verdict
from sayso.ui.theme import Theme


def meter(qtbot: QtBot, theme: Theme) -> LevelMeter:
    result = LevelMeter(theme, clock=lambda: 0.0)
    qtbot.addWidget(result)
    result.resize(600, result.sizeHint().height())
    return result


def filled(widget: LevelMeter, colour: str) -> int:
    """How many pixels of the bar's middle row have this colour."""
    picture = widget.grab().toImage()
    row = widget._theme.spacing.s // 2
    return sum(picture.pixelColor(x, row) == QColor(colour) for x in range(picture.width()))


def test_the_scale_runs_from_minus_sixty_to_full() -> None:
    assert fraction(0) == 1
    assert fraction(-30) == pytest.approx(0.5)
    assert fraction(-96) == 0
    assert fraction(6) == 1


def test_the_peak_holds_and_then_falls() -> None:
    peak = Peak(hold_s=1.0, fall_db_s=20.0)
    assert peak.update(-10, now_s=0.0) == -10
    assert peak.update(-50, now_s=0.9) == -10
    assert peak.update(-50, now_s=1.5) == pytest.approx(-20)
    assert peak.update(-5, now_s=1.6) == -5
    assert peak.update(-96, now_s=60.0) == FLOOR_DB


def test_the_peak_says_when_it_moves_by_itself() -> None:
    peak = Peak(hold_s=1.0, fall_db_s=20.0)
    assert peak.falls_in_s(-10, now_s=0.0) is None
    assert peak.falls_in_s(-50, now_s=0.25) == pytest.approx(0.75)
    assert peak.falls_in_s(-50, now_s=1.5) == 0
    assert peak.falls_in_s(-50, now_s=9.0) is None
    assert peak.falls_in_s(-96, now_s=60.0) is None


@pytest.mark.parametrize(
    ("state", "clipping", "words"),
    [
        (MicrophoneState.MISSING, False, "No microphone"),
        (MicrophoneState.UNUSABLE, False, "Blocked"),
        (MicrophoneState.NO_SIGNAL, False, "No signal"),
        (MicrophoneState.CLOSED, False, "Microphone off"),
        (MicrophoneState.OPENING, False, "Opening"),
        (MicrophoneState.READY, False, ""),
        (MicrophoneState.HEARING, True, "Too loud"),
    ],
)
def test_trouble_is_said_in_words(state: MicrophoneState, clipping: bool, words: str) -> None:
    assert verdict(MicrophoneView(state, clipping=clipping)) == words


def test_the_bar_is_as_long_as_the_level(qtbot: QtBot, theme: Theme) -> None:
    widget = meter(qtbot, theme)
    widget.show_microphone(MicrophoneView(MicrophoneState.HEARING, level_db=-30.0))
    assert filled(widget, theme.colours.accent) == pytest.approx(300, abs=6)
    widget.show_microphone(MicrophoneView(MicrophoneState.HEARING, level_db=-45.0))
    assert filled(widget, theme.colours.accent) == pytest.approx(150, abs=6)


def test_a_loud_level_changes_colour_and_clipping_is_named(qtbot: QtBot, theme: Theme) -> None:
    widget = meter(qtbot, theme)
    widget.show_microphone(scenes.hot().microphone)
    assert filled(widget, theme.colours.bad) > 500
    assert widget.accessibleDescription() == "Too loud"


def test_without_a_signal_nothing_looks_like_a_level(qtbot: QtBot, theme: Theme) -> None:
    widget = meter(qtbot, theme)
    widget.show_microphone(MicrophoneView(MicrophoneState.NO_SIGNAL, level_db=-10.0))
    assert filled(widget, theme.colours.accent) == 0
    assert filled(widget, theme.colours.waiting) == 0
    assert widget.accessibleDescription() == "No signal"


class Counted(LevelMeter):
    """Counts how often it is painted."""

    paints = 0

    def paintEvent(self, event: QPaintEvent) -> None:
        self.paints += 1
        super().paintEvent(event)


def shown_meter(qtbot: QtBot, theme: Theme) -> Counted:
    widget = Counted(theme, peak=Peak(hold_s=0.05))
    qtbot.addWidget(widget)
    with qtbot.waitExposed(widget):
        widget.show()
    return widget


def test_the_peak_falls_though_nothing_more_is_told_and_then_nothing_is_painted(qtbot: QtBot, theme: Theme) -> None:
    widget = shown_meter(qtbot, theme)
    widget.show_microphone(MicrophoneView(MicrophoneState.READY, level_db=-10.0))
    quiet = MicrophoneView(MicrophoneState.READY, level_db=-12.0)
    widget.show_microphone(quiet)
    qtbot.waitUntil(lambda: not widget.is_falling, timeout=15_000)
    QApplication.processEvents()
    painted = widget.paints
    assert painted > 1
    widget.show_microphone(replace(quiet, detail="muted in the system"))
    widget.show_microphone(quiet)
    widget.show_microphone(replace(quiet))
    QApplication.processEvents()
    assert widget.paints == painted


def test_nothing_falls_while_nobody_can_see_it(qtbot: QtBot, theme: Theme) -> None:
    widget = shown_meter(qtbot, theme)
    widget.hide()
    widget.show_microphone(MicrophoneView(MicrophoneState.READY, level_db=-10.0))
    widget.show_microphone(MicrophoneView(MicrophoneState.READY, level_db=-50.0))
    assert not widget.is_falling
    widget.show()
    assert widget.is_falling
