from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from sayso.ui.theme import DARK, LIGHT, Colours, Theme, choose, contrast, restyle, spacing

TEXT_ON_SURFACES = [
    (text, surface)
    for text in ("text", "muted", "accent", "good", "waiting", "bad")
    for surface in ("window", "surface")
] + [
    ("text", "raised"),
    ("muted", "raised"),
    ("on_accent", "accent"),
    ("on_accent", "accent_strong"),
    ("accent", "accent_tint"),
    ("waiting", "waiting_tint"),
    ("text", "waiting_tint"),
    ("bad", "bad_tint"),
    ("text", "bad_tint"),
]


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#777777") == pytest.approx(1)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("text", "surface"), TEXT_ON_SURFACES)
def test_every_text_can_be_read_on_its_surface(colours: Colours, text: str, surface: str) -> None:
    assert contrast(getattr(colours, text), getattr(colours, surface)) >= 4.5


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("surface", ["window", "surface"])
@pytest.mark.parametrize("edge", ["border", "accent"])
def test_the_edges_of_controls_and_the_focus_stand_out(colours: Colours, edge: str, surface: str) -> None:
    assert contrast(getattr(colours, edge), getattr(colours, surface)) >= 3


def test_the_palette_follows_the_system() -> None:
    assert choose(Qt.ColorScheme.Dark, more_contrast=False) is DARK
    assert choose(Qt.ColorScheme.Light, more_contrast=False) is LIGHT
    assert choose(Qt.ColorScheme.Unknown, more_contrast=False) is LIGHT


def test_more_contrast_leaves_no_muted_text() -> None:
    assert choose(Qt.ColorScheme.Dark, more_contrast=True).muted == DARK.text


def test_a_change_of_scheme_reaches_the_application(qtbot: QtBot, qapp: QApplication, theme: Theme) -> None:
    with qtbot.waitSignal(theme.changed):
        theme.use_scheme(Qt.ColorScheme.Dark)
    assert qapp.palette().color(QPalette.ColorRole.Window).name() == DARK.window
    assert DARK.surface in qapp.styleSheet()
    theme.use_scheme(Qt.ColorScheme.Light)
    assert qapp.palette().color(QPalette.ColorRole.Window).name() == LIGHT.window


def test_spacing_grows_with_the_text(qapp: QApplication) -> None:
    before, font = spacing(), qapp.font()
    try:
        larger = qapp.font()
        larger.setPointSizeF(font.pointSizeF() * 2)
        qapp.setFont(larger)
        assert spacing().m == pytest.approx(2 * before.m, abs=2)
    finally:
        qapp.setFont(font)


def test_the_style_sheet_names_no_font_size(theme: Theme, qapp: QApplication) -> None:
    assert "font-size" not in qapp.styleSheet()


def test_a_property_is_styled_again_only_when_it_changes(qtbot: QtBot, theme: Theme) -> None:
    widget = QWidget()
    qtbot.addWidget(widget)
    restyle(widget, "tone", "bad")
    assert widget.property("tone") == "bad"
