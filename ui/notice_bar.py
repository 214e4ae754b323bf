"""Notices that stay until they are dismissed or their cause is gone. Qt thread."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from sayso.app.snapshot import Notice
from sayso.ui.glyph import Glyph
from sayso.ui.text import breakable
from sayso.ui.theme import Theme

SHOWN = 3
"""Notices at a time."""


class NoticeRow(QFrame):
    dismissed = Signal()

    def __init__(self, theme: Theme, notice: Notice) -> None:
        super().__init__()
        self.setProperty("role", "notice")
        self.setProperty("severe", notice.severe)
        drawing, colour = ("failed", "bad") if notice.severe else ("notice", "waiting")
        glyph = Glyph(theme, drawing, colour)
        glyph.setAccessibleName("Problem" if notice.severe else "Note")
        text = QLabel(breakable(notice.text))
        text.setTextFormat(Qt.TextFormat.PlainText)
        text.setWordWrap(True)
        # Errors must be copyable: people search for them and send them on.
        text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.button = QPushButton("Dismiss")
        self.button.setAccessibleName(f"Dismiss: {notice.text}")
        self.button.setToolTip("Dismiss (Esc)")
        self.button.clicked.connect(self.dismissed)
        space = theme.spacing
        layout = QHBoxLayout(self)
        layout.setContentsMargins(space.m, space.xs, space.xs, space.xs)
        layout.setSpacing(space.s)
        layout.addWidget(glyph)
        layout.addWidget(text, 1)
        layout.addWidget(self.button, 0, Qt.AlignmentFlag.AlignVCenter)


class NoticeBar(QWidget):
    """Emits ``dismissed`` with the code of a notice."""

    dismissed = Signal(str)

    def __init__(self, theme: Theme, after: QWidget) -> None:
        """``after`` is the control from which Tab comes to the first notice."""
        super().__init__()
        self._theme = theme
        self._after = after
        self._notices: tuple[Notice, ...] = ()
        self._rows: dict[Notice, NoticeRow] = {}
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(theme.spacing.xs)
        self.setAccessibleName("Notices")
        self.hide()

    def show_notices(self, notices: tuple[Notice, ...]) -> None:
        """Shows the severe ones first, and few at a time: the next one comes when one goes."""
        if notices == self._notices:
            return
        self._notices = notices
        notices = tuple(sorted(notices, key=lambda notice: not notice.severe)[:SHOWN])
        for notice in [notice for notice in self._rows if notice not in notices]:
            row = self._rows.pop(notice)
            self._layout.removeWidget(row)
            row.hide()
            row.deleteLater()
        before = self._after
        for index, notice in enumerate(notices):
            row = self._rows.get(notice) or self._new_row(notice)
            self._layout.insertWidget(index, row)
            self.setTabOrder(before, row.button)
            before = row.button
        self.setVisible(bool(self._rows))

    def _new_row(self, notice: Notice) -> NoticeRow:
        row = NoticeRow(self._theme, notice)
        row.dismissed.connect(lambda: self.dismissed.emit(notice.code))
        self._rows[notice] = row
        return row

    def rows(self) -> tuple[NoticeRow, ...]:
        return tuple(self._rows.values())

    def dismiss_newest(self) -> bool:
        """Dismisses the notice that came last; says whether there was one."""
        if not self._notices:
            return False
        self.dismissed.emit(self._notices[-1].code)
        return True
