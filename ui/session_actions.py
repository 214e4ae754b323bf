"""What can be done with the session that is chosen in the table: put away, or closed. Qt thread.

The same actions are behind the buttons below the table and in the table's own menu.
"""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QWidget

from sayso.app.memory_view import MemoryView, Place
from sayso.ui import memory_wording as wording
from sayso.ui.controls import hint
from sayso.ui.intents import MemoryIntents
from sayso.ui.session_table import SessionTable
from sayso.ui.text import breakable
from sayso.ui.theme import Theme, restyle


class SessionActions(QWidget):
    """Buttons and words below the table."""

    def __init__(self, table: SessionTable, intents: MemoryIntents, theme: Theme) -> None:
        super().__init__()
        self._table = table
        self._intents = intents
        self._engine = ""
        self.put_away = QPushButton("Put &away")
        self.put_away.setAccessibleName("Put the session away")
        self.close_session = QPushButton("Cl&ose session")
        self.words = hint()
        ways = QMenu(self)
        self.places = {place: ways.addAction(label) for place, label in wording.PLACE_LABELS.items()}
        self.put_away.setMenu(ways)
        self.close_action = QAction("Close session", self)
        self.close_action.setShortcut(QKeySequence(Qt.Key.Key_Delete))
        self.close_action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        table.addAction(self.close_action)
        table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.menu = QMenu(table)
        self.menu.addActions([*self.places.values()])
        self.menu.addSeparator()
        self.menu.addAction(self.close_action)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.spacing.s)
        for button in (self.put_away, self.close_session):
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        row.addWidget(self.words, 1)
        row.addStretch()
        self._connect()

    def _connect(self) -> None:
        for place, action in self.places.items():
            action.triggered.connect(lambda _=False, place=place: self._put_away(place))
        self.close_session.clicked.connect(self._close)
        self.close_action.triggered.connect(self._close)
        self._table.selectionModel().currentChanged.connect(lambda *_: self._offer())
        self._table.customContextMenuRequested.connect(self._open_menu)

    def show_view(self, view: MemoryView) -> None:
        """Call it after the table has the view's rows."""
        self._engine = view.engine
        for button in (self.put_away, self.close_session):
            button.setVisible(bool(view.sessions))
        words = view.session_fault or wording.sessions_words(view)
        self.words.setText(breakable(words))
        self.words.setVisible(bool(words))
        restyle(self.words, "tone", "bad" if view.session_fault else "muted")
        self._offer()

    def _offer(self) -> None:
        """Only what the server can do with the chosen session."""
        row = self._table.chosen()
        places = row.deeper if row is not None and self._engine == "ready" else ()
        for place, action in self.places.items():
            action.setEnabled(place in places)
        self.put_away.setEnabled(bool(places))
        why = "" if places or row is None else wording.nothing_to_put_away(self._engine)
        self.put_away.setToolTip(why)
        self.put_away.setAccessibleDescription(why)
        self.close_session.setEnabled(row is not None)
        self.close_action.setEnabled(row is not None)

    def _open_menu(self, at: QPoint) -> None:
        if self._table.chosen() is not None:
            self.menu.popup(self._table.viewport().mapToGlobal(at))

    def _put_away(self, place: Place) -> None:
        row = self._table.chosen()
        if row is not None:
            self._intents.put_away(row.id, place)

    def _close(self) -> None:
        row = self._table.chosen()
        if row is not None:
            self._intents.close_session(row.id)
