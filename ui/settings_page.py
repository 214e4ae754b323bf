"""What every page of the settings is: a column of controls that shows its share of a snapshot. Qt thread.

What a person does is told apart from what a snapshot shows: showing never asks for anything.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from sayso.app.snapshot import Snapshot
from sayso.ui.page_area import Page
from sayso.ui.theme import Theme


class SettingsPage(Page):
    """Subclasses add to ``column`` and show snapshots; the window scrolls them, names them and finds their words."""

    keywords: tuple[str, ...] = ()
    """What people may search for and no control of the page says."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, theme.spacing.s, 0)
        self.column.setSpacing(theme.spacing.s)

    def show_snapshot(self, snapshot: Snapshot) -> None:
        """Show the page's share of it."""
        raise NotImplementedError

    def first_control(self) -> QWidget | None:
        """The first control that Tab reaches on this page."""
        widget = self.nextInFocusChain()
        while widget is not self and widget is not None:
            reached = widget.focusPolicy() & Qt.FocusPolicy.TabFocus
            if reached and self.isAncestorOf(widget) and widget.isEnabled() and widget.isVisibleTo(self):
                return widget
            widget = widget.nextInFocusChain()
        return None
