"""One action of the feed: what it does, how it went, its question, why it was done, and its way back. Qt thread."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from sayso.app.snapshot import FeedItem, FeedState
from sayso.ui import icon
from sayso.ui.controls import plain_tip
from sayso.ui.glyph import Glyph
from sayso.ui.text import breakable
from sayso.ui.theme import Theme, restyle
from sayso.ui.wording import answer_hint, explanation, feed_sentence, feed_words

_TONES = {
    FeedState.HEARD: "muted",
    FeedState.CONFIRM: "waiting",
    FeedState.RUNNING: "accent",
    FeedState.DONE: "good",
    FeedState.FAILED: "bad",
    FeedState.REFUSED: "waiting",
    FeedState.UNDONE: "muted",
}
"""The colour of each state, by its name in the theme; the drawing of a state carries the state's own name."""


class FeedRow(QFrame):
    undo_pressed = Signal()
    confirm_pressed = Signal()
    refuse_pressed = Signal()

    def __init__(self, theme: Theme, item: FeedItem) -> None:
        super().__init__()
        self.item = item
        self._theme = theme
        self.setProperty("role", "feed-row")
        self._glyph = Glyph(theme, item.state.value, _TONES[item.state])
        self.title = self._label("feed-title")
        self.state = self._label("")
        self.heard = self._label("muted")
        self.details = self._label("muted")
        self.details.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.details.hide()
        self._answers = QWidget()
        self.confirm = QPushButton("Do it")
        self.refuse = QPushButton("Don't")
        self.undo = QPushButton("Undo")
        self.why = QPushButton()
        self.why.setProperty("role", "quiet-icon")
        self.why.setCheckable(True)
        self.confirm.clicked.connect(self.confirm_pressed)
        self.refuse.clicked.connect(self.refuse_pressed)
        self.undo.clicked.connect(self.undo_pressed)
        self.why.toggled.connect(self._explain)
        self._lay_out()
        theme.changed.connect(self._paint)
        self._paint()
        self.show_item(item)

    def _lay_out(self) -> None:
        space = self._theme.spacing
        answers = QHBoxLayout(self._answers)
        answers.setContentsMargins(0, space.xs, 0, space.xs)
        answers.setSpacing(space.s)
        answers.addWidget(self.confirm)
        answers.addWidget(self.refuse)
        answers.addStretch(1)
        words = QVBoxLayout()
        words.setSpacing(max(1, space.xs // 2))
        for label in (self.title, self.state, self.heard):
            words.addWidget(label)
        words.addWidget(self._answers)
        words.addWidget(self.details)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(space.xs, space.s, space.s, space.s)
        layout.setSpacing(space.s)
        layout.addWidget(self._glyph, 0, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(words, 1)
        layout.addWidget(self.undo, 0, Qt.AlignmentFlag.AlignTop)
        layout.addWidget(self.why, 0, Qt.AlignmentFlag.AlignTop)

    def _label(self, role: str) -> QLabel:
        label = QLabel()
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        if role:
            label.setProperty("role", role)
        return label

    def show_item(self, item: FeedItem) -> None:
        self.item = item
        self.title.setText(breakable(item.title))
        word = feed_words(item)
        self.state.setText(breakable(f"{word}: {item.detail}" if item.detail else word))
        self.heard.setText(breakable(f"heard “{item.heard}”"))
        self.heard.setVisible(bool(item.heard))
        self._offer(item)
        self.setAccessibleName(feed_sentence(item))
        self._glyph.show_drawing(item.state.value, _TONES[item.state])
        self._glyph.setAccessibleName(word)
        restyle(self.state, "tone", _TONES[item.state])

    def _offer(self, item: FeedItem) -> None:
        """The buttons that can be used now, each named with what it is about."""
        asks = item.state is FeedState.CONFIRM
        self._answers.setVisible(asks)
        self.confirm.setAccessibleName(f"Do it: {item.title}")
        self.refuse.setAccessibleName(f"Don't: {item.title}")
        for button in (self.confirm, self.refuse):
            button.setToolTip(answer_hint(item))
        self.undo.setVisible(item.can_undo)
        self.undo.setAccessibleName(f"Undo: {item.title}")
        self.undo.setToolTip(plain_tip(f"Take back: {item.title}"))
        self.why.setVisible(item.why is not None)
        self.why.setAccessibleName(f"Why: {item.title}")
        self.why.setToolTip("Why this was done, and how long it took")
        self.details.setText(breakable(explanation(item)))

    def _explain(self, on: bool) -> None:
        self.details.setVisible(on)
        self._paint()

    def _paint(self) -> None:
        size = self._theme.spacing.times(4)
        drawing = "less" if self.why.isChecked() else "choose"
        self.why.setIcon(icon.icon(drawing, self._theme.colours.muted, size))
        self.why.setIconSize(QSize(size, size))
