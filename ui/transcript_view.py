"""The live transcript: one paragraph an utterance, stable text plain, tentative text italic, muted and dotted.

The text lives in one read-only document, so it can be selected, copied and read by a screen reader. Only what differs
from the last snapshot is written: a growing utterance costs its tail, however many lines stand above. Qt thread.
"""

from __future__ import annotations

import time

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextOption,
)
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QSizePolicy, QStackedLayout, QTextEdit, QVBoxLayout, QWidget

from sayso.app.snapshot import Line, LineKind, Mode
from sayso.ui import icon
from sayso.ui.page_area import Page, PageArea
from sayso.ui.text import one_block
from sayso.ui.theme import Theme
from sayso.ui.transcript_changes import changes, common_prefix
from sayso.ui.wording import examples, outcome

TEXT_FACTOR = 1.2
SMALL_FACTOR = 0.9
_EMPTY, _TEXT = 0, 1
_PURGE_SHARE = 8
"""Lines that have left the snapshot are taken out when they are an eighth of what is shown."""


class TranscriptText(QTextEdit):
    """The document and how lines are written into it; block ``ahead + i`` is line ``i``."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._lines: tuple[Line, ...] = ()
        self._ahead = 0
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setTabChangesFocus(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setAccessibleName("Transcript")
        self.setAccessibleDescription("What you said. Text that may still change is italic with a dotted underline.")
        self.document().setDocumentMargin(theme.spacing.xs)
        self._make_formats()
        theme.changed.connect(self._restyle)

    def _make_formats(self) -> None:
        colours = self._theme.colours
        small_font = self.font()
        small_font.setPointSizeF(small_font.pointSizeF() * SMALL_FACTOR)
        text_font = self.font()
        text_font.setPointSizeF(text_font.pointSizeF() * TEXT_FACTOR)
        self._stable = QTextCharFormat()
        self._stable.setFont(text_font)
        self._stable.setForeground(QColor(colours.text))
        self._tentative = QTextCharFormat(self._stable)
        self._tentative.setFontItalic(True)
        self._tentative.setForeground(QColor(colours.muted))
        self._tentative.setUnderlineStyle(QTextCharFormat.UnderlineStyle.DotLine)
        self._tentative.setUnderlineColor(QColor(colours.muted))
        self._small = QTextCharFormat()
        self._small.setFont(small_font)
        self._small.setForeground(QColor(colours.muted))
        self._good = QTextCharFormat(self._small)
        self._good.setForeground(QColor(colours.accent))
        self._bad = QTextCharFormat(self._small)
        self._bad.setForeground(QColor(colours.bad))
        indent = QFontMetricsF(small_font).horizontalAdvance("00:00") + self._theme.spacing.m
        self._block = QTextBlockFormat()
        self._block.setLeftMargin(indent)
        self._block.setTextIndent(-indent)
        self._block.setTabPositions([QTextOption.Tab(indent, QTextOption.TabType.LeftTab)])
        self._block.setBottomMargin(self._theme.spacing.s)

    def _restyle(self) -> None:
        lines = self._lines
        self._make_formats()
        self.clear()
        self._lines, self._ahead = (), 0
        self.show_lines(lines)

    def show_lines(self, lines: tuple[Line, ...]) -> bool:
        """Writes what changed; says whether anything did."""
        if lines == self._lines:
            return False
        work = changes(self._lines, lines)
        before = self._lines[work.dropped :]
        self._ahead += work.dropped
        held = self._held_position() if self._purge_is_due(len(lines)) else None
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        if self._purge_is_due(len(lines)):
            self._purge(cursor)
        for index, line in work.changed:
            if index < len(before):
                self._rewrite(cursor, index, before[index], line)
            else:
                self._append(cursor, index, line)
        self._cut(cursor, len(before), work.length)
        cursor.endEditBlock()
        self._lines = lines
        if held is not None:
            self.verticalScrollBar().setValue(held)
        return True

    def _purge_is_due(self, length: int) -> bool:
        # Text taken from the front moves everything below it, so lines that have left go in lots.
        return self._ahead > (length // _PURGE_SHARE if length else 0)

    def _held_position(self) -> int | None:
        """Where to scroll so that what is being read stays where it is although lines above it go."""
        if self._ahead >= self.document().blockCount():
            return None
        first_kept = self.document().findBlockByNumber(self._ahead)
        top = self.document().documentLayout().blockBoundingRect(first_kept).top()
        return max(0, round(self.verticalScrollBar().value() - top))

    def _purge(self, cursor: QTextCursor) -> None:
        if self._ahead >= self.document().blockCount():
            cursor.select(QTextCursor.SelectionType.Document)
        else:
            cursor.setPosition(0)
            first_kept = self.document().findBlockByNumber(self._ahead)
            cursor.setPosition(first_kept.position(), QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        self._ahead = 0

    def _cut(self, cursor: QTextCursor, before: int, length: int) -> None:
        if length >= before:
            return
        if self._ahead + length == 0:
            cursor.select(QTextCursor.SelectionType.Document)
        else:
            last = self.document().findBlockByNumber(self._ahead + length - 1)
            cursor.setPosition(last.position() + last.length() - 1)
            cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()

    def _append(self, cursor: QTextCursor, index: int, line: Line) -> None:
        cursor.movePosition(QTextCursor.MoveOperation.End)
        if self._ahead + index == 0:
            cursor.setBlockFormat(self._block)
        else:
            cursor.insertBlock(self._block)
        cursor.insertText(_head(line), self._small)
        self._insert_tail(cursor, line, 0)

    def _rewrite(self, cursor: QTextCursor, index: int, was: Line, line: Line) -> None:
        block = self.document().findBlockByNumber(self._ahead + index)
        kept_head, kept = len(_head(was)), 0
        if _head(was) == _head(line):
            kept = common_prefix(_stable(was), _stable(line))
            cursor.setPosition(block.position() + kept_head + kept)
        else:
            cursor.setPosition(block.position())
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        if _head(was) != _head(line):
            cursor.insertText(_head(line), self._small)
        self._insert_tail(cursor, line, kept)

    def _insert_tail(self, cursor: QTextCursor, line: Line, kept: int) -> None:
        stable = _stable(line)
        if len(stable) > kept:
            cursor.insertText(stable[kept:], self._stable)
        tentative = one_block(line.tentative)
        if tentative:
            words = tentative.lstrip()
            if stable:
                cursor.insertText(tentative[: len(tentative) - len(words)], self._stable)
            cursor.insertText(words, self._tentative)
        elif line.kind is LineKind.OPEN and not stable:
            cursor.insertText("…", self._tentative)
        word = outcome(line)
        if word:
            lost = line.kind is LineKind.LOST or line.lost_ms
            # The no-break space keeps the word with its mark; the mark keeps it apart from what was said.
            nothing = line.kind in (LineKind.PLAIN, LineKind.ASLEEP)
            mark = "⚠" if lost else "·" if nothing else "→"
            gap = "   " if stable or tentative else ""
            style = self._bad if lost else self._small if nothing else self._good
            cursor.insertText(f"{gap}{mark}\u00a0{word}", style)


def _head(line: Line) -> str:
    return time.strftime("%H:%M\t", time.localtime(line.started_at))


def _stable(line: Line) -> str:
    return one_block(line.stable.lstrip())


class TranscriptView(QFrame):
    """The transcript as a card: heading, text that follows its end, and what to say when there is nothing yet."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._following = True
        self.setProperty("role", "card")
        heading = QLabel("Transcript")
        heading.setProperty("role", "heading")
        self.text = TranscriptText(theme)
        self.empty = EmptyTranscript(theme)
        self._pages = QStackedLayout()
        self._pages.addWidget(PageArea(self.empty))
        self._pages.addWidget(self.text)
        space = theme.spacing
        layout = QVBoxLayout(self)
        layout.setContentsMargins(space.m, space.m, space.xs, space.xs)
        layout.setSpacing(space.xs)
        layout.addWidget(heading)
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
        theme.changed.connect(self._paint)
        self._paint()

    def show_lines(self, lines: tuple[Line, ...], mode: Mode) -> None:
        self.empty.show_mode(mode)
        self._pages.setCurrentIndex(_TEXT if lines else _EMPTY)
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
