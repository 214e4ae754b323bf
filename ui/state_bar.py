"""The head of the window: what is going on in words, the level meter, the button that starts and stops. Qt thread."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from sayso.app.snapshot import DesktopState, Snapshot
from sayso.ui import icon
from sayso.ui.level_meter import LevelMeter
from sayso.ui.theme import Theme, restyle
from sayso.ui.wording import LISTEN_SHORTCUT, State, Tone, describe

_GLYPHS = {
    Tone.CALM: "calm",
    Tone.ACTIVE: "heard",
    Tone.GOOD: "microphone",
    Tone.WAITING: "waiting",
    Tone.BAD: "microphone-off",
}


class StateGlyph(QWidget):
    """The state as a drawing in a disc; decoration only, the words beside it say the same."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._tone = Tone.WAITING
        self._drawing = _GLYPHS[Tone.WAITING]
        side = theme.spacing.times(11)
        self.setFixedSize(QSize(side, side))
        theme.changed.connect(self.update)

    def show_state(self, state: State) -> None:
        self._tone = state.tone
        self._drawing = "failed" if state.about_server and state.tone is Tone.BAD else _GLYPHS[state.tone]
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = self._theme.colours
        disc, drawing = {
            Tone.CALM: (colours.raised, colours.muted),
            Tone.ACTIVE: (colours.accent, colours.on_accent),
            Tone.GOOD: (colours.accent_tint, colours.accent),
            Tone.WAITING: (colours.waiting_tint, colours.waiting),
            Tone.BAD: (colours.bad_tint, colours.bad),
        }[self._tone]
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(disc))
        painter.drawEllipse(QRectF(self.rect()))
        size = round(self.width() * 0.55)
        at = (self.width() - size) // 2
        painter.drawPixmap(at, at, icon.pixmap(self._drawing, drawing, size, self.devicePixelRatioF()))
        painter.end()


class StateBar(QFrame):
    """Emits ``start_pressed`` or ``stop_pressed`` according to what the button says."""

    start_pressed = Signal()
    stop_pressed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._state: State | None = None
        self._listening = False
        self.setProperty("role", "card")
        self._glyph = StateGlyph(theme)
        self.headline = self._label(1.5, bold=True)
        self.detail = self._label(1.0, bold=False)
        self.detail.setProperty("role", "muted")
        self.meter = LevelMeter(theme)
        self.button = QPushButton()
        self.button.setProperty("role", "primary")
        self.button.clicked.connect(self._pressed)
        theme.changed.connect(self._paint_button)
        self._lay_out()
        self._show_listening(False)

    def _label(self, factor: float, *, bold: bool) -> QLabel:
        label = QLabel()
        font = label.font()
        font.setPointSizeF(font.pointSizeF() * factor)
        font.setBold(bold)
        label.setFont(font)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        return label

    def _lay_out(self) -> None:
        space = self._theme.spacing
        words = QVBoxLayout()
        words.setSpacing(max(1, space.xs // 2))
        words.addWidget(self.headline)
        words.addWidget(self.detail)
        upper = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        upper.setSpacing(space.m)
        upper.addWidget(self._glyph, 0, Qt.AlignmentFlag.AlignTop)
        upper.addLayout(words, 1)
        upper.addWidget(self.button, 0, Qt.AlignmentFlag.AlignVCenter)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(space.l, space.m, space.l, space.m)
        whole.setSpacing(space.s)
        whole.addLayout(upper)
        whole.addWidget(self.meter)

    def show_snapshot(self, snapshot: Snapshot) -> None:
        state = describe(snapshot)
        if state != self._state:
            self._state = state
            self.headline.setText(state.headline)
            self.detail.setText(state.detail)
            self._glyph.show_state(state)
        self.meter.show_microphone(snapshot.microphone)
        self._show_listening(snapshot.state in (DesktopState.LISTENING, DesktopState.RECONNECTING))
        if self.button.isEnabled() is (snapshot.state is DesktopState.QUITTING):
            self.button.setEnabled(snapshot.state is not DesktopState.QUITTING)
            self._paint_button()

    def _show_listening(self, listening: bool) -> None:
        if listening == self._listening and self.button.text():
            return
        self._listening = listening
        self.button.setText("&Stop" if listening else "&Start")
        self.button.setAccessibleName("Stop listening" if listening else "Start listening")
        self.button.setAccessibleDescription(f"Shortcut {LISTEN_SHORTCUT}")
        self.button.setToolTip(f"{self.button.accessibleName()} ({LISTEN_SHORTCUT})")
        restyle(self.button, "listening", listening)
        self._paint_button()

    def _paint_button(self) -> None:
        size = self._theme.spacing.times(5)
        colours = self._theme.colours
        name = "stop" if self._listening else "microphone"
        colour = colours.accent if self._listening else colours.on_accent
        if not self.button.isEnabled():
            colour = colours.muted
        self.button.setIcon(icon.icon(name, colour, size))
        self.button.setIconSize(QSize(size, size))
        self.button.setMinimumWidth(self._theme.spacing.times(28))

    def _pressed(self) -> None:
        (self.stop_pressed if self._listening else self.start_pressed).emit()
