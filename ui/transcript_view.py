"""The live transcript: one paragraph an utterance, stable text plain, tentative text italic, muted and dotted.

The text lives in one read-only document, so it can be selected, copied and read by a screen reader. Qt thread.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from sayso.app.snapshot import Line, Mode
from sayso.ui import icon
from sayso.ui.page_area import Page, PageArea
from sayso.ui.theme import Theme
from sayso.ui.transcript_text import TEXT_FACTOR, TranscriptText
from sayso.ui.wording import examples

_EMPTY, _TEXT = 0, 1


class TranscriptView(QFrame):
    """The transcript as a card: heading, text that follows its end, and what to say when there is nothing yet."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._following = True
        self.setProperty("role", "card")
        heading = QLabel("Transcript")
        heading.setProperty("role", "heading")
        self.copy = self._button("Copy", "Copy the chosen words", "Copy the chosen line or selection (Ctrl+K)")
        hint = "Type the chosen line or selection into the window that was used before (Ctrl+I)"
        self.insert = self._button("Type again", "Type the chosen words again", hint)
        self.text = TranscriptText(theme)
        self.empty = EmptyTranscript(theme)
        self._pages = QStackedLayout()
        self._pages.addWidget(PageArea(self.empty))
        self._pages.addWidget(self.text)
        space = theme.spacing
        layout = QVBoxLayout(self)
        layout.setContentsMargins(space.m, space.m, space.xs, space.xs)
        layout.setSpacing(space.xs)
        top = QHBoxLayout()
        top.setSpacing(0)
        top.addWidget(heading, 1)
        top.addWidget(self.copy)
        top.addWidget(self.insert)
        layout.addLayout(top)
        layout.addLayout(self._pages, 1)
        self.jump = QPushButton("&Latest", self)
        self.jump.setProperty("role", "jump")
        self.jump.setAccessibleName("Jump to the latest words")
        self.jump.clicked.connect(self.follow)
        self.jump.hide()
        bar = self.text.verticalScrollBar()
        bar.rangeChanged.connect(lambda: self._keep_following())
        bar.valueChanged.connect(self._scrolled)
        self.text.viewport().installEventFilter(self)
        self.copy.clicked.connect(self.text.copy_chosen)
        self.insert.clicked.connect(self.text.insert_chosen)
        theme.changed.connect(self._paint)
        self._paint()

    def _button(self, text: str, name: str, hint: str) -> QPushButton:
        button = QPushButton(text)
        button.setProperty("role", "quiet-small")
        button.setAccessibleName(name)
        button.setToolTip(hint)
        button.hide()
        return button

    def show_lines(self, lines: tuple[Line, ...], mode: Mode) -> None:
        self.empty.show_mode(mode)
        self._pages.setCurrentIndex(_TEXT if lines else _EMPTY)
        for button in (self.copy, self.insert):
            button.setVisible(bool(lines))
        following = self._following
        if self.text.show_lines(lines) and following:
            self.follow()

    def follow(self) -> None:
        """Shows the end of the text and stays there."""
        self._following = True
        bar = self.text.verticalScrollBar()
        bar.setValue(bar.maximum())
        self.jump.hide()

    def focus_target(self) -> QWidget:
        """What takes the keyboard here, the text once there is any."""
        return self.text if self._pages.currentIndex() == _TEXT else self.empty

    @property
    def following(self) -> bool:
        return self._following

    def _keep_following(self) -> None:
        if self._following:
            self.follow()
        else:
            self._scrolled(self.text.verticalScrollBar().value())

    def _scrolled(self, value: int) -> None:
        self._following = value >= self.text.verticalScrollBar().maximum() - self._theme.spacing.s
        self.jump.setVisible(not self._following)
        self._place_jump()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Resize:
            self._place_jump()
        return super().eventFilter(watched, event)

    def _place_jump(self) -> None:
        area = self.text.geometry()
        self.jump.adjustSize()
        space = self._theme.spacing
        left = area.right() - self.jump.width() - space.xl
        self.jump.move(left, area.bottom() - self.jump.height() - space.s)
        self.jump.raise_()

    def _paint(self) -> None:
        size = self._theme.spacing.times(4)
        self.jump.setIcon(icon.icon("down", self._theme.colours.on_accent, size))
        self.jump.setIconSize(QSize(size, size))


class EmptyTranscript(Page):
    """Three examples of what to say, while nothing has been said."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._mode: Mode | None = None
        title = QLabel("Nothing said yet")
        font = title.font()
        font.setPointSizeF(font.pointSizeF() * 1.25)
        font.setBold(True)
        title.setFont(font)
        self._lead = QLabel("Try one of these:")
        self._lead.setProperty("role", "muted")
        self._examples = tuple(QLabel() for _ in examples(Mode.COMMANDS))
        layout = QVBoxLayout(self)
        layout.setSpacing(theme.spacing.s)
        layout.addStretch(2)
        for label in (title, self._lead, *self._examples):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            label.setWordWrap(True)
            label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
            layout.addWidget(label)
        for label in self._examples:
            larger = label.font()
            larger.setPointSizeF(larger.pointSizeF() * TEXT_FACTOR)
            label.setFont(larger)
        layout.addStretch(3)

    def show_mode(self, mode: Mode) -> None:
        if mode is self._mode:
            return
        self._mode = mode
        for label, example in zip(self._examples, examples(mode), strict=True):
            label.setText(f"“{example}”")
