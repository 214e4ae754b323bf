"""Colours and spacing of the window: a light and a dark palette that follow the system, with one accent.

All text colours reach a contrast of 4.5:1 on the surfaces they are used on, borders of controls 3:1 (the tests
count them). Lengths come from the height of the application's font, so everything grows with text size and screen
scale.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QWidget

from sayso.ui.stylesheet import stylesheet


@dataclass(frozen=True, slots=True)
class Colours:
    """Colours as ``#rrggbb``. ``*_tint`` are quiet backgrounds that carry text of the plain colour or ``text``."""

    window: str
    surface: str
    raised: str
    line: str
    border: str
    text: str
    muted: str
    accent: str
    on_accent: str
    accent_strong: str
    accent_tint: str
    good: str
    waiting: str
    waiting_tint: str
    bad: str
    bad_tint: str
    track: str


LIGHT = Colours(
    window="#f3f5f6",
    surface="#ffffff",
    raised="#e9edef",
    line="#dde2e5",
    border="#7d8993",
    text="#182026",
    muted="#55616b",
    accent="#0b6b6a",
    on_accent="#ffffff",
    accent_strong="#085352",
    accent_tint="#dff1ef",
    good="#17693b",
    waiting="#7d4e00",
    waiting_tint="#fdf1d9",
    bad="#b3261e",
    bad_tint="#fcebe9",
    track="#e3e8ea",
)

DARK = Colours(
    window="#14181b",
    surface="#1c2125",
    raised="#283036",
    line="#2f373d",
    border="#73808a",
    text="#e7ebee",
    muted="#a6b1ba",
    accent="#5ccfc4",
    on_accent="#04302d",
    accent_strong="#86e0d7",
    accent_tint="#17373a",
    good="#7fd7a2",
    waiting="#f1bd62",
    waiting_tint="#39301b",
    bad="#ff9d92",
    bad_tint="#402423",
    track="#2b3338",
)


def contrast(first: str, second: str) -> float:
    """Contrast ratio of two colours as WCAG 2 defines it, 1 to 21."""
    high, low = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    def linear(channel: int) -> float:
        value = channel / 255
        return float(value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4)

    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)


def high_contrast(colours: Colours) -> Colours:
    """The same palette for people who ask their system for more contrast: no muted text, full lines."""
    return replace(colours, muted=colours.text, line=colours.text, border=colours.text)


def choose(scheme: Qt.ColorScheme, *, more_contrast: bool) -> Colours:
    colours = DARK if scheme is Qt.ColorScheme.Dark else LIGHT
    return high_contrast(colours) if more_contrast else colours


@dataclass(frozen=True, slots=True)
class Spacing:
    """Lengths in device-independent pixels, all multiples of a quarter of the text height."""

    unit: float

    @property
    def xs(self) -> int:
        return round(self.unit)

    @property
    def s(self) -> int:
        return round(2 * self.unit)

    @property
    def m(self) -> int:
        return round(3 * self.unit)

    @property
    def l(self) -> int:  # noqa: E743
        return round(4 * self.unit)

    @property
    def xl(self) -> int:
        return round(6 * self.unit)

    def times(self, factor: float) -> int:
        return round(factor * self.unit)


def spacing() -> Spacing:
    """The scale for the application's font; a common 13-pixel font gives steps of about four pixels."""
    return Spacing(max(3.0, QFontMetricsF(QApplication.font()).height() / 4))


class Theme(QObject):
    """Keeps the application in the system's colours and tells the widgets that paint by themselves."""

    changed = Signal()

    def __init__(self, application: QApplication, scheme: Qt.ColorScheme = Qt.ColorScheme.Unknown) -> None:
        """``scheme`` overrules the system's; unknown means to follow it."""
        super().__init__()
        self._application = application
        self._scheme = scheme
        self.colours = LIGHT
        self.spacing = spacing()
        application.setStyle("Fusion")
        hints = QGuiApplication.styleHints()
        hints.colorSchemeChanged.connect(self.apply)
        hints.accessibility().contrastPreferenceChanged.connect(self.apply)
        self.apply()

    def use_scheme(self, scheme: Qt.ColorScheme) -> None:
        self._scheme = scheme
        self.apply()

    def apply(self) -> None:
        hints = QGuiApplication.styleHints()
        more = hints.accessibility().contrastPreference() is Qt.ContrastPreference.HighContrast
        wanted = hints.colorScheme() if self._scheme is Qt.ColorScheme.Unknown else self._scheme
        self.colours = choose(wanted, more_contrast=more)
        self._application.setPalette(palette(self.colours))
        self._application.setStyleSheet(stylesheet(self.colours, self.spacing))
        self.changed.emit()


def palette(colours: Colours) -> QPalette:
    """The colours as Qt's own roles, for everything that no style sheet rule names."""
    roles = {
        QPalette.ColorRole.Window: colours.window,
        QPalette.ColorRole.WindowText: colours.text,
        QPalette.ColorRole.Base: colours.surface,
        QPalette.ColorRole.AlternateBase: colours.raised,
        QPalette.ColorRole.Text: colours.text,
        QPalette.ColorRole.PlaceholderText: colours.muted,
        QPalette.ColorRole.Button: colours.raised,
        QPalette.ColorRole.ButtonText: colours.text,
        QPalette.ColorRole.BrightText: colours.on_accent,
        QPalette.ColorRole.Highlight: colours.accent,
        QPalette.ColorRole.HighlightedText: colours.on_accent,
        QPalette.ColorRole.Link: colours.accent,
        QPalette.ColorRole.ToolTipBase: colours.surface,
        QPalette.ColorRole.ToolTipText: colours.text,
        QPalette.ColorRole.Light: colours.line,
        QPalette.ColorRole.Midlight: colours.line,
        QPalette.ColorRole.Mid: colours.border,
        QPalette.ColorRole.Dark: colours.border,
        QPalette.ColorRole.Accent: colours.accent,
    }
    result = QPalette()
    for role, colour in roles.items():
        result.setColor(role, QColor(colour))
    for role in (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text, QPalette.ColorRole.ButtonText):
        result.setColor(QPalette.ColorGroup.Disabled, role, QColor(colours.muted))
    return result


def restyle(widget: QWidget, name: str, value: object) -> None:
    """Sets a property that the style sheet looks at and applies the rules again if it changed."""
    if widget.property(name) == value:
        return
    widget.setProperty(name, value)
    widget.style().unpolish(widget)
    widget.style().polish(widget)
