"""The words of the transcript in one read-only document: written where they changed, chosen line by line. Qt thread.

Stable text is plain, tentative text italic, muted and dotted. Only what differs from the last snapshot is written: a
growing utterance costs its tail, however many lines stand above.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import (
    QAction,
    QColor,
    QContextMenuEvent,
    QFontMetricsF,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextFormat,
    QTextOption,
)
from PySide6.QtWidgets import QFrame, QMenu, QTextEdit

from sayso.app.snapshot import Line, LineKind
from sayso.ui.text import one_block
from sayso.ui.theme import Theme
from sayso.ui.transcript_changes import changes, common_prefix
from sayso.ui.wording import outcome

TEXT_FACTOR = 1.2
SMALL_FACTOR = 0.9
_MOVES = frozenset(
    {
        Qt.Key.Key_Up,
        Qt.Key.Key_Down,
        Qt.Key.Key_PageUp,
        Qt.Key.Key_PageDown,
        Qt.Key.Key_Home,
        Qt.Key.Key_End,
        Qt.Key.Key_Left,
        Qt.Key.Key_Right,
    }
)
_PURGE_SHARE = 8
"""Lines that have left the snapshot are taken out when they are an eighth of what is shown."""


class TranscriptText(QTextEdit):
    """The document and how lines are written into it; block ``ahead + i`` is line ``i``.

    One line is chosen by clicking on it or by the arrow keys; before that it is the newest one with words.
    """

    insert_wanted = Signal(str)
    """These words are to be typed into the window that was used before."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._lines: tuple[Line, ...] = ()
        self._ahead = 0
        self._chosen: int | None = None
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
        self._mark_chosen()
        if held is not None:
            self.verticalScrollBar().setValue(held)
        return True

    def chosen_words(self) -> str:
        """The selected words, without times and outcomes where they reach over lines; else those of the chosen line.

        Without any choice those of the newest line that has words; empty where there is none.
        """
        cursor = self.textCursor()
        if not cursor.hasSelection():
            return self._chosen_line_words()
        document = self.document()
        first = document.findBlock(cursor.selectionStart()).blockNumber()
        last = document.findBlock(cursor.selectionEnd()).blockNumber()
        if first == last:
            return cursor.selectedText().partition("\t")[2] or cursor.selectedText()
        return "\n".join(words(self._lines[max(0, first - self._ahead) : last - self._ahead + 1]))

    def _chosen_line_words(self) -> str:
        chosen = [line for line in self._lines if line.id == self._chosen]
        return next(reversed(words(chosen or self._lines)), "")

    def copy_chosen(self) -> None:
        """The chosen words to the clipboard."""
        if text := self.chosen_words():
            QGuiApplication.clipboard().setText(text)

    def copy_all(self) -> None:
        """All words to the clipboard, a line for each utterance."""
        if found := words(self._lines):
            QGuiApplication.clipboard().setText("\n".join(found))

    def insert_chosen(self) -> None:
        """Ask for the chosen words to be typed, on one line."""
        if text := " ".join(self.chosen_words().split()):
            self.insert_wanted.emit(text)

    def _choose(self) -> None:
        """The line of the cursor is the chosen one."""
        index = self.textCursor().blockNumber() - self._ahead
        self._chosen = self._lines[index].id if 0 <= index < len(self._lines) else None
        self._mark_chosen()

    def _mark_chosen(self) -> None:
        index = next((at for at, line in enumerate(self._lines) if line.id == self._chosen), None)
        if index is None:
            self.setExtraSelections([])
            return
        mark = QTextEdit.ExtraSelection()
        mark.cursor = QTextCursor(self.document().findBlockByNumber(self._ahead + index))
        mark.format.setBackground(QColor(self._theme.colours.accent_tint))
        mark.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
        # Without this only the first row of a long line would be marked.
        mark.cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
        self.setExtraSelections([mark])

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        self._choose()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_chosen()
            return
        super().keyPressEvent(event)
        if event.key() in _MOVES:
            self._choose()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        # A key opens it at the cursor, a click where the pointer is.
        if event.reason() is QContextMenuEvent.Reason.Mouse and not self.textCursor().hasSelection():
            self.setTextCursor(self.cursorForPosition(event.pos()))
            self._choose()
        self.menu().popup(event.globalPos())

    def menu(self) -> QMenu:
        """What can be done with the words, for the chosen line."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for text, run in {
            "&Copy these words": self.copy_chosen,
            "Copy the whole &transcript": self.copy_all,
            "Type these words &again": self.insert_chosen,
        }.items():
            action = QAction(text, menu)
            action.triggered.connect(run)
            action.setEnabled(bool(self.chosen_words()))
            menu.addAction(action)
        return menu

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
            nothing = line.kind in (LineKind.PLAIN, LineKind.ASLEEP, LineKind.ASIDE)
            mark = "⚠" if lost else "·" if nothing else "→"
            gap = "   " if stable or tentative else ""
            style = self._bad if lost else self._small if nothing else self._good
            cursor.insertText(f"{gap}{mark}\u00a0{word}", style)


def words(lines: Sequence[Line]) -> list[str]:
    """The stable words of the lines that have any."""
    return [text for line in lines if (text := line.stable.strip())]


def _head(line: Line) -> str:
    return time.strftime("%H:%M\t", time.localtime(line.started_at))


def _stable(line: Line) -> str:
    return one_block(line.stable.lstrip())
