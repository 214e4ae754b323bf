from __future__ import annotations

import pytest
import scenes
from PySide6.QtGui import QColor
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


@pytest.mark.parametrize(
    ("state", "clipping", "words"),
    [
        (MicrophoneState.MISSING, False, "No microphone"),
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
