"""The part of the page *Listening* about the ways to listen: the way, its key, and the wake phrase. Qt thread."""

from __future__ import annotations

from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QLabel,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from sayso.app.snapshot import Snapshot
from sayso.app.ways_view import Way, WaysView
from sayso.ui.controls import hint, keep_outlined
from sayso.ui.flow_row import FlowRow
from sayso.ui.intents import Intents
from sayso.ui.key_field import KeyField
from sayso.ui.theme import Theme, restyle

_WAYS = (
    (Way.HANDS_FREE, "&Hands-free", "Sayso hears whenever you speak."),
    (Way.TOGGLE, "Press to sta&rt, press to stop", "The microphone is open from one press of the key to the next."),
    (Way.HOLD, "Hold to &talk", "What you say while you hold the key is taken, whatever the noise around you."),
)
_KEY_LABELS = {
    Way.HANDS_FREE: "Ke&y that sends Sayso to sleep and wakes it",
    Way.TOGGLE: "Ke&y that starts and stops",
    Way.HOLD: "Ke&y to hold",
}


class WayControls(QWidget):
    def __init__(self, intents: Intents, theme: Theme) -> None:
        super().__init__()
        self._intents = intents
        self._showing = False
        self._theme = theme
        self.buttons = {way: QRadioButton(label) for way, label, _ in _WAYS}
        self._group = QButtonGroup(self)
        self.key_label = QLabel()
        self.key = KeyField()
        self.key_label.setBuddy(self.key)
        self.remove = QPushButton("Re&move")
        self.remove.setAccessibleName("Remove the key")
        self.key_detail = hint()
        self.asks_phrase = QCheckBox("Act &only after the wake phrase")
        self.phrase_label = QLabel("&Wake phrase")
        self.phrase = QLineEdit()
        self.phrase.setPlaceholderText("None")
        self.phrase.setMaxLength(40)
        self.phrase_label.setBuddy(self.phrase)
        self.phrase_detail = hint()
        self._lay_out()
        self._connect()
        keep_outlined(theme, *self.buttons.values(), self.asks_phrase)

    def _lay_out(self) -> None:
        space = self._theme.spacing
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(space.s)
        for way, _, about in _WAYS:
            button, words = self.buttons[way], hint(about)
            button.setAccessibleDescription(about)
            words.setContentsMargins(space.times(5), 0, 0, 0)
            words.setBuddy(button)
            self._group.addButton(button)
            column.addWidget(button)
            column.addWidget(words)
        self.key_label.setWordWrap(True)
        column.addWidget(self.key_label)
        column.addLayout(FlowRow(space.s, self.key, self.remove))
        for widget in (self.key_detail, self.asks_phrase, self.phrase_label, self.phrase, self.phrase_detail):
            column.addWidget(widget)
        self.key.setMinimumWidth(space.times(45))
        self.phrase.setMaximumWidth(space.times(80))

    def _connect(self) -> None:
        ways = self._intents.ways
        for way, button in self.buttons.items():
            # Not “clicked”: a screen reader toggles without a click.
            button.toggled.connect(lambda on, way=way: self._way_toggled(way, on))
        self.key.chosen.connect(ways.use_key)
        self.key.waiting.connect(ways.listen_for_key)
        self.remove.clicked.connect(lambda: ways.use_key(""))
        self.asks_phrase.toggled.connect(lambda on: None if self._showing else ways.ask_phrase(on))
        self.phrase.editingFinished.connect(self.finish)

    def _way_toggled(self, way: Way, on: bool) -> None:
        if on and not self._showing:
            self._intents.ways.use_way(way)

    def finish(self) -> None:
        """Take the wake phrase that was typed: its field was left, by a key or with its page."""
        if self.phrase.isModified():
            self.phrase.setModified(False)
            self._intents.ways.set_phrase(self.phrase.text())

    def show_snapshot(self, snapshot: Snapshot) -> None:
        ways = snapshot.ways
        self._showing = True
        self.buttons[ways.way].setChecked(True)
        self.asks_phrase.setChecked(ways.asks_phrase)
        self._showing = False
        self._show_key(ways)
        hands_free = ways.way is Way.HANDS_FREE
        self.asks_phrase.setVisible(hands_free)
        self.asks_phrase.setEnabled(bool(ways.phrase))
        if not self.phrase.isModified() and self.phrase.text() != ways.phrase:
            self.phrase.setText(ways.phrase)
        wakes = "wakes Sayso after “stop listening”, as “start listening” does"
        self.phrase_detail.setText(f"It {wakes}." if ways.phrase else f"A phrase of yours that {wakes}.")

    def _show_key(self, ways: WaysView) -> None:
        label = _KEY_LABELS[ways.way]
        self.key_label.setText(label)
        self.key.setAccessibleName(label.replace("&", ""))
        self.key.show_key(ways.key)
        self.remove.setEnabled(bool(ways.key))
        bad = bool(ways.key_detail) and not ways.key_works
        needed = not ways.key and ways.way is not Way.HANDS_FREE
        text = ways.key_detail or ("Choose a key: without one nothing starts but by “sayso toggle”." if needed else "")
        self.key_detail.setText(text)
        self.key_detail.setVisible(bool(text))
        restyle(self.key_detail, "tone", "bad" if bad else "muted")
